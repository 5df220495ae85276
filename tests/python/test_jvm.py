# SPDX-License-Identifier: Apache-2.0
"""The doorway to the JVM, as far as it can be tested without one."""

import pytest

import manifest_committer as mc
from manifest_committer import _jvm


class FakeThrowable:
    """A Java throwable as py4j hands it out."""

    def __init__(self, name, message):
        self.name = name
        self.message = message

    def getClass(self):  # noqa: N802
        return self

    def getName(self):  # noqa: N802
        return self.name

    def toString(self):  # noqa: N802
        return f"{self.name}: {self.message}\n\tat some.Place"


class FakeJavaError(Exception):
    """py4j's Py4JJavaError."""

    def __init__(self, name, message=""):
        super().__init__(message)
        self.java_exception = FakeThrowable(name, message)


class FakeSpark:
    """A classic session; its filesystem throws what it is told to."""

    def __init__(self, error=None, stopped=False):
        self.error = error
        self.stopped = stopped
        self.statements = []
        self._jvm = self._jsparkSession = self._jsc = self.sparkContext = self
        self._gateway = None

    def sc(self):
        return self

    def isStopped(self):  # noqa: N802
        return self.stopped

    def sql(self, statement):
        self.statements.append(statement)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "Path":
            raise self.error
        return self


class FakeLoader:
    """A class loader that fails."""

    def __init__(self, error):
        self.error = error

    def loadClass(self, _):  # noqa: N802
        raise self.error


def test_a_stopped_session_is_refused():
    with pytest.raises(ValueError, match="stopped"):
        _jvm.open_session(FakeSpark(stopped=True))


@pytest.mark.parametrize(
    ("jar", "statement"),
    [
        ("/a/b.jar", "ADD JAR '/a/b.jar'"),
        ("/it's.jar", "ADD JAR '/it\\'s.jar'"),
        ("C:\\x.jar", "ADD JAR 'C:\\\\x.jar'"),
    ],
)
def test_the_path_of_a_jar_is_quoted(jar, statement):
    spark = FakeSpark()
    _jvm.open_session(spark).add_jar(jar)
    assert spark.statements == [statement]


def test_a_file_that_is_not_there_is_no_error():
    session = _jvm.open_session(FakeSpark(FakeJavaError("java.io.FileNotFoundException")))
    assert session.find("/x") is None


def test_an_error_of_the_filesystem_names_path_and_cause():
    session = _jvm.open_session(FakeSpark(FakeJavaError("java.io.IOException", "no route")))
    with pytest.raises(mc.StorageError, match=r"look up gs://b/t: java.io.IOException: no route\."):
        session.find("gs://b/t")
    with pytest.raises(mc.StorageError, match="read gs://b/t"):
        list(session.chunks("gs://b/t"))


def test_an_error_of_python_stays_what_it_is():
    with pytest.raises(ZeroDivisionError):
        _jvm.open_session(FakeSpark(ZeroDivisionError())).find("/x")


def test_why_a_class_is_not_loaded():
    missing = FakeLoader(FakeJavaError("java.lang.ClassNotFoundException", "x.Y"))
    assert _jvm._load(missing, "x.Y") == (None, "the class is not on the driver's class path")
    too_new = FakeLoader(FakeJavaError("java.lang.UnsupportedClassVersionError", "55.0"))
    assert _jvm._load(too_new, "x.Y") == (
        None,
        "the class cannot be loaded (java.lang.UnsupportedClassVersionError: 55.0)",
    )
    with pytest.raises(ZeroDivisionError):
        _jvm._load(FakeLoader(ZeroDivisionError()), "x.Y")
