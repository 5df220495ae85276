# SPDX-License-Identifier: Apache-2.0
"""configure_builder: what it sets, what it keeps, what it refuses."""

import sys
import types

import pytest
from fakes import FakeBuilder

import manifest_committer as mc
from manifest_committer import _jvm, _spark_home


class FakeProcess:
    """A JVM that runs already."""

    def __init__(self, loaded=None, session=False, shares=True, spark_jars=""):
        self.loaded = loaded
        self.session = session
        self.shares = shares
        self.jars = spark_jars
        self.shared = []

    def has_session(self):
        return self.session

    def loaded_jar(self):
        return self.loaded

    def share_jar(self, jar):
        if self.shares:
            self.shared.append(jar())
        return self.shares

    def spark_jars(self):
        return self.jars


OURS = _jvm.LoadedJar("0.1.0", "file:/jars/manifest-committer-0.1.0.jar")


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    """No JVM runs, and no Spark is installed whose defaults would count."""
    monkeypatch.setattr(_jvm, "open_process", lambda: None)
    monkeypatch.setattr(_spark_home.importlib.util, "find_spec", lambda _: None)


def running(monkeypatch, process):
    monkeypatch.setattr(_jvm, "open_process", lambda: process)
    return process


def options_of(**given):
    """What a builder with these options is given."""
    return mc.configure_builder(FakeBuilder(**given))._options


def test_sets_the_jar_and_the_settings_and_returns_the_builder(jar):
    builder = FakeBuilder()
    assert mc.configure_builder(builder) is builder
    assert builder._options == {"spark.jars": jar, **mc.spark_conf()}


def test_keeps_the_jars_and_the_settings_that_are_there(jar):
    options = options_of(spark_jars="/a.jar, /b.jar", spark_app_name="x")
    assert options["spark.jars"] == f"/a.jar,/b.jar,{jar}"
    assert options["spark.app.name"] == "x"


def test_the_same_jar_is_not_added_again(jar):
    builder = FakeBuilder(spark_jars="/a.jar")
    mc.configure_builder(mc.configure_builder(builder))
    assert builder._options["spark.jars"] == f"/a.jar,{jar}"
    elsewhere = "hdfs:/lib/manifest-committer-0.1.0.jar"
    assert options_of(spark_jars=elsewhere)["spark.jars"] == elsewhere


def test_another_version_of_the_jar_is_refused(jar):
    with pytest.raises(mc.JarVersionError) as caught:
        mc.configure_builder(FakeBuilder(spark_jars="/x/manifest-committer-0.0.9.jar"))
    for part in ("0.0.9", "0.1.0", "/x/manifest-committer-0.0.9.jar"):
        assert part in str(caught.value)


@pytest.mark.parametrize("separator", [" ", "=", "\t", " = "])
def test_keeps_the_jars_of_spark_defaults(jar, tmp_path, monkeypatch, separator):
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_text(
        f"# spark.jars /no.jar\nspark.jars.packages a:b:1\nspark.jars{separator}/site.jar  \n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert options_of()["spark.jars"] == f"/site.jar,{jar}"
    own = options_of(spark_jars="/a.jar")
    assert own["spark.jars"] == f"/a.jar,{jar}", "as in Spark, the builder's jars win"
    other = tmp_path / "other.conf"
    other.write_text(f"spark.jars{separator}/mine.jar\n")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file {other} pyspark-shell")
    assert options_of()["spark.jars"] == f"/mine.jar,{jar}"


@pytest.mark.parametrize(
    "arguments",
    ["--jars /a.jar pyspark-shell", "--jars=/a.jar", "--conf spark.jars=/a.jar pyspark-shell"],
)
def test_refuses_submit_arguments_that_would_hide_the_jar(jar, monkeypatch, arguments):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    with pytest.raises(mc.SubmitArgumentsError, match="PYSPARK_SUBMIT_ARGS") as caught:
        mc.configure_builder(FakeBuilder())
    assert jar in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        "--packages a:b:1 pyspark-shell",
        "--conf spark.jars.packages=a:b:1 pyspark-shell",
        "--jars /a.jar,/lib/manifest-committer-0.1.0.jar pyspark-shell",
    ],
)
def test_takes_submit_arguments_that_do_no_harm(jar, monkeypatch, arguments):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert options_of()["spark.jars"] == jar


def test_a_running_session_without_the_jar_is_refused(jar, monkeypatch):
    running(monkeypatch, FakeProcess(session=True))
    builder = FakeBuilder()
    with pytest.raises(mc.SessionAlreadyRunningError, match="configure_session"):
        mc.configure_builder(builder)
    assert builder._options == {}


def test_a_running_session_with_the_jar_gets_the_settings_only(jar, monkeypatch):
    running(monkeypatch, FakeProcess(loaded=OURS, session=True))
    assert options_of() == mc.spark_conf()


def test_a_running_jvm_without_a_session_is_given_the_jar(jar, monkeypatch):
    process = running(monkeypatch, FakeProcess(spark_jars="/submitted.jar"))
    assert options_of()["spark.jars"] == f"/submitted.jar,{jar}"
    assert process.shared == [jar]


