# SPDX-License-Identifier: Apache-2.0
"""What is asked of a Connect server, and what its answers become."""

import base64

import pytest
from fakes import FakeConnect

import manifest_committer as mc
from manifest_committer import _jvm


def session(*answers):
    return _jvm.ConnectSession(FakeConnect(*answers))


def test_a_file_is_found_and_read():
    found = {"path": "file:/t/_SUCCESS", "isDirectory": False, "length": 5}
    chunks = [base64.b64encode(part).decode() for part in (b"abc", b"de", b"")]
    one = session({"value": found}, *({"value": chunk} for chunk in chunks))
    assert one.find("/t/_SUCCESS") == _jvm.RemoteFile("file:/t/_SUCCESS", False, 5)
    assert b"".join(one.chunks("/t/_SUCCESS")) == b"abcde"
    offsets = [query.partition('"offset": ')[2].split(",")[0] for query in one._spark.queries]
    assert offsets == ["", "0", "3", "5"]


def test_nothing_is_none():
    assert session({"value": None}).find("/t") is None


def test_paths_are_quoted():
    one = session({"value": None})
    one.find("/t/it's ${a} \\ ü")
    (query,) = one._spark.queries
    assert query.endswith(") FROM VALUES (0)")
    assert "$" not in query, "Spark would take it for a variable"
    assert "it\\'s" in query


def test_what_the_store_refuses_is_a_storage_error():
    with pytest.raises(mc.StorageError, match="AccessControlException: no right"):
        session({"error": "AccessControlException: no right"}).find("/t")


def test_what_is_not_there_has_an_error_of_its_own():
    for act in (mc.recover, mc.clean, mc.history):
        with pytest.raises(mc.PathNotFoundError, match="/t: there is nothing at that path"):
            act(FakeConnect("0.1.0", {"error": "NothingThere: /t", "missing": True}), "/t")


def test_a_server_that_cannot_be_asked():
    with pytest.raises(mc.ConnectSessionError, match=r"could not be asked \(no connection\)"):
        session(OSError("no connection\n at x")).find("/t")
    forbidden = RuntimeError("io.manifestcommitter.cli.OnServer: java_method is not allowed")
    with pytest.raises(mc.ConnectSessionError, match="allows the SQL function java_method"):
        session(forbidden).find("/t")


class SparkError(Exception):
    """As Spark 4's client has it: the condition apart from the text."""

    def getCondition(self):  # noqa: N802
        return "DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE"


@pytest.mark.parametrize(
    "missing",
    [
        SparkError("whatever the text is"),
        RuntimeError("[DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE] whatever the text is"),
        RuntimeError("(x.AnalysisException) [DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE] whatever"),
    ],
)
def test_a_server_without_our_jar(missing):
    with pytest.raises(mc.JarNotLoadedError, match=r"configure_session\(spark\)"):
        session(missing).find("/t")
    assert session(missing).loaded_jar() is None
    with pytest.raises(mc.JarNotLoadedError):
        mc.clean(FakeConnect(missing), "/t")


def test_each_question_is_answered_once():
    """The server may compute a query twice; it knows a question by its id."""
    one = session({"value": []}, {"value": []})
    one.recover("/t", complete=False, force=True)
    one.recover("/t", complete=False, force=True)
    first, second = (query.partition('"id": "')[2].split('"')[0] for query in one._spark.queries)
    assert first < second


def test_another_version_of_the_jar_is_refused():
    with pytest.raises(mc.JarVersionError, match="on the Connect server"):
        _jvm.open_ready(FakeConnect("0.0.1"))
