# SPDX-License-Identifier: Apache-2.0
"""The console script, with a `java` that only notes how it was called."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from manifest_committer import _spark_home, cli
from manifest_committer.job_history import history_text

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def java(tmp_path, monkeypatch):
    """A `java` on PATH; returns the function that runs it and gives its arguments."""
    directory = tmp_path / "bin"
    directory.mkdir()
    write_java(directory / "java", tmp_path / "calls")
    monkeypatch.setenv("PATH", str(directory))
    return tmp_path / "calls"


def write_java(file, calls, body="sys.exit(int(os.environ.get('EXIT_CODE', '0')))"):
    (file.parent.parent / "release").write_text('JAVA_VERSION="17.0.15"\n')
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


def test_java_gets_the_class_path_and_the_command(java, jar, spark_home):
    assert cli.main(["print", "/t", "abfs://c@a/t", "--json"]) == 0
    (arguments,) = calls_of(java)
    assert arguments == [
        "-cp",
        os.pathsep.join([jar, str(spark_home / "jars" / "*")]),
        "-Dmanifest.committer.called=manifest-committer print",
        "io.manifestcommitter.cli.ManifestPrinter",
        "--json",
        "/t",
        "abfs://c@a/t",
    ]


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("print /t --conf a=1", "cli.ManifestPrinter --json-reports -D a=1 /t"),
        ("print /t --all", "cli.ManifestPrinter /t"),
        ("print a -- -x", "cli.ManifestPrinter --json-reports a ./-x"),
        ("print a --missing-ok", "cli.ManifestPrinter --json-reports --missing-ok a"),
        ("history a --missing-ok", "cli.Ask --question history --given {} --missing-ok a"),
        ("recover a --missing-ok", "cli.Recover --missing-ok a"),
        ("clean a --missing-ok", "cli.Clean --older-than 24h --missing-ok a"),
        (
            "info gs://b/t --conf a=1 --conf b=2 --json",
            "info.CommitterInfo --json -D a=1 -D b=2 gs://b/t",
        ),
        ("recover gs://b/t /u --force --conf a=1", "cli.Recover --force -D a=1 gs://b/t /u"),
        ("recover /t", "cli.Recover /t"),
        ("recover --rollback /t", "cli.Recover --rollback /t"),
        ("recover --complete /t", "cli.Recover --complete /t"),
        (
            "clean /t --dry-run --older-than 1h --conf a=1",
            "cli.Clean --older-than 1h --dry-run -D a=1 /t",
        ),
        (
            "clean --discard-unfinished --force /t /u",
            "cli.Clean --older-than 24h --discard-unfinished --force /t /u",
        ),
        (
            "ids /t --id a --conf a=1",
            'cli.Ask --question ids --given {"commitId":"a","forget":false} -D a=1 /t',
        ),
        (
            "held /t /u --json --missing-ok",
            'cli.Ask --question held --given {"jobId":"","end":""} --missing-ok /t /u',
        ),
        (
            "publish /t j-1 --conf a=1",
            'cli.Ask --question held --given {"jobId":"j-1","end":"publish"} -D a=1 /t',
        ),
        ("files /t --json", "cli.Ask --question files --given {} /t"),
        ("verify-store gs://b/s --verbose", "cli.VerifyStore --verbose gs://b/s"),
        ("verify-store gs://b/s --json --conf a=1", "cli.VerifyStore --json -D a=1 gs://b/s"),
        (
            "history abfs://c@a/r --since 7d --failed --json --conf fs.x=1",
            "cli.Ask --question history --given {} -D fs.x=1 abfs://c@a/r",
        ),
    ],
)
def test_a_command_starts_its_main(java, jar, spark_home, command, started):
    """With the settings of a job."""
    assert cli.main(command.split()) == 0
    (arguments,) = calls_of(java)
    assert arguments[3:] == f"io.manifestcommitter.{started}".split()
    source = REPOSITORY / "java/src/main/java" / f"{arguments[3].replace('.', '/')}.java"
    assert source.is_file()


def test_info_takes_the_file_that_spark_would_read(java, jar, spark_home, tmp_path):
    defaults = spark_home / "conf" / "spark-defaults.conf"
    defaults.parent.mkdir()
    defaults.write_text("spark.jars /x.jar\n")
    other = str(tmp_path / "other.conf")
    assert cli.main(["info", "/t"]) == 0
    assert cli.main(["info", "--properties-file", other, "--class-path", "/gcs.jar", "/t"]) == 0
    main = "io.manifestcommitter.info.CommitterInfo"
    first, second = calls_of(java)
    assert first[3:] == [main, "--json", "--properties-file", str(defaults), "/t"]
    assert second[3:] == [main, "--json", "--properties-file", other, "/t"]
    assert "/gcs.jar" in second[1].split(os.pathsep)


@pytest.mark.parametrize("flags", [[], ["--verbose"]])
def test_info_shows_classes_and_places_only_if_asked(
    java, jar, spark_home, monkeypatch, capfd, flags
):
    monkeypatch.setattr(cli, "info_text", lambda _, verbose: f"verbose: {verbose}")
    monkeypatch.setattr(cli, "_documents", lambda _: [{}])
    cli.main(["info", *flags, "/t"])
    assert f"verbose: {bool(flags)}" in capfd.readouterr().out


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


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("JAVA_HOME", "/no/jdk", "manifest-committer print: JAVA_HOME is /no/jdk"),
        ("PATH", "/no/where", "JAVA_HOME is not set and `java` is not on PATH"),
        ("SPARK_HOME", "/no/spark", "SPARK_HOME is /no/spark"),
        ("SPARK_HOME", "", "pip install 'pyspark>=3.5'"),
    ],
)
def test_what_is_missing_is_named(java, jar, spark_home, monkeypatch, capsys, name, value, message):
    monkeypatch.setattr(_spark_home.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setenv(name, value)
    assert cli.main(["print", "/t"]) == 1
    assert message in capsys.readouterr().err
    assert not java.exists()


@pytest.mark.parametrize(
    ("spark", "release", "error"),
    [
        ("4.3.0", 'JAVA_VERSION="17.0.15"', None),
        ("4.0.0-preview1", 'JAVA_VERSION="11.0.9"', "Java 11 ({java}) is too old for Spark 4.0.0"),
        ("3.5.9", 'JAVA_VERSION="11.0.9"', None),
        ("3.5.9", 'JAVA_VERSION="1.8.0_292"', "Java 8 ({java}) is too old for Spark 3.5.9. Spark"),
        ("3.5.9", None, "Java 9 ({java}) is too old for Spark 3.5.9"),
        ("3.5.9", "nobody knows", None),
        ("3.4.4", 'JAVA_VERSION="17.0.15"', "Spark 3.4.4 in {home} is too old: this package works"),
    ],
)
def test_versions_that_are_too_old_are_refused_by_name(
    java, jar, spark_home, tmp_path, capsys, spark, release, error
):
    (spark_home / "jars" / f"spark-core_2.12-{spark}.jar").touch()
    write_java(tmp_path / "bin" / "java", java, "print('version \"9.0.1\"', file=sys.stderr)")
    if release is None:
        (tmp_path / "release").unlink()
    else:
        (tmp_path / "release").write_text(release)
    assert cli.main(["print", "/t"]) == (0 if error is None else 1)
    shown = capsys.readouterr().err
    if error is None:
        assert calls_of(java)[-1][-1] == "/t"
    else:
        assert error.format(java=tmp_path / "bin" / "java", home=spark_home) in shown
        assert "Spark 3.5 needs Java 11 or 17, Spark 4 needs Java 17 or newer." in shown
        assert release is None or not java.exists()


def test_the_jars_of_the_installed_pyspark(java, jar, tmp_path, monkeypatch):
    package = tmp_path / "site" / "pyspark"
    (package / "jars").mkdir(parents=True)
    (package / "jars" / "spark-core.jar").touch()
    (package / "__init__.py").write_text("raise AssertionError('must not be imported')")
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.syspath_prepend(package.parent)
    assert cli.main(["print", "/t"]) == 0
    assert calls_of(java)[0][1].endswith(str(package / "jars" / "*"))


def test_a_pyspark_without_jars(java, jar, tmp_path, monkeypatch, capsys):
    (tmp_path / "site" / "pyspark").mkdir(parents=True)
    (tmp_path / "site" / "pyspark" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert cli.main(["print", "/t"]) == 1
    assert "Spark Connect only" in capsys.readouterr().err


def test_no_jar_in_the_package(java, spark_home, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("manifest_committer.session._package_directory", lambda: tmp_path / "x")
    assert cli.main(["print", "/t"]) == 1
    assert "make build" in capsys.readouterr().err


def test_jar(jar, capsys):
    assert cli.main(["jar"]) == 0
    assert capsys.readouterr().out == f"{jar}\n"


@pytest.mark.parametrize(
    "file", sorted((REPOSITORY / "spark-conf").iterdir()), ids=lambda f: f.stem
)
def test_conf_prints_the_settings_file_of_a_store(file, capfd):
    assert cli.main(["conf", file.stem]) == 0
    assert capfd.readouterr().out == file.read_text("utf-8")


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
        ["conf"],
        ["conf", "no-such-store"],
    ],
)
def test_wrong_usage(arguments, java, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage: manifest-committer" in capsys.readouterr().err
    assert not java.exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("clean --dryrun /t", "there is no --dryrun here; did you mean --dry-run?"),
        ("print --forc /t", "there is no --forc here"),
        ("recover --forc /t", "there is no --forc here; did you mean --force?"),
        ("jar more", "there is no more here"),
        ("info --conf key /t", "argument --conf: 'key' is not key=value"),
        ("report /t", "the following arguments are required: --html"),
        ("ids /t --forget", "--forget needs --id"),
    ],
)
def test_wrong_usage_shows_that_of_the_command(java, capsys, command, message):
    """And no option is taken for another one that it begins."""
    with pytest.raises(SystemExit, match="2"):
        cli.main(command.split())
    usage, _, error = capsys.readouterr().err.rpartition("error: ")
    assert usage.startswith(f"usage: manifest-committer {command.split()[0]} [-h]")
    assert error.splitlines() == [message]
    assert not java.exists()


def test_what_only_java_knows_to_be_wrong_shows_the_usage_too(
    java, jar, spark_home, monkeypatch, capfd
):
    monkeypatch.setenv("EXIT_CODE", "2")
    assert cli.main(["clean", "--older-than", "soon", "/t"]) == 2
    assert capfd.readouterr().err.startswith("usage: manifest-committer clean [-h]")


def commands_of(line):
    """What a line for a shell gives to the script."""
    words = re.split(r"[()>\"\n]", line.partition("manifest-committer ")[2])[0]
    return words.split()


@pytest.mark.parametrize("command", cli._COMMANDS, ids=lambda command: command.name)
def test_each_help_has_an_example_that_the_command_takes(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        cli.main([command.name, "--help"])
    shown = capsys.readouterr().out
    assert f"Example:\n  {command.example}\n" in shown
    assert " -D" not in shown
    assert cli._parser().parse_args(commands_of(command.example)).command == command


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("re", "report recover"),
        ("clean --d", "--dry-run --discard-unfinished"),
        ("clean gs://b/t --forc", "--force"),
        ("completion z", "zsh"),
        ("print /tm", ""),
        ("nonsense --j", ""),
    ],
)
def test_completion_in_bash(capsys, typed, offered):
    """Where nothing is offered, the shell proposes files."""
    assert cli.main(["completion", "bash"]) == 0
    words = ["manifest-committer", *typed.split()]
    program = "\n".join(
        [
            capsys.readouterr().out,
            f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}",
            "_manifest_committer; echo ${COMPREPLY[*]}",
        ]
    )
    ran = subprocess.run(["bash", "--norc"], input=program, capture_output=True, text=True)
    assert ran.stdout.strip() == offered, ran.stderr


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_completion_in_zsh(capsys, tmp_path):
    """In a terminal, which zsh's completion needs."""
    assert cli.main(["completion", "zsh"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    program = (
        "zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z 'source script; print LOA''DED'\n"
        "zpty -r z seen '*LOADED*'; zpty -w -n z 'manifest-committer clean --dr'$'\\t'\n"
        "zpty -r z seen '*--dry-run*' && print completed"
    )
    ran = subprocess.run(
        ["zsh", "-f", "-c", program], cwd=tmp_path, capture_output=True, timeout=60
    )
    assert ran.stdout == b"completed\n", ran.stderr


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    text = capsys.readouterr().out
    for command in cli._COMMANDS:
        assert re.search(rf"^ +{command.name}\b", text, re.MULTILINE)


JOB = {
    "jobId": "a",
    "table": "abfs://c@a/returns",
    "description": "",
    "outcome": "failed",
    "success": False,
    "write": "append",
    "ended": 1_769_947_200_000,
    "millis": 1500,
    "files": 1234,
    "bytes": 2048,
    "error": "the store is down\n at x",
}


@pytest.fixture
def answers(tmp_path, java, jar, spark_home):
    """Lets `java` print some lines."""

    def set_lines(*lines):
        body = f"print({chr(10).join(lines)!r})" if lines else "sys.exit(1)"
        write_java(tmp_path / "bin" / "java", java, body)

    return set_lines


@pytest.fixture
def history(answers):
    """The history of a directory with two jobs and a damaged report."""
    good = {"jobId": "b", "success": True, "outcome": "committed", "ended": JOB["ended"] + 60_000}
    jobs = [JOB, JOB | good | {"table": "", "description": "t\x1b[2J", "millis": None}]
    answer = json.dumps({"path": "/r", "jobs": jobs, "problems": ["x is damaged"]})
    answers("[0.003s][warning][os] no cgroup", answer)


def test_history_is_a_table(history, capfd):
    assert cli.main(["history", "abfs://c@a/r", "--conf", "fs.x=1"]) == 1
    shown = capfd.readouterr()
    header, failed, error, good = shown.out.splitlines()
    assert re.split("  +", header) == [
        *("finished", "outcome", "commit time", "files", "bytes", "write", "table")
    ]
    assert re.split("  +", failed) == [
        *("2026-02-01 12:00:00 UTC", "failed", "1.50 s", "1,234", "2.0 KiB", "append"),
        "abfs://c@a/returns",
    ]
    assert error == "    the store is down"
    assert good.endswith(" t\\x1b[2J")
    assert (
        shown.err == "[0.003s][warning][os] no cgroup\nmanifest-committer history: x is damaged\n"
    )


def test_a_time_that_no_calendar_has_is_shown_as_its_number():
    assert history_text("/r", [JOB | {"ended": 10**15}]).splitlines()[1].startswith(f"{10**15} ")


def test_history_chooses_jobs(history, capfd):
    def chosen(*options):
        cli.main(["history", "/r", "--json", *options])
        return [json.loads(line)["jobId"] for line in capfd.readouterr().out.splitlines()]

    assert chosen() == ["a", "b"]
    assert chosen("--failed") == ["a"]
    assert chosen("--table", "/returns") == ["a"]
    assert chosen("--since", "2026-02-01") == ["a", "b"]
    assert chosen("--since", "2026-02-01T12:00:30Z") == ["b"]
    assert chosen("--since", "900000d") == ["a", "b"]
    assert chosen("--since", "36h", "--failed") == []
    assert chosen("--since", "86400000ms") == []
    with pytest.raises(SystemExit, match="2"):
        chosen("--since", "yesterday")
    assert "'yesterday' is no time such as 2026-01-31" in capfd.readouterr().err


def test_a_history_without_jobs_says_how_to_have_some(history, capfd):
    cli.main(["history", "/r", "--table", "/nothing"])
    assert "set mapreduce.manifest.committer.summary.report.directory" in capfd.readouterr().out


def test_identities_are_listed(answers, capfd):
    """One that is asked for, and that a table does not remember, is a problem."""
    at = 1_769_947_200_000
    first = {"id": "a\x1b[2J", "jobId": "j-1", "application": None, "at": at}
    answers("[0.003s][warning][os] no cgroup", json.dumps([first]), "[]")
    assert cli.main(["ids", "/t", "/u"]) == 0
    shown = capfd.readouterr()
    assert shown.out == "2026-02-01 12:00:00 UTC  job j-1  a\\x1b[2J\n"
    assert shown.err == "[0.003s][warning][os] no cgroup\n"
    assert cli.main(["ids", "/t", "/u", "--id", "a", "--json"]) == 1
    assert [json.loads(line) for line in capfd.readouterr().out.splitlines()] == [[first], []]


HELD = {
    "jobId": "j-1",
    "files": 1,
    "bytes": 2048,
    "partitions": ["p=1"],
    "since": 1_769_947_200_000,
    "overwrites": False,
    "commitId": None,
    "readable": True,
}


def test_held_jobs_are_listed(answers, capfd):
    more = {"jobId": "j-2", "files": 1234, "overwrites": True, "commitId": "a\nb"}
    answers(json.dumps([HELD, HELD | more]))
    assert cli.main(["held", "/t"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "2026-02-01 12:00:00 UTC  job j-1: 1 file, 2.0 KiB",
        "2026-02-01 12:00:00 UTC  job j-2: 1,234 files, 2.0 KiB, overwrites, commit.id a\\nb",
    ]
    assert cli.main(["held", "/t", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == [HELD, HELD | more]


def test_a_held_job_is_published_or_it_is_said_why_not(answers, capfd):
    answers('[{"errors":[]}]')
    assert cli.main(["publish", "/t", "j-1"]) == 0
    assert capfd.readouterr().out == "/t: job j-1 is published\n"
    assert cli.main(["discard", "/t", "j-1", "--json"]) == 0
    assert capfd.readouterr().out == '{"jobId":"j-1","outcome":"discarded"}\n'
    answers('[{"errors":["it is not held","nor\\nelse"]}]')
    assert cli.main(["publish", "/t", "j-1"]) == 1
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err == "manifest-committer publish: it is not held\n  nor\\nelse\n"
    answers()
    assert cli.main(["publish", "/t", "j-1"]) == 1
    assert capfd.readouterr().out == ""


def test_files_are_listed_with_their_partitions(answers, capfd):
    """Spark writes a character as its code, which is no UTF-8; a percent sign may stand alone."""
    files = [
        ("p=x%2Fy%/q=__HIVE_DEFAULT_PARTITION__/part-0", {"p": "x/y%", "q": None}),
        ("a%3Db=c%E9%C3%A9%4g%4/ü=ü%3a=/part-0", {"a=b": "c\xe9\xc3\xa9%4g%4", "ü": "ü:="}),
        ("=1/b/c=/part=0", {"c": ""}),
        ("part-0", {}),
    ]
    found = [{"path": f"/t/{place}", "size": 4, "place": place} for place, _ in files]
    answers(json.dumps(found))
    assert cli.main(["files", "/t"]) == 0
    assert capfd.readouterr().out.splitlines() == [f"4  /t/{place}" for place, _ in files]
    assert cli.main(["files", "/t", "--json"]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert lines == [
        {"path": f"/t/{place}", "size": 4, "partition": partition} for place, partition in files
    ]


def test_print_shows_summaries(answers, capfd):
    """Of reports; what is none comes as the Java program says it, and so does a warning."""
    name = "org.apache.hadoop.fs.s3a.commit.files.SuccessData/1"
    diagnostics = {"steps": json.dumps([{"name": "plan", "start": 1, "millis": 22}])}
    content = {"name": name, "jobId": "a", "success": True, "diagnostics": diagnostics}
    lines = [
        "[0.003s][warning][os] no cgroup",
        json.dumps({"path": "/t/_SUCCESS", "content": content}, separators=(",", ":")),
        "List of files /t/_SUCCESS.files",
        json.dumps({"path": "/u/_SUCCESS", "content": {}}, separators=(",", ":")),
    ]
    answers(*lines)
    assert cli.main(["print", "/t"]) == 1
    shown = capfd.readouterr()
    head, *summary, last = shown.out.splitlines()
    assert (head, last) == (lines[0], lines[2])
    assert summary[:2] == ["Job a: committed", "  table     /t"]
    assert "/u/_SUCCESS" in shown.err
    assert "22 ms" not in shown.out
    cli.main(["print", "/t", "--steps"])
    assert "  plan  1 ms   22 ms" in capfd.readouterr().out


def test_report_writes_a_page(answers, tmp_path, capfd):
    answer = json.dumps({"path": "/r", "history": {"jobs": [], "problems": []}})
    answers("a warning", answer)
    page = tmp_path / "out.html"
    assert cli.main(["report", "/r", "--html", str(page)]) == 0
    assert "<h1>/r</h1>" in page.read_text("utf-8")

    assert cli.main(["report", "/r", "--html", str(tmp_path / "no" / "out.html")]) == 1
    assert "the page could not be written" in capfd.readouterr().err
    answers()
    page.unlink()
    assert cli.main(["report", "/r", "--html", str(page)]) == 1
    assert not page.exists()

    answers(answer.replace("/r", "/r\\ud800"))
    assert cli.main(["report", "/r", "--html", str(page)]) == 0
    assert r"<h1>/r\ud800</h1>" in page.read_text("utf-8")
    answers(answer.replace("[]", "[" * 5000 + "]" * 5000, 1))
    assert cli.main(["report", "/r", "--html", str(page)]) == 1
    assert "a report cannot be read" in capfd.readouterr().err
