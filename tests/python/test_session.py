# SPDX-License-Identifier: Apache-2.0
"""configure_session, classic and Connect."""

import pytest
from fakes import FakeClassicSpark

import manifest_committer as mc
from manifest_committer import _jvm
from manifest_committer.session import (
    FACTORY_CLASS,
    PROTOCOL_CLASS,
    PROTOCOL_KEY,
    S3A_FACTORY_CLASS,
)

SPARKS_OWN = "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
ABFS_KEY = "mapreduce.outputcommitter.factory.scheme.abfs"


class FakeClassic:
    """The JVM side of a classic session."""

    def __init__(self, loaded=None, shares=True, problem=None):
        self.loaded = loaded
        self.shares = shares
        self.problem = problem
        self.settings = {PROTOCOL_KEY: SPARKS_OWN}
        self.hadoop = FakeHadoop(self)
        self.later = FakeHadoop(self)
        self.added = []
        self.shared = []
        self.visible_to_all = False
        self.has_s3a = False

    def setting(self, key):
        return self.settings.get(key)

    def set_setting(self, key, value):
        self.settings[key] = value

    def loaded_jar(self):
        return self.loaded

    def add_jar(self, jar):
        self.added.append(jar)
        self.loaded = _jvm.LoadedJar("0.1.0", f"file:{jar}")

    def share_jar(self, jar):
        self.shared.append(jar())
        self.visible_to_all = self.shares
        return self.shares

    def protocol_problem(self, _):
        return self.problem if self.loaded else "the class is not on the driver's class path"


class FakeHadoop(dict):
    """The configuration that all sessions share."""

    def __init__(self, session):
        self.session = session

    def loads(self, name):
        return self.session.has_s3a if name == S3A_FACTORY_CLASS else self.session.visible_to_all

    def set(self, key, value):
        self[key] = value


@pytest.fixture
def configure(jar, monkeypatch):
    """configure_session over a fake classic session."""

    def run(session):
        monkeypatch.setattr(_jvm, "ClassicSession", lambda _: session)
        return mc.configure_session(FakeClassicSpark())

    return run


def test_a_classic_session_gets_the_jar_and_the_settings(configure, jar):
    session = FakeClassic()
    session.hadoop[ABFS_KEY] = "other.Factory"
    changes = configure(session)
    assert session.added == [jar]
    assert session.visible_to_all
    assert session.settings[PROTOCOL_KEY] == PROTOCOL_CLASS
    assert session.later == {PROTOCOL_KEY: PROTOCOL_CLASS}
    assert session.hadoop == {
        f"mapreduce.outputcommitter.factory.scheme.{scheme}": FACTORY_CLASS
        for scheme in ("abfs", "abfss", "gs", "lakefs")
    }
    assert changes.changed
    assert changes.jar_added == jar
    assert changes.settings[:3] == (
        mc.SettingChange(PROTOCOL_KEY, SPARKS_OWN, PROTOCOL_CLASS),
        mc.SettingChange(PROTOCOL_KEY, None, PROTOCOL_CLASS, in_new_sessions=True),
        mc.SettingChange(f"spark.hadoop.{ABFS_KEY}", "other.Factory", FACTORY_CLASS),
    )
    text = str(changes)
    assert f"added {jar}" in text
    assert f"{PROTOCOL_KEY} = {PROTOCOL_CLASS} (was {SPARKS_OWN})" in text
    assert f"{PROTOCOL_KEY} = {PROTOCOL_CLASS} (in new sessions, was not set)" in text
    assert "(was not set)" in text
    assert f"{PROTOCOL_KEY} (new sessions)" in changes._repr_html_()


@pytest.mark.parametrize(("before", "after"), [("file", "magic"), ("directory", "directory")])
def test_with_hadoop_aws_other_writers_get_its_committers(configure, before, after):
    session = FakeClassic()
    session.has_s3a = True
    session.hadoop["fs.s3a.committer.name"] = before
    configure(session)
    assert session.hadoop["fs.s3a.committer.name"] == after
    key = "mapreduce.outputcommitter.factory.scheme.s3a"
    assert session.hadoop[key] == S3A_FACTORY_CLASS
    assert session.hadoop["fs.s3a.committer.abort.pending.uploads"] == "false"


def test_the_second_time_nothing_changes(configure):
    session = FakeClassic()
    configure(session)
    again = configure(session)
    assert again == mc.SessionChanges(None, ())
    assert not again.changed
    assert str(again).startswith("Nothing to change")
    assert len(session.added) == 1


def test_a_session_that_has_the_jar_needs_none_of_the_package(tmp_path, monkeypatch):
    """As in a zip without its jar."""
    monkeypatch.setattr("manifest_committer.session._package_directory", lambda: tmp_path)
    (tmp_path / "a b").mkdir()
    jar = tmp_path / "a b" / "manifest-committer-0.1.0.jar"
    jar.touch()
    session = FakeClassic(loaded=_jvm.LoadedJar("0.1.0", jar.as_uri()))
    monkeypatch.setattr(_jvm, "ClassicSession", lambda _: session)
    assert mc.configure_session(FakeClassicSpark()).jar_added is None
    assert session.shared == [str(jar)]
    assert session.added == []
    assert session.settings[PROTOCOL_KEY] == PROTOCOL_CLASS


