# SPDX-License-Identifier: Apache-2.0
"""committer_info: what it asks of a session, and what it makes of the answer."""

import pytest
from fakes import FakeClassicSpark, FakeConnect

import manifest_committer as mc
from manifest_committer import _jvm
from manifest_committer.session import PROTOCOL_CLASS, PROTOCOL_KEY

STREAMING_KEY = "spark.sql.streaming.commitProtocolClass"
REPORT = {
    "path": "gs://b/t",
    "scheme": "gs",
    "ok": False,
    "served": True,
    "version": "0.1.0",
    "hadoopVersion": "3.5.0",
    "fileSystem": "x.FileSystem",
    "fileSystemJar": "x.jar",
    "committer": None,
    "description": None,
    "jobDirectory": None,
    "workPath": None,
    "factory": "x.Factory",
    "factoryKey": "k",
    "factorySource": "mapred-default.xml",
    "commitProtocol": {"value": "x.Protocol", "source": "this session"},
    "parquetCommitter": {"value": "x.Parquet", "source": "Spark's default"},
    "outputCommitter": None,
    "streamingProtocol": {"value": "x.Streaming", "source": "Spark's default"},
    "options": {
        "o": {
            "value": "1",
            "source": "core-site.xml",
            "default": "2",
            "meaning": "How many. Or so.",
        }
    },
    "watching": {"console": {"shown": False, "how": "no bar"}},
    "problems": [
        {
            "severity": "error",
            "code": "no-factory",
            "text": "none is bound",
            "repair": {"settings": {"k": "v", "gone": None}, "jar": None, "path": None},
        }
    ],
}


class FakeClassic:
    """The JVM side of a classic session."""

    def __init__(self, loaded=None):
        self.loaded = loaded
        self.asked = None

    def loaded_jar(self):
        return self.loaded

    def settings(self, keys):
        return dict.fromkeys(keys, "as it is")

    def committer_info(self, settings, path, jar):
        self.asked = (settings, path, jar)
        return REPORT


@pytest.fixture
def ask(jar, monkeypatch):
    """committer_info over a fake classic session."""

    def run(session):
        monkeypatch.setattr(_jvm, "ClassicSession", lambda _: session)
        return mc.committer_info(FakeClassicSpark(), "gs://b/t")

    return run


def test_what_a_classic_session_is_asked(ask, jar):
    session = FakeClassic()
    ask(session)
    settings, path, package_jar = session.asked
    assert {PROTOCOL_KEY, STREAMING_KEY} <= set(settings)
    assert (path, package_jar) == ("gs://b/t", jar)


def test_the_answer(ask):
    info = ask(FakeClassic(loaded=_jvm.LoadedJar("0.1.0", "file:/x.jar")))
    assert (info.path, info.scheme, info.ok) == ("gs://b/t", "gs", False)
    assert (info.factory, info.factory_key) == ("x.Factory", "k")
    assert info.factory_source == "mapred-default.xml"
    assert info.committer is None
    assert str(info.file_system) == "x.FileSystem (x.jar)"
    assert str(info.commit_protocol) == "x.Protocol (this session)"
    assert info.output_committer is None
    assert info.options == {"o": mc.OptionSetting("1", "core-site.xml", "2", "How many. Or so.")}
    assert info.watching == {"console": mc.WatchPlace(False, "no bar")}
    assert str(info.watching["console"]) == "no, no bar"
    (problem,) = info.problems
    assert info.problem("no-factory") is problem
    assert info.problem("other") is None
    assert str(problem) == "error no-factory: none is bound"
    assert problem.repair == mc.Repair({"k": "v", "gone": None}, None, None)
    assert str(info) == mc.info.info_text(REPORT)
    with pytest.raises(AttributeError):
        info.ok = True


SHORT = [
    "gs://b/t: not ok, 1 error",
    "  Spark SQL        Protocol (this session)",
    "  Hadoop, RDDs     Factory (k, mapred-default.xml)",
    "  Option o = 1 (core-site.xml), by default 2: How many",
    "  ERROR no-factory: none is bound.",
    "    Repair: set spark.hadoop.k = v",
    "    Repair: remove spark.hadoop.gone",
]


def test_the_text_begins_with_the_verdict_and_leaves_out_notes():
    assert mc.info.info_text(REPORT).splitlines() == SHORT
    note = REPORT["problems"][0] | {"severity": "note", "text": "worth knowing"}
    text = mc.info.info_text(REPORT | {"problems": [*REPORT["problems"], note]})
    assert text.splitlines() == [*SHORT, "  1 note, shown by --verbose and by .details in Python"]


def test_the_details():
    assert mc.info.info_text(REPORT, verbose=True).splitlines() == [
        *SHORT,
        "  Spark SQL and DataFrames",
        "    Protocol       x.Protocol (this session)",
        "    Streaming      x.Streaming (Spark's default)",
        "  MapReduce jobs and RDD writers",
        "    Committer      not made",
        "    Factory        x.Factory",
        "    FileSystem     x.FileSystem (x.jar)",
        "  Watching commits",
        "    Console        no, no bar",
        "  Seen by manifest-committer 0.1.0 on Hadoop 3.5.0",
    ]