def test_a_running_jvm_that_takes_no_jar_is_refused(jar, monkeypatch):
    running(monkeypatch, FakeProcess(shares=False))
    with pytest.raises(mc.SessionAlreadyRunningError):
        mc.configure_builder(FakeBuilder())


def test_a_running_jvm_with_another_version_is_refused(jar, monkeypatch):
    running(monkeypatch, FakeProcess(loaded=_jvm.LoadedJar("0.0.9", "file:/old.jar")))
    with pytest.raises(mc.JarVersionError, match=r"0\.0\.9.*file:/old\.jar"):
        mc.configure_builder(FakeBuilder())


@pytest.mark.parametrize(
    ("environment", "options"),
    [
        ({"SPARK_REMOTE": "sc://host"}, {}),
        ({"SPARK_CONNECT_MODE_ENABLED": "1"}, {}),
        ({"SPARK_API_MODE": "connect"}, {}),
        ({"SPARK_CONNECT_MODE": "1"}, {}),
        ({}, {"spark_remote": "sc://host"}),
        ({}, {"spark_api_mode": "connect"}),
    ],
)
def test_connect_is_refused(jar, monkeypatch, environment, options):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(mc.ConnectSessionError, match="configure_session"):
        mc.configure_builder(FakeBuilder(**options))


def test_classic_mode_wins_over_the_default(jar, monkeypatch):
    monkeypatch.setenv("SPARK_CONNECT_MODE", "1")
    assert options_of(spark_api_mode="classic")["spark.jars"] == jar


@pytest.mark.parametrize("wrong", [object(), "builder", None])
def test_something_else_is_refused(jar, wrong):
    with pytest.raises(TypeError, match="configure_session"):
        mc.configure_builder(wrong)


@pytest.mark.parametrize("name", ["a b", "a,b", "a#b", "a%20b", "ü", "it's"])
def test_a_path_that_spark_would_mangle_is_not_handed_out(tmp_path, monkeypatch, name):
    package = tmp_path / name
    (package / "jars").mkdir(parents=True)
    (package / "jars" / "manifest-committer-0.1.0.jar").write_bytes(b"content")
    monkeypatch.setattr("manifest_committer.session._package_directory", lambda: package)
    given = options_of()["spark.jars"]
    assert name not in given
    assert given.endswith("/manifest-committer-0.1.0.jar")
    with open(given, "rb") as copy:
        assert copy.read() == b"content"


def test_a_jvm_that_has_the_jar_needs_none_of_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr("manifest_committer.session._package_directory", lambda: tmp_path / "none")
    path = tmp_path / "manifest-committer-0.1.0.jar"
    path.touch()
    loaded = _jvm.LoadedJar("0.1.0", path.as_uri())
    running(monkeypatch, FakeProcess(loaded=loaded, spark_jars=f"/a.jar,{path}"))
    assert options_of()["spark.jars"] == f"/a.jar,{path}"


def test_a_client_of_spark_connect_says_that_it_needs_a_server(jar, monkeypatch):
    """The package pyspark-client, which has no Spark and no py4j."""
    client = types.ModuleType("pyspark")
    monkeypatch.setitem(sys.modules, "pyspark", client)
    with pytest.raises(mc.ConnectSessionError, match=r"builder\.remote") as caught:
        mc.configure_builder(FakeBuilder())
    assert "configure_session(spark)" in str(caught.value)
    with pytest.raises(mc.ConnectSessionError, match="This builder makes a Spark Connect session"):
        mc.configure_builder(FakeBuilder(spark_remote="sc://host"))


def test_an_old_pyspark_is_refused_before_anything_else(monkeypatch):
    pyspark = types.ModuleType("pyspark")
    pyspark.__version__ = "3.4.1"
    monkeypatch.setitem(sys.modules, "pyspark", pyspark)
    for refused in (mc.configure_builder, mc.configure_session):
        with pytest.raises(mc.SparkVersionError, match=r"PySpark 3\.4\.1 is too old"):
            refused(object())
    with pytest.raises(mc.SparkVersionError):
        mc.read_report(object(), "/t")


@pytest.mark.parametrize("knows_more", [False, True])
def test_a_java_that_is_too_old_for_spark_4(jar, tmp_path, monkeypatch, knows_more):
    home, java = tmp_path / "spark", tmp_path / "jdk"
    for directory in (home / "jars", home / "conf", java / "bin"):
        directory.mkdir(parents=True)
    (home / "jars" / "spark-core_2.13-4.3.0.jar").touch()
    (java / "bin" / "java").touch(mode=0o755)
    (java / "release").write_text('JAVA_VERSION="11.0.9"')
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("JAVA_HOME", str(java))
    builder = FakeBuilder()
    if knows_more:
        (home / "conf" / "spark-env.sh").touch()
        assert mc.configure_builder(builder) is builder, "it may name another Java"
        return
    with pytest.raises(mc.JavaVersionError, match=r"Java 11 \(.*\) is too old for Spark 4\.3\.0"):
        mc.configure_builder(builder)
    assert builder._options == {}
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nothing"))
    assert mc.configure_builder(builder) is builder, "what is missing is for PySpark to tell"
