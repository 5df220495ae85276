# SPDX-License-Identifier: Apache-2.0
"""The names that bind the committer, the version and the jar."""

import ast
import graphlib
import inspect
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import pytest

import manifest_committer as mc
from manifest_committer import _jvm, cli, session

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "python/manifest_committer"


def test_spark_conf_binds_the_protocol_and_the_factories():
    factory = "io.manifestcommitter.ManifestCommitterFactory"
    assert mc.spark_conf() == {
        "spark.sql.sources.commitProtocolClass": (
            "io.manifestcommitter.spark.ManifestCommitProtocol"
        ),
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.abfs": factory,
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.abfss": factory,
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.gs": factory,
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.lakefs": factory,
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.s3a": (
            "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory"
        ),
        "spark.hadoop.fs.s3a.committer.name": "magic",
        "spark.hadoop.fs.s3a.committer.abort.pending.uploads": "false",
    }
    mc.spark_conf().clear()
    assert mc.spark_conf(), "it is the caller's own"


def test_the_bound_classes_exist_in_the_java_sources():
    sources = REPOSITORY / "java/src/main/java"
    names = {name for name in mc.spark_conf().values() if name.startswith("io.")}
    for name in {*names, "io.manifestcommitter.BuildInfo"}:
        assert (sources / f"{name.replace('.', '/')}.java").is_file(), name


def test_the_version_is_that_of_the_pom():
    pom = ElementTree.parse(REPOSITORY / "pom.xml")
    version = pom.findtext(".//{http://maven.apache.org/POM/4.0.0}revision")
    assert mc.__version__ == version


def test_the_version_is_the_same_wherever_it_is_repeated():
    command = [sys.executable, str(REPOSITORY / "tools/version.py"), "--check"]
    stale = subprocess.run(command, check=False, timeout=60, capture_output=True, text=True)
    assert stale.returncode == 0, stale.stdout


def test_all_names_are_there_and_every_error_is_exported():
    errors = (REPOSITORY / "python/manifest_committer/errors.py").read_text()
    declared = set(re.findall(r"^class (\w+)", errors, re.MULTILINE))
    assert declared <= set(mc.__all__)
    for name in mc.__all__:
        assert hasattr(mc, name), name


