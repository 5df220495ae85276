"""The names that bind the committer, the version and the jar."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import manifest_committer as mc
from manifest_committer import session

REPOSITORY = Path(__file__).resolve().parents[2]


def test_spark_conf_binds_the_protocol_and_the_factories():
    factory = "io.manifestcommitter.ManifestCommitterFactory"
    assert mc.spark_conf() == {
        "spark.sql.sources.commitProtocolClass": (
            "io.manifestcommitter.spark.ManifestCommitProtocol"
        ),
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.abfs": factory,
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.abfss": factory,
        "spark.hadoop.mapreduce.outputcommitter.factory.scheme.gs": factory,
    }


def test_spark_conf_is_the_callers_own():
    mc.spark_conf().clear()
    assert mc.spark_conf()


def test_the_bound_classes_exist_in_the_java_sources():
    sources = REPOSITORY / "java/src/main/java"
    for name in {*mc.spark_conf().values(), "io.manifestcommitter.BuildInfo"}:
        assert (sources / f"{name.replace('.', '/')}.java").is_file(), name


def test_the_version_is_that_of_the_pom():
    pom = ElementTree.parse(REPOSITORY / "pom.xml")
    version = pom.findtext("{http://maven.apache.org/POM/4.0.0}version")
    assert mc.__version__ == version


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


def test_only_one_module_touches_py4j():
    package = REPOSITORY / "python/manifest_committer"
    used = re.compile(r"import py4j|from py4j|\._jvm\b(?!\.|$)|_jsparkSession|\._jsc\b")
    touching = {file.name for file in package.glob("*.py") if used.search(file.read_text())}
    assert touching == {"_jvm.py"}


def test_jar_path(jar):
    assert mc.jar_path() == jar


def test_a_missing_jar_says_how_to_build_it(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "_package_directory", lambda: tmp_path)
    with pytest.raises(mc.JarMissingError, match="make build") as caught:
        mc.jar_path()
    assert str(tmp_path / "jars" / "manifest-committer-0.1.0.jar") in str(caught.value)


def test_a_jar_of_another_version_is_a_missing_jar(tmp_path, monkeypatch):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "manifest-committer-0.0.9.jar").touch()
    monkeypatch.setattr(session, "_package_directory", lambda: tmp_path)
    with pytest.raises(mc.JarMissingError):
        mc.jar_path()


def test_the_spark_defaults_file_has_the_same_settings():
    file = REPOSITORY / "spark-conf" / "spark-defaults.conf"
    lines = [line.split() for line in file.read_text("utf-8").splitlines()]
    settings = dict(line for line in lines if line and not line[0].startswith("#"))
    assert settings == mc.spark_conf()