OURS = {"value": PROTOCOL_CLASS, "source": "this session"}
SPARKS = {"value": "o.SQLHadoopMapReduceCommitProtocol", "source": "Spark's default"}
STOCK = {"value": "o.PathOutputCommitProtocol", "source": "this session"}
BOUND = {"committer": "io.manifestcommitter.ManifestCommitter"}
UNBOUND = {"committer": "o.FileOutputCommitter", "factorySource": None}


@pytest.mark.parametrize(
    ("protocol", "changed", "verdict", "sparks", "hadoops"),
    [
        (
            OURS,
            BOUND | {"ok": True},
            "ok, the manifest committer commits Spark SQL, MapReduce jobs and RDDs",
            "the manifest committer (this session)",
            "the manifest committer (k, mapred-default.xml)",
        ),
        (
            OURS,
            UNBOUND | {"ok": True},
            "ok, the manifest committer commits Spark SQL",
            "the manifest committer (this session)",
            "FileOutputCommitter (the default)",
        ),
        (
            STOCK,
            BOUND | {"ok": True},
            "ok, the manifest committer commits Spark SQL, MapReduce jobs and RDDs",
            "PathOutputCommitProtocol (this session)",
            "the manifest committer (k, mapred-default.xml)",
        ),
        (
            SPARKS,
            UNBOUND | {"served": False},
            "not by the manifest committer",
            "Spark's own commit protocol (Spark's default)",
            "FileOutputCommitter (the default)",
        ),
        (
            None,
            UNBOUND | {"served": False},
            "not known for Spark SQL; MapReduce jobs and RDDs get another committer",
            "not known, since no setting of Spark was given. In a session, ask "
            "mc.committer_info(spark, path)",
            "FileOutputCommitter (the default)",
        ),
    ],
)
def test_the_verdict_and_who_commits(protocol, changed, verdict, sparks, hadoops):
    report = REPORT | {"commitProtocol": protocol, "problems": [], "options": {}} | changed
    assert mc.info.info_text(report).splitlines() == [
        f"gs://b/t: {verdict}",
        f"  Spark SQL        {sparks}",
        f"  Hadoop, RDDs     {hadoops}",
    ]


def test_in_lakefs_our_factory_commits_nothing():
    api = {"value": "http://x/api/v1", "source": "k", "default": None, "meaning": None}
    report = REPORT | {"ok": True, "commitProtocol": OURS, "problems": []}
    report |= {"factory": mc.session.FACTORY_CLASS}
    text = mc.info.info_text(report | {"options": {"fs.lakefs.endpoint": api}}).splitlines()
    assert text[0] == "gs://b/t: ok, the manifest committer commits Spark SQL"
    assert text[2].split(None, 2)[2] == (
        "ManifestCommitterFactory, which refuses them in lakeFS (k, mapred-default.xml)"
    )


def test_a_path_that_is_none():
    unknown = dict.fromkeys(("commitProtocol", "factory", "factoryKey", "factorySource"))
    report = REPORT | unknown | {"path": "a\x1b[2J\nb", "served": False, "watching": {}}
    lines = mc.info.info_text(report).splitlines()
    assert lines[0] == "a\\x1b[2J\\nb: not by the manifest committer, 1 error"
    assert lines[1].startswith("  Spark SQL        not known")
    assert "    Repair: set k = v" in lines
    assert "null" not in mc.info.info_text(report, verbose=True)


@pytest.mark.parametrize("version", ["0.0.9", None])
def test_another_version_is_refused(ask, version):
    with pytest.raises(mc.JarVersionError, match=r"file:/old\.jar"):
        ask(FakeClassic(loaded=_jvm.LoadedJar(version, "file:/old.jar")))


def test_what_a_connect_server_is_asked(jar):
    spark = FakeConnect(
        "0.1.0",
        REPORT,
        settings={PROTOCOL_KEY: PROTOCOL_CLASS, "secret": "*********(redacted)", "it's": "a\\b"},
    )
    assert mc.committer_info(spark, "gs://b/it's").path == "gs://b/t"
    version, _, question = spark.queries
    assert version == (
        "SELECT java_method('io.manifestcommitter.BuildInfo', 'version') FROM VALUES (0)"
    )
    assert question.startswith(
        "SELECT java_method('io.manifestcommitter.info.CommitterInfo', 'ofConnect', "
    )
    assert "'gs://b/it\\'s'" in question
    assert "secret" not in question
    assert 'a\\\\\\\\b", "source": "this session"' in question


def test_a_connect_server_without_our_jar(jar):
    error = RuntimeError("[DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE] class is not there\n at x")
    spark = FakeConnect(error, settings={PROTOCOL_KEY: "x.Protocol"})
    with pytest.raises(mc.JarNotLoadedError, match=r"commits by x\.Protocol") as caught:
        mc.committer_info(spark, "gs://b/t")
    assert "configure_session(spark)" in str(caught.value)
    assert "manifest-committer info" in str(caught.value)


def test_a_connect_server_with_another_version(jar):
    with pytest.raises(mc.JarVersionError, match=r"0\.0\.9"):
        mc.committer_info(FakeConnect("0.0.9"), "gs://b/t")