def test_the_import_needs_neither_pyspark_nor_pandas():
    code = (
        "import sys\n"
        "sys.modules.update(pyspark=None, py4j=None, pandas=None)\n"
        "import manifest_committer, manifest_committer.cli\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY / "python", check=True, timeout=60)


@pytest.mark.parametrize(
    "used",
    [
        r"import py4j|from py4j|(?<!manifest_committer)\._jvm\b(?!\.|$)|_jsparkSession|\._jsc\b",
        r"import json|from json",
    ],
    ids=["py4j", "json"],
)
def test_only_one_module_touches(used):
    touching = {file.name for file in PACKAGE.glob("*.py") if re.search(used, file.read_text())}
    assert touching == {"_jvm.py"}


def test_no_text_of_an_error_is_matched_and_only_the_command_prints():
    for file in PACKAGE.glob("*.py"):
        text = re.sub(r'"""(.|\n)*?"""', "", file.read_text())
        assert not re.search(r"\bin str\(|warnings\.warn", text), file.name
        assert file.name == "cli.py" or not re.search(r"\bprint\(", text), file.name


def test_no_module_imports_one_that_imports_it():
    """Also not in a function: what a report is, and its pictures, do not need each other."""
    imports = {}
    for file in PACKAGE.glob("*.py"):
        found = (node for node in ast.walk(ast.parse(file.read_text("utf-8"))))
        named = (node for node in found if isinstance(node, ast.ImportFrom))
        imports[file.stem] = {
            part
            for node in named
            for part in ((node.module or "").split(".")[1:] or [alias.name for alias in node.names])
            if (node.module or "").startswith("manifest_committer")
        }
    tuple(graphlib.TopologicalSorter(imports).static_order())


@pytest.mark.parametrize(("function", "positional"), [(mc.clean, 2), (mc.recover, 2)])
def test_flags_have_to_be_named(function, positional):
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    assert kinds[positional:] == [inspect.Parameter.KEYWORD_ONLY] * (len(kinds) - positional)


def test_both_kinds_of_sessions_are_what_the_package_asks_of_one():
    asked = {name for name in vars(_jvm.Session) if not name.startswith("_")}
    assert len(asked) > 10
    for kind in (_jvm.ClassicSession, _jvm.ConnectSession):
        assert asked <= set(dir(kind))
        for name in asked - {"hadoop", "later"}:
            wanted = inspect.signature(getattr(_jvm.Session, name)).parameters.values()
            given = inspect.signature(getattr(kind, name)).parameters.values()
            assert [one.kind for one in given] == [one.kind for one in wanted], name


def test_jar_path(jar):
    assert mc.jar_path() == jar


def test_a_missing_jar_says_how_to_build_it(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_package_directory", lambda: tmp_path)
    with pytest.raises(mc.JarMissingError, match="make build") as caught:
        mc.jar_path()
    assert str(tmp_path / "jars" / "manifest-committer-0.1.0.jar") in str(caught.value)


@pytest.fixture
def in_zip(tmp_path, monkeypatch):
    """A package in a zip, as by --py-files."""
    wheel = tmp_path / "manifest_committer-0.1.0.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("manifest_committer/jars/manifest-committer-0.1.0.jar", b"PK of a jar")
    package = zipfile.Path(wheel, "manifest_committer/")
    monkeypatch.setattr(session, "_package_directory", lambda: package)
    session._unpacked.cache_clear()
    yield
    session._unpacked.cache_clear()


def test_a_jar_in_a_zip_is_unpacked_once_and_removed_at_the_end(in_zip, monkeypatch):
    at_exit = []
    monkeypatch.setattr(session.atexit, "register", lambda *call: at_exit.append(call))
    jar = Path(mc.jar_path())
    assert jar.name == "manifest-committer-0.1.0.jar"
    assert jar.read_bytes() == b"PK of a jar"
    assert mc.jar_path() == str(jar)
    ((remove, *arguments),) = at_exit
    with monkeypatch.context() as forked:
        forked.setattr(session.os, "getpid", lambda: -1)
        remove(*arguments)
        assert jar.is_file(), "it is of the process that was forked"
    remove(*arguments)
    assert not jar.parent.exists()


def test_the_command_line_prints_no_path_that_goes(in_zip, capsys):
    assert cli.main(["jar"]) != 0
    assert "Install the wheel with pip" in capsys.readouterr().err


def test_a_jar_of_another_version_is_a_missing_jar(tmp_path, monkeypatch):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "manifest-committer-0.0.9.jar").touch()
    monkeypatch.setattr(session, "_package_directory", lambda: tmp_path)
    with pytest.raises(mc.JarMissingError):
        mc.jar_path()


CONF_FILES = sorted((REPOSITORY / "spark-conf").iterdir())


def shipped(file):
    """The settings of a file, read as Spark reads it, in order."""
    lines = [line.strip() for line in file.read_text("ascii").splitlines()]
    settings = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    assert len(settings) == len(dict(settings)), "a key is there twice"
    return dict(settings)


STORES = {
    "abfs": ["abfs", "abfss"],
    "gs": ["gs"],
    "hdfs": ["hdfs"],
    "lakefs": ["lakefs"],
    "local": ["file"],
    "s3": ["s3a"],
}


@pytest.mark.parametrize("file", CONF_FILES, ids=lambda file: file.name)
def test_there_is_a_complete_file_for_every_store_that_binds_it_only(file):
    assert [file.stem for file in CONF_FILES] == list(STORES)
    settings = shipped(file)
    factories = "spark.hadoop.mapreduce.outputcommitter.factory.scheme."
    bound = {key: value for key, value in settings.items() if key.startswith(factories)}
    factory = session.S3A_FACTORY_CLASS if file.stem == "s3" else session.FACTORY_CLASS
    assert bound == {f"{factories}{scheme}": factory for scheme in STORES[file.stem]}
    assert settings[session.PROTOCOL_KEY] == session.PROTOCOL_CLASS


def test_the_files_bind_what_the_package_binds():
    files = ("abfs.conf", "gs.conf", "lakefs.conf", "s3.conf")
    settings = [shipped(REPOSITORY / "spark-conf" / name).items() for name in files]
    assert mc.spark_conf().items() <= dict(pair for pairs in settings for pair in pairs).items()


@pytest.mark.parametrize("file", CONF_FILES, ids=lambda file: file.name)
def test_files_can_be_put_together(file):
    """No two of them say different things of one key."""
    for other in CONF_FILES:
        theirs = shipped(other)
        assert all(theirs.get(key, value) == value for key, value in shipped(file).items())


@pytest.mark.parametrize("file", CONF_FILES, ids=lambda file: file.name)
def test_the_committers_own_keys_are_options(file):
    page = (REPOSITORY / "docs" / "using" / "options.md").read_text("utf-8")
    options = set(re.findall(r"`(mapreduce\.[\w.-]+)`", page))
    assert "mapreduce.manifest.committer.io.rate" in options
    known = ("spark.sql.sources.", "spark.hadoop.mapreduce.outputcommitter.factory.scheme.")
    for key in shipped(file):
        option = key.removeprefix("spark.hadoop.")
        assert key.startswith(known) or option in options or option.startswith("fs."), key
    for named in re.findall(r"mapreduce\.manifest\.[\w.]+\w", file.read_text("ascii")):
        assert named in options, named


@pytest.mark.parametrize("file", CONF_FILES, ids=lambda file: file.name)
def test_every_setting_says_why(file):
    """Above each group of settings there is a comment."""
    for block in file.read_text("ascii").split("\n\n"):
        lines = block.splitlines()
        assert lines[0].startswith("#"), block
        assert "\n#" not in block[block.rfind("\nspark.") :], "a setting between comments"


USE = """
from pyspark.sql import SparkSession
from pyspark.sql.connect.session import SparkSession as Remote
import manifest_committer as mc

def use(spark: SparkSession, remote: Remote) -> None:
    mc.configure_session(remote)
    for made in (mc.configure_session, mc.commits):
        made(spark)
    reveal_type(mc.read_report(spark, "/t").file_list(remote))
    reveal_type(mc.history(remote, "/r"))
"""


def test_types_are_those_of_pyspark(tmp_path):
    """As a user's mypy sees them, with stubs of both kinds of sessions."""
    stubs = {"__init__": "", "sql/__init__": "class SparkSession: ...\nclass DataFrame: ...\n"}
    stubs |= {"sql/connect/__init__": "", "sql/connect/session": "class SparkSession: ...\n"}
    for name, text in stubs.items():
        file = tmp_path / "stubs" / "pyspark" / f"{name}.pyi"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    given_a_path = ("committer_info", "recover", "clean", "read_report")
    wrong = "\n".join(f'mc.{name}("spark", "/t")' for name in given_a_path)
    (tmp_path / "use.py").write_text(f'{USE}\n{wrong}\nmc.configure_session("spark")\n')
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "use.py"]
    paths = os.pathsep.join([str(tmp_path / "stubs"), str(PACKAGE.parent)])
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": paths},
        check=False,
        timeout=240,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.count('Revealed type is "pyspark.sql.DataFrame"') == 2, ran.stdout
    refused = (
        'has incompatible type "str"; expected "pyspark.sql.SparkSession | pyspark.sql.connect'
    )
    assert ran.stdout.count(refused) == ran.stdout.count("error:") == 5, ran.stdout
