# SPDX-License-Identifier: Apache-2.0
"""The console script, with a `java` that only notes how it was called."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from manifest_committer import _spark_home, cli


@pytest.fixture
def java(tmp_path, monkeypatch):
    """A `java` on PATH; returns the function that runs it and gives its arguments."""
    directory = tmp_path / "bin"
    directory.mkdir()
    write_java(directory / "java", tmp_path / "calls")
    monkeypatch.setenv("PATH", str(directory))
    return tmp_path / "calls"


def write_java(file, calls, body="sys.exit(int(os.environ.get('EXIT_CODE', '0')))"):
    file.write_text(
        f"#!{sys.executable}\n"
        "import json, os, signal, sys\n"
        f"open({str(calls)!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        f"{body}\n"
    )
    file.chmod(0o755)


@pytest.fixture
def spark_home(tmp_path, monkeypatch):
    """A Spark distribution."""
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    (home / "jars" / "hadoop-client-api-3.3.4.jar").touch()
    monkeypatch.setenv("SPARK_HOME", str(home))
    return home


def calls_of(java):
    return [json.loads(line) for line in java.read_text().splitlines()]


def test_print_starts_the_printer(java, jar, spark_home):
    assert cli.main(["print", "/t", "abfs://c@a/t", "--json"]) == 0
    (arguments,) = calls_of(java)
    assert arguments == [
        "-cp",
        os.pathsep.join([jar, str(spark_home / "jars" / "*")]),
        "io.manifestcommitter.cli.ManifestPrinter",
        "--json",
        "/t",
        "abfs://c@a/t",
    ]


def test_print_reads_with_the_settings_of_a_job(java, jar, spark_home):
    (spark_home / "conf").mkdir()
    defaults = spark_home / "conf" / "spark-defaults.conf"
    defaults.touch()
    assert cli.main(["print", "abfs://c@a/t", "--conf", "fs.azure.account.key=k"]) == 0
    assert calls_of(java)[0][2:] == [
        "io.manifestcommitter.cli.ManifestPrinter",
        *("--properties-file", str(defaults)),
        *("-D", "fs.azure.account.key=k"),
        "abfs://c@a/t",
    ]


def test_print_without_json(java, jar, spark_home):
    assert cli.main(["print", "a b", "--", "-x"]) == 0
    assert calls_of(java)[0][2:] == ["io.manifestcommitter.cli.ManifestPrinter", "a b", "./-x"]


def test_info_starts_the_probe_with_the_settings_of_a_job(java, jar, spark_home):
    assert cli.main(["info", "gs://b/t", "--conf", "a=1", "--conf", "b=2", "--json"]) == 0
    assert calls_of(java)[0][2:] == [
        "io.manifestcommitter.info.CommitterInfo",
        "--json",
        *("-D", "a=1"),
        *("-D", "b=2"),
        "gs://b/t",
    ]


def test_recover_starts_the_recovery_with_the_settings_of_a_job(java, jar, spark_home):
    assert cli.main(["recover", "gs://b/t", "/u", "--force", "--conf", "a=1"]) == 0
    assert cli.main(["recover", "/t"]) == 0
    assert cli.main(["recover", "--rollback", "/t"]) == 0
    assert cli.main(["recover", "--complete", "/t"]) == 0
    main = "io.manifestcommitter.cli.Recover"
    first, second, third, fourth = calls_of(java)
    assert first[2:] == [main, "--force", "-D", "a=1", "gs://b/t", "/u"]
    assert second[2:] == [main, "/t"]
    assert third[2:] == [main, "--rollback", "/t"]
    assert fourth[2:] == [main, "--complete", "/t"]


def test_clean_starts_the_cleaning_with_the_settings_of_a_job(java, jar, spark_home):
    assert cli.main(["clean", "/t", "--dry-run", "--older-than", "1h", "--conf", "a=1"]) == 0
    assert cli.main(["clean", "--discard-unfinished", "--force", "/t", "/u"]) == 0
    main = "io.manifestcommitter.cli.Clean"
    first, second = calls_of(java)
    assert first[2:] == [main, "--older-than", "1h", "--dry-run", "-D", "a=1", "/t"]
    options = ["--older-than", "24h", "--discard-unfinished", "--force"]
    assert second[2:] == [main, *options, "/t", "/u"]


def test_verify_store_starts_its_main_with_the_settings_of_a_job(java, jar, spark_home):
    assert cli.main(["verify-store", "gs://b/scratch", "--json", "--conf", "a=1"]) == 0
    (arguments,) = calls_of(java)
    assert arguments[2:] == [
        "io.manifestcommitter.cli.VerifyStore",
        "--json",
        "-D",
        "a=1",
        "gs://b/scratch",
    ]


def test_info_takes_the_file_that_spark_would_read(java, jar, spark_home, tmp_path):
    defaults = spark_home / "conf" / "spark-defaults.conf"
    defaults.parent.mkdir()
    defaults.write_text("spark.jars /x.jar\n")
    other = str(tmp_path / "other.conf")
    assert cli.main(["info", "/t"]) == 0
    assert cli.main(["info", "--properties-file", other, "--class-path", "/gcs.jar", "/t"]) == 0
    main = "io.manifestcommitter.info.CommitterInfo"
    first, second = calls_of(java)
    assert first[2:] == [main, "--json", "--properties-file", str(defaults), "/t"]
    assert second[2:] == [main, "--json", "--properties-file", other, "/t"]
    assert "/gcs.jar" in second[1].split(os.pathsep)


def test_the_class_path_holds_what_the_user_adds(java, jar, spark_home, monkeypatch):
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    cli.main(["print", "--class-path", "/gcs.jar", "/t"])
    entries = calls_of(java)[0][1].split(os.pathsep)
    jars = str(spark_home / "jars" / "*")
    assert entries == [jar, "/gcs.jar", "/etc/hadoop", "/etc/spark", jars]


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_exit_code_is_passed_on(java, jar, spark_home, monkeypatch, code):
    monkeypatch.setenv("EXIT_CODE", str(code))
    assert cli.main(["print", "/t"]) == code


def test_a_java_that_was_killed(java, jar, spark_home, tmp_path):
    write_java(tmp_path / "bin" / "java", java, "os.kill(os.getpid(), signal.SIGTERM)")
    assert cli.main(["print", "/t"]) == 128 + signal.SIGTERM


def test_java_home_comes_first(java, jar, spark_home, tmp_path, monkeypatch):
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    write_java(home / "bin" / "java", tmp_path / "home-calls")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert cli.main(["print", "/t"]) == 0
    assert (tmp_path / "home-calls").exists()
    assert not java.exists()


def test_java_home_without_java(java, jar, spark_home, monkeypatch, capsys):
    monkeypatch.setenv("JAVA_HOME", "/no/jdk")
    assert cli.main(["print", "/t"]) == 1
    assert "JAVA_HOME is /no/jdk" in capsys.readouterr().err
    assert not java.exists()


def test_no_java(jar, spark_home, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert cli.main(["print", "/t"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("manifest-committer: ")
    assert "JAVA_HOME" in error


def test_the_jars_of_the_installed_pyspark(java, jar, tmp_path, monkeypatch):
    package = tmp_path / "site" / "pyspark"
    (package / "jars").mkdir(parents=True)
    (package / "jars" / "spark-core.jar").touch()
    (package / "__init__.py").write_text("raise AssertionError('must not be imported')")
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.syspath_prepend(package.parent)
    assert cli.main(["print", "/t"]) == 0
    assert calls_of(java)[0][1].endswith(str(package / "jars" / "*"))


def test_no_spark(java, jar, monkeypatch, capsys):
    monkeypatch.setattr(_spark_home.importlib.util, "find_spec", lambda _: None)
    assert cli.main(["print", "/t"]) == 1
    assert "manifest-committer[spark]" in capsys.readouterr().err


def test_a_pyspark_without_jars(java, jar, tmp_path, monkeypatch, capsys):
    (tmp_path / "site" / "pyspark").mkdir(parents=True)
    (tmp_path / "site" / "pyspark" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert cli.main(["print", "/t"]) == 1
    assert "Spark Connect only" in capsys.readouterr().err


def test_a_spark_home_without_jars(java, jar, monkeypatch, capsys):
    monkeypatch.setenv("SPARK_HOME", "/no/spark")
    assert cli.main(["print", "/t"]) == 1
    assert "SPARK_HOME is /no/spark" in capsys.readouterr().err


def test_no_jar_in_the_package(java, spark_home, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("manifest_committer.session._package_directory", lambda: tmp_path / "x")
    assert cli.main(["print", "/t"]) == 1
    assert "make build" in capsys.readouterr().err


def test_jar(jar, capsys):
    assert cli.main(["jar"]) == 0
    assert capsys.readouterr().out == f"{jar}\n"


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == "manifest-committer 0.1.0\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["print"],
        ["print", "--no-such", "/t"],
        ["info"],
        ["recover"],
        ["recover", "--rollback", "--complete", "/t"],
        ["destroy"],
        ["jar", "more"],
    ],
)
def test_wrong_usage(arguments, java, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage: manifest-committer" in capsys.readouterr().err
    assert not java.exists()


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    for name in ("print", "info", "recover", "clean", "verify-store", "jar"):
        assert name in text


@pytest.mark.parametrize(
    "main_class",
    ["cli/ManifestPrinter", "cli/Recover", "cli/Clean", "cli/VerifyStore", "info/CommitterInfo"],
)
def test_the_mains_exist_in_the_java_sources(main_class):
    source = Path(__file__).resolve().parents[2] / (
        f"java/src/main/java/io/manifestcommitter/{main_class}.java"
    )
    assert source.is_file()


def test_history_starts_its_main(java, jar, spark_home):
    arguments = ["history", "abfs://c@a/r", "--since", "7d", "--table", "sales", "--failed"]
    assert cli.main([*arguments, "--json", "--conf", "fs.x=1"]) == 0
    (called,) = calls_of(java)
    assert called[2:] == [
        "io.manifestcommitter.cli.History",
        *("--failed", "--json", "--since", "7d", "--table", "sales"),
        *("-D", "fs.x=1"),
        "abfs://c@a/r",
    ]


def test_report_writes_a_page(tmp_path, monkeypatch, jar, spark_home, capfd):
    directory = tmp_path / "bin"
    directory.mkdir()
    answer = json.dumps({"path": "/r", "history": {"jobs": [], "problems": []}})
    write_java(directory / "java", tmp_path / "calls", f"print('a warning')\nprint({answer!r})")
    monkeypatch.setenv("PATH", str(directory))
    page = tmp_path / "out.html"
    assert cli.main(["report", "/r", "--html", str(page)]) == 0
    assert "<h1>/r</h1>" in page.read_text("utf-8")

    assert cli.main(["report", "/r", "--html", str(tmp_path / "no" / "out.html")]) == 1
    assert "the page could not be written" in capfd.readouterr().err
    write_java(directory / "java", tmp_path / "calls", "sys.exit(1)")
    page.unlink()
    assert cli.main(["report", "/r", "--html", str(page)]) == 1
    assert not page.exists()