def test_a_factory_that_hadoop_does_not_find_is_not_bound(configure):
    session = FakeClassic(shares=False)
    session.hadoop[ABFS_KEY] = "other.Factory"
    changes = configure(session)
    assert session.hadoop == {ABFS_KEY: "other.Factory"}
    assert changes.settings == (mc.SettingChange(PROTOCOL_KEY, SPARKS_OWN, PROTOCOL_CLASS),)
    assert session.later == {}, "other threads would not find the class"


@pytest.mark.parametrize("version", ["0.0.9", None])
def test_another_version_is_refused_and_nothing_changed(configure, version):
    session = FakeClassic(loaded=_jvm.LoadedJar(version, "file:/old.jar"))
    with pytest.raises(mc.JarVersionError, match=r"file:/old\.jar") as caught:
        configure(session)
    assert "0.1.0" in str(caught.value)
    assert session.settings[PROTOCOL_KEY] == SPARKS_OWN
    assert session.added == []


def test_a_class_that_is_no_commit_protocol_is_refused(configure):
    session = FakeClassic(problem="the class is not a subclass of X")
    with pytest.raises(mc.CommitProtocolError, match="not a subclass of X") as caught:
        configure(session)
    assert PROTOCOL_CLASS in str(caught.value)
    assert "configure_builder" in str(caught.value)
    assert session.settings[PROTOCOL_KEY] == SPARKS_OWN


def test_a_missing_jar_is_told_before_anything_changes(tmp_path, monkeypatch):
    monkeypatch.setattr("manifest_committer.session._package_directory", lambda: tmp_path)
    session = FakeClassic()
    monkeypatch.setattr(_jvm, "ClassicSession", lambda _: session)
    with pytest.raises(mc.JarMissingError):
        mc.configure_session(FakeClassicSpark())
    assert session.settings[PROTOCOL_KEY] == SPARKS_OWN


@pytest.mark.parametrize("wrong", [object(), "spark", None])
def test_something_else_is_refused(wrong):
    with pytest.raises(TypeError, match="SparkSession"):
        mc.configure_session(wrong)


class FakeConnect:
    """A Connect session, and its server."""

    __module__ = "pyspark.sql.connect.session"

    def __init__(self, server="0.1.0", has_jar=False, validates=True, broken=False):
        self.server = server
        self.has_jar = has_jar
        self.validates = validates
        self.broken = broken
        self.settings = {PROTOCOL_KEY: SPARKS_OWN}
        self.artifacts = []
        self.conf = self

    def get(self, key, _):
        return self.settings[key]

    def set(self, key, value):
        if self.validates and not self.has_jar:
            raise ValueError(f"The value '{value}' is invalid: class must be loadable")
        self.settings[key] = value

    def sql(self, query):
        assert "io.manifestcommitter.BuildInfo" in query
        if self.broken:
            raise OSError("connection refused")
        if not self.has_jar:
            raise ValueError("[DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE] it is not there")
        return self

    def collect(self):
        return [(self.server,)]

    def addArtifact(self, path):  # noqa: N802
        self.artifacts.append(path)
        self.has_jar = not path.endswith("useless.jar")


@pytest.mark.parametrize("validates", [True, False], ids=["Spark 4", "Spark 3.5"])
def test_a_connect_session_gets_the_artifact_once(jar, validates):
    spark = FakeConnect(validates=validates)
    changes = mc.configure_session(spark)
    assert spark.artifacts == [jar]
    assert spark.settings == {PROTOCOL_KEY: PROTOCOL_CLASS}
    assert changes == mc.SessionChanges(
        jar, (mc.SettingChange(PROTOCOL_KEY, SPARKS_OWN, PROTOCOL_CLASS),)
    )
    assert not mc.configure_session(spark).changed
    assert spark.artifacts == [jar]


def test_a_connect_server_that_has_the_jar_gets_no_artifact(tmp_path, monkeypatch):
    monkeypatch.setattr("manifest_committer.session._package_directory", lambda: tmp_path)
    spark = FakeConnect(has_jar=True)
    assert mc.configure_session(spark).jar_added is None
    assert spark.artifacts == []


@pytest.mark.parametrize(
    ("server", "error", "message"),
    [
        ({"server": "0.0.9"}, mc.JarVersionError, r"0\.0\.9"),
        ({"broken": True}, mc.ConnectSessionError, "connection refused"),
    ],
)
def test_a_connect_server_that_cannot_be_bound_keeps_its_setting(jar, server, error, message):
    spark = FakeConnect(has_jar=True, **server)
    with pytest.raises(error, match=message):
        mc.configure_session(spark)
    assert spark.settings[PROTOCOL_KEY] == SPARKS_OWN


def test_a_connect_server_that_cannot_use_the_class_says_so(jar, monkeypatch):
    spark = FakeConnect()
    monkeypatch.setattr(spark, "addArtifact", lambda _: None)
    with pytest.raises(mc.CommitProtocolError, match="must be loadable"):
        mc.configure_session(spark)
