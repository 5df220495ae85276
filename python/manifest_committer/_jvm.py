# SPDX-License-Identifier: Apache-2.0
"""The one doorway to the driver's JVM; no other module touches py4j, or decodes JSON.

py4j objects have no static types, so this module speaks ``Any`` inwards and plain Python
values outwards.
"""

import base64
import importlib.util
import json
import os
import re
import sys
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from manifest_committer._spark_home import require_pyspark
from manifest_committer._version import __version__
from manifest_committer.errors import (
    ConnectSessionError,
    JarNotLoadedError,
    JarVersionError,
    ManifestCommitterError,
    PathNotFoundError,
    SparkMissingError,
    StorageError,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from pyspark.sql import SparkSession as _ClassicSpark
    from pyspark.sql.connect.session import SparkSession as _ConnectSpark

    SparkSession: TypeAlias = _ClassicSpark | _ConnectSpark
    """What users hand to this package. The classes have no common base that says all we need."""

_BUILD_INFO = "io.manifestcommitter.BuildInfo"
_MUTABLE_LOADER = "org.apache.spark.util.MutableURLClassLoader"
_COMMIT_PROTOCOL = "org.apache.spark.internal.io.FileCommitProtocol"
_COMMITTER_INFO = "io.manifestcommitter.info.CommitterInfo"
_ANSWERS = "io.manifestcommitter.cli.Answers"
_NOTHING_THERE = "io.manifestcommitter.cli.NothingThereException"
_COMMAND_LINE = "io.manifestcommitter.cli.CommandLine"
_ON_SERVER = "io.manifestcommitter.cli.OnServer"
_BY_REFLECTION = "java.lang.reflect.InvocationTargetException"
_CHUNK = 4 * 1024 * 1024
_BUFFER = 64 * 1024
_SHOWN_WHOLE = ("s3a", "gs", "lakefs")
"""Stores that show a file once it is closed, the one before it until then."""

_ABOVE_ROOT = re.compile(r"^(/\.\.)+(?=/|$)")

_NO_CLASS = "DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE"
"""Spark's condition where ``java_method`` does not find a class."""

_CONDITION = re.compile(r"(?:\([\w.]+\) )?\[([A-Z0-9_.]+)\]")
_ENDED = "Java ended before it had answered. Its own words are above; else look for who killed it."
_REDACTED = "(redacted)"
_OF_SESSION = "this session"
_OF_SPARK = "Spark's default"

Settings = dict[str, dict[str, str]]
"""Values and sources of settings, by their keys."""


@dataclass(frozen=True)
class LoadedJar:
    """The manifest-committer jar that a class loader of the JVM sees."""

    version: str | None
    """Its version; None when the jar is too old to say."""
    location: str
    """Where it was loaded from, as a URL."""


@dataclass(frozen=True)
class RemoteFile:
    """A file or directory on any Hadoop filesystem."""

    path: str
    """The qualified path, with its scheme."""
    is_directory: bool
    length: int
    """Length in bytes; 0 for a directory."""


class Settable(Protocol):
    """Settings that all sessions of a driver share."""

    def get(self, key: str) -> str | None:
        """A setting; None if it was not made."""

    def set(self, key: str, value: str) -> None:
        """Change a setting."""


class HadoopSettings(Settable, Protocol):
    """The Hadoop configuration that all sessions of a driver share."""

    def loads(self, class_name: str) -> bool:
        """Whether Hadoop finds the class, as its factories are looked up."""


class Session(Protocol):
    """What this package asks of a session, classic or Connect.

    Each method but `setting` raises a ConnectSessionError if the Connect server cannot be asked.
    """

    @property
    def hadoop(self) -> HadoopSettings | None:
        """The driver's; None where it is out of reach."""

    @property
    def later(self) -> Settable | None:
        """What sessions that are made later begin with; None where it is out of reach."""

    def setting(self, key: str) -> str | None:
        """A setting of the session, or its default; None if it has neither."""

    def settings(self, keys: Iterable[str]) -> Settings:
        """These settings as they are, with where they were made; a Connect session adds others."""

    def set_setting(self, key: str, value: str) -> None:
        """Change a setting of the session."""

    def loaded_jar(self) -> LoadedJar | None:
        """Our jar as this session sees it; None if it does not."""

    def add_jar(self, jar: str) -> None:
        """Add a jar to the session and to the executors."""

    def share_jar(self, jar: Callable[[], str]) -> bool:
        """Make the jar visible to every thread of the driver; False if it takes no more jars."""

    def protocol_problem(self, class_name: str) -> str | None:
        """Why Spark cannot use this class as its commit protocol; None if nothing is known."""

    def find(self, path: str) -> RemoteFile | None:
        """The file or directory at the path; None if there is nothing.

        Raises:
            StorageError: the filesystem could not say.
        """

    def chunks(self, path: str) -> Iterator[bytes]:
        """The content of a file, in pieces of at most 4 MiB.

        Raises:
            StorageError: the filesystem could not read it.
        """

    def put(self, local: str, path: str) -> None:
        """Copy a local file to a path, over what is there; no reader sees half of it.

        Raises:
            StorageError: the filesystem failed.
            ConnectSessionError: a Connect session, which cannot write.
        """

    def files_below(self, path: str) -> list[str]:
        """The files below a directory, relative to it; none if there is no directory.

        Raises:
            StorageError: the filesystem failed.
            ConnectSessionError: a Connect session, which cannot list.
        """

    def remove(self, path: str) -> None:
        """Delete a file, if it is there.

        Raises:
            StorageError: the filesystem failed.
            ConnectSessionError: a Connect session, which cannot delete.
        """

    def committer_info(self, settings: Settings, path: str, jar: str) -> Mapping[str, Any]:
        """What our Java class says of the committers for a path, as this session sees them.

        Args:
            settings: those of Spark's settings that decide.
            path: where a job would write.
            jar: our jar, for a classic session that does not have it, and stays without it.
        """

    def recover(self, path: str, *, complete: bool, force: bool) -> list[dict[str, Any]]:
        """What our Java class did about the jobs that died in a table.

        Raises:
            PathNotFoundError: there is no table.
            StorageError: the table cannot be looked at.
        """

    def clean(
        self, path: str, *, older_than: str, dry_run: bool, discard_unfinished: bool, force: bool
    ) -> list[dict[str, Any]]:
        """What our Java class did about a table's staging directories.

        Raises:
            PathNotFoundError: there is no table.
            StorageError: the table cannot be listed, or `older_than` is no length of time.
        """

    def commit_ids(self, path: str, commit_id: str, *, forget: bool) -> list[dict[str, Any]]:
        """What our Java class knows of the identities that a table remembers; all if one is "".

        Raises:
            PathNotFoundError: there is no table.
            StorageError: the table cannot be looked at.
        """

    def held(self, path: str, job_id: str, action: str) -> list[dict[str, Any]]:
        """What our Java class knows of a table's held jobs, or does about one.

        Args:
            path: the table.
            job_id: which is ended; "" for none.
            action: ``publish`` or ``discard`` that job; "" to change nothing.

        Raises:
            PathNotFoundError: there is no table.
            StorageError: the table cannot be looked at, or the action could not be done.
        """

    def table_files(self, path: str) -> list[dict[str, Any]]:
        """What our Java class found of the files of a table.

        Raises:
            PathNotFoundError: there is no table.
            StorageError: the table cannot be read as a whole.
        """

    def history(self, path: str) -> dict[str, Any]:
        """What our Java class read of the jobs whose reports a directory has.

        Raises:
            PathNotFoundError: there is no directory.
            StorageError: the directory cannot be listed.
        """

    def commits(self) -> list[dict[str, Any]]:
        """The commits of this driver, or of this session of a Connect server."""

    def cancel(self, job_id: str) -> bool:
        """Cancel the commit of a job; False if that comes too late."""


def encoded(value: Any) -> str:
    """A value as JSON on one line of ASCII, as the Java side writes it."""
    return json.dumps(value, separators=(",", ":"))


def decoded(document: str | bytes) -> Any:
    """What a JSON document says.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return json.loads(document.decode("utf-8") if isinstance(document, bytes) else document)
    except RecursionError as error:
        raise ValueError(f"it is nested too deep ({error})") from error


def is_connect(spark: Any) -> bool:
    """Whether this session, or builder, is one of Spark Connect."""
    return any(cls.__module__.startswith("pyspark.sql.connect") for cls in type(spark).__mro__)


def is_client() -> bool:
    """Whether the imported PySpark has no Spark, and so no JVM: the package pyspark-client."""
    pyspark = sys.modules.get("pyspark")
    return pyspark is not None and not hasattr(pyspark, "SparkContext")


def is_lost_call(error: BaseException | None) -> bool:
    """Whether the connection to the JVM broke in a call, which may go on there."""
    protocol: Any = sys.modules.get("py4j.protocol")
    if protocol is None or isinstance(error, protocol.Py4JJavaError):
        return False
    return isinstance(error, protocol.Py4JError)


def open_session(spark: Any) -> Session:
    """The JVM side of a session.

    Raises:
        SparkVersionError: PySpark is older than 3.5.
        TypeError: not a SparkSession.
    """
    require_pyspark()
    return ConnectSession(spark) if is_connect(spark) else open_classic(spark)


def open_classic(spark: Any) -> "ClassicSession":
    """The JVM side of a classic session.

    Raises:
        TypeError: not a classic SparkSession.
    """
    if not hasattr(spark, "_jsparkSession"):
        raise TypeError(
            f"expected a SparkSession, got {type(spark).__name__}; for a builder, call "
            "configure_builder(builder)"
        )
    return ClassicSession(spark)


def open_process() -> "ProcessJvm | None":
    """The JVM that already runs for this process, without starting one.

    It is there once a first session was made, and from the start under ``spark-submit``.
    """
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if is_client():
        return None
    if not submitted and "pyspark" not in sys.modules:
        return None
    from pyspark import SparkContext

    if SparkContext._gateway is None or SparkContext._jvm is None:
        if not submitted:
            return None
        SparkContext._ensure_initialized()
    return ProcessJvm(SparkContext)


def open_ready(spark: Any) -> Session:
    """The JVM side of a session that has our jar, in our version.

    Raises:
        JarNotLoadedError: it does not have it.
        JarVersionError: it has another version.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    session = open_session(spark)
    if check_version(session.loaded_jar()) is None:
        raise JarNotLoadedError()
    return session


def check_version(loaded: LoadedJar | None) -> LoadedJar | None:
    """The same jar, or none.

    Raises:
        JarVersionError: it is of another version.
    """
    if loaded is not None and loaded.version != __version__:
        raise JarVersionError(loaded.version, loaded.location, __version__)
    return loaded


class _Driver:
    """A JVM that this process reaches by py4j."""

    def __init__(self, jvm: Any, gateway: Any) -> None:
        self._jvm = jvm
        self._gateway = gateway

    def _loader(self) -> Any:
        """The class loader that sees our jar."""
        return self._jvm.java.lang.Thread.currentThread().getContextClassLoader()

    def loaded_jar(self) -> LoadedJar | None:
        """Our jar as new threads see it; None if they do not."""
        info, _ = _load(self._loader(), _BUILD_INFO)
        if info is None:
            return None
        source = info.getProtectionDomain().getCodeSource()
        location = "unknown place" if source is None else str(source.getLocation().toString())
        try:
            version = self._call(info, "version")
        except Exception as error:
            if _java_class(error) is None:
                raise
            version = None  # A repackaged jar, which has lost the file with its version.
        return LoadedJar(version=version, location=location)

    def share_jar(self, jar: Callable[[], str]) -> bool:
        """Make the jar visible to all threads; False if this JVM's loader cannot."""
        from py4j.java_gateway import is_instance_of

        outermost, loader = None, self._loader()
        while loader is not None and is_instance_of(self._gateway, loader, _MUTABLE_LOADER):
            outermost, loader = loader, loader.getParent()
        if outermost is None:
            return False
        if _load(outermost, _BUILD_INFO)[0] is None:
            outermost.addURL(self._jvm.java.io.File(jar()).toURI().toURL())
        return True

    def commits(self) -> list[dict[str, Any]]:
        """What our Java class knows of the commits of this JVM; nothing without it."""
        owner, _ = _load(self._loader(), _ANSWERS)
        return [] if owner is None else list(self._answer(owner, None, "commits"))

    def cancel(self, job_id: str) -> bool:
        """Cancel the commit of a job; False if that comes too late."""
        owner, _ = _load(self._loader(), _ANSWERS)
        return bool(self._answer(owner, None, "cancel", jobId=job_id))

    def calling_thread(self) -> int | None:
        """The JVM's thread that runs what this thread calls; None where all share a few of them."""
        if type(self._gateway).__name__ != "ClientServer":
            return None  # Without PYSPARK_PIN_THREAD.
        return int(self._jvm.java.lang.Thread.currentThread().getId())

    def _answer(self, owner: Any, conf: Any, what: str, path: str = "", **given: Any) -> Any:
        """What our Java class answers."""
        return decoded(self._call(owner, "value", conf, what, path, encoded(given)))

    def _call(self, owner: Any, name: str, *arguments: Any) -> str:
        return str(self._invoke(owner, name, *arguments))

    def _invoke(self, owner: Any, name: str, *arguments: Any) -> Any:
        # By reflection, since py4j's own look-up of a class name uses a loader of its choice.
        (method,) = (m for m in owner.getMethods() if m.getName() == name)
        array = self._gateway.new_array(self._jvm.java.lang.Object, len(arguments))
        for index, argument in enumerate(arguments):
            array[index] = argument
        return method.invoke(None, array)


class ProcessJvm(_Driver):
    """The JVM of this process, with or without a session."""

    def __init__(self, spark_context_class: Any) -> None:
        """Take the class that holds PySpark's gateway."""
        super().__init__(spark_context_class._jvm, spark_context_class._gateway)
        self._context_class = spark_context_class

    def has_session(self) -> bool:
        """Whether a SparkContext is active, which a builder would hand out again."""
        return self._context_class._active_spark_context is not None

    def spark_jars(self) -> str:
        """``spark.jars`` as the JVM was started with it; empty if it was not."""
        return str(self._jvm.org.apache.spark.SparkConf().get("spark.jars", ""))


class _SharedHadoop:
    """The Hadoop configuration of a classic session's driver."""

    def __init__(self, configuration: Any) -> None:
        self._configuration = configuration

    def loads(self, class_name: str) -> bool:
        return self._configuration.getClassByNameOrNull(class_name) is not None

    def get(self, key: str) -> str | None:
        value = self._configuration.get(key)
        return None if value is None else str(value)

    def set(self, key: str, value: str) -> None:
        self._configuration.set(key, value)


class _LaterSessions:
    """What new sessions of a driver begin with, and what ``RESET`` goes back to.

    Sessions share a copy of the context's settings. The first session after all others are gone
    takes a new copy, so the context has to have them, too.
    """

    def __init__(self, of_context: Any, of_sessions: Any) -> None:
        self._of_context = of_context
        self._of_sessions = of_sessions

    def get(self, key: str) -> str | None:
        return str(self._of_sessions.get(key, "")) or None

    def set(self, key: str, value: str) -> None:
        for settings in (self._of_context, self._of_sessions):
            settings.set(key, value)


class _Answered(ABC):
    """What both kinds of sessions ask our Java class about a path, each in a way of its own."""

    @abstractmethod
    def _value(self, what: str, action: str, path: str, **given: Any) -> Any:
        """The answer to a question; `action` says in errors what could not be done."""

    def recover(self, path: str, *, complete: bool, force: bool) -> list[dict[str, Any]]:
        return list(self._value("recover", "recover", path, complete=complete, force=force))

    def clean(
        self, path: str, *, older_than: str, dry_run: bool, discard_unfinished: bool, force: bool
    ) -> list[dict[str, Any]]:
        given = {
            "olderThan": older_than,
            "dryRun": dry_run,
            "discardUnfinished": discard_unfinished,
            "force": force,
        }
        return list(self._value("clean", "clean", path, **given))

    def commit_ids(self, path: str, commit_id: str, *, forget: bool) -> list[dict[str, Any]]:
        action = "look for commits in"
        return list(self._value("ids", action, path, commitId=commit_id, forget=forget))

    def held(self, path: str, job_id: str, action: str) -> list[dict[str, Any]]:
        told = f"{action or 'look for'} held jobs in"
        return list(self._value("held", told, path, jobId=job_id, end=action))

    def table_files(self, path: str) -> list[dict[str, Any]]:
        return list(self._value("files", "list", path))

    def history(self, path: str) -> dict[str, Any]:
        return dict(self._value("history", "read the history in", path))


class _Reached(_Driver, _Answered):
    """A JVM in which this process opens Hadoop's filesystems itself."""

    @abstractmethod
    def _configuration(self) -> Any:
        """Hadoop's, with all settings."""

    def find(self, path: str) -> RemoteFile | None:
        try:
            hadoop_path, filesystem = self._open(path)
            status = filesystem.getFileStatus(hadoop_path)
            return RemoteFile(
                path=str(status.getPath().toString()),
                is_directory=bool(status.isDirectory()),
                length=int(status.getLen()),
            )
        except Exception as error:
            if _java_class(error) == "java.io.FileNotFoundException":
                return None
            raise _storage_error(error, "look up", path) from error

    def chunks(self, path: str) -> Iterator[bytes]:
        try:
            hadoop_path, filesystem = self._open(path)
            stream = filesystem.open(hadoop_path)
            try:
                while chunk := bytes(stream.readNBytes(_CHUNK)):
                    yield chunk
            finally:
                stream.close()
        except Exception as error:
            raise _storage_error(error, "read", path) from error

    def _value(self, what: str, action: str, path: str, **given: Any) -> Any:
        owner, _ = _load(self._loader(), _ANSWERS)
        try:
            return self._answer(owner, self._configuration(), what, path, **given)
        except Exception as error:
            raise _storage_error(error, action, path) from error

    def _open(self, path: str) -> tuple[Any, Any]:
        uri = self._jvm.org.apache.hadoop.fs.Path(path).toUri()
        # The root of a store has a slash, and nothing is above it.
        plain = _ABOVE_ROOT.sub("", str(uri.getPath())) or "/"
        hadoop_path = self._jvm.org.apache.hadoop.fs.Path(
            uri.getScheme(), uri.getAuthority(), plain
        )
        return hadoop_path, hadoop_path.getFileSystem(self._configuration())


class ClassicSession(_Reached):
    """The JVM side of one classic session: see `Session`."""

    def __init__(self, spark: Any) -> None:
        """Take the session; it must not be stopped."""
        if spark._jsc is None or spark._jsc.sc().isStopped():
            raise ValueError("this SparkSession is stopped; make a new one with getOrCreate()")
        super().__init__(spark._jvm, spark.sparkContext._gateway)
        self._spark = spark
        self._session = spark._jsparkSession

    @property
    def hadoop(self) -> HadoopSettings | None:
        return _SharedHadoop(self._spark._jsc.hadoopConfiguration())

    @property
    def later(self) -> Settable | None:
        context = self._spark._jsc.sc().conf()
        return _LaterSessions(context, self._session.sharedState().conf())

    def setting(self, key: str) -> str | None:
        # Without a default of ours, for else Spark would not answer with its own.
        try:
            value = self._spark.conf.get(key)
        except Exception as error:
            if _java_class(error) is None:
                raise
            return None
        return None if value is None else str(value)

    def settings(self, keys: Iterable[str]) -> Settings:
        made = self._session.sessionState().conf()
        values = {key: self.setting(key) for key in keys}
        return {
            key: {"value": value, "source": _OF_SESSION if made.contains(key) else _OF_SPARK}
            for key, value in values.items()
            if value is not None
        }

    def set_setting(self, key: str, value: str) -> None:
        self._spark.conf.set(key, value)

    def add_jar(self, jar: str) -> None:
        """By SQL: ``SparkContext.addJar`` would reach the executors only."""
        self._spark.sql(f"ADD JAR '{_escape(jar)}'")

    def share_jar(self, jar: Callable[[], str]) -> bool:
        """Make the jar visible to every thread of the driver.

        ADD JAR leaves the jar in the context class loader of the calling thread alone: a write
        from another Python thread would not find our class. False if the driver's own class
        loader takes no further jars; then the calling thread at least is set right.
        """
        if super().share_jar(jar):
            return True
        self._jvm.java.lang.Thread.currentThread().setContextClassLoader(self._loader())
        return False

    def protocol_problem(self, class_name: str) -> str | None:
        loader = self._loader()
        loaded, problem = _load(loader, class_name)
        if loaded is None:
            return problem
        base, problem = _load(loader, _COMMIT_PROTOCOL)
        if base is None:
            return problem
        if not base.isAssignableFrom(loaded):
            return f"the class is not a subclass of {_COMMIT_PROTOCOL}"
        return None

    def put(self, local: str, path: str) -> None:
        try:
            target, filesystem = self._open(path)
            target = filesystem.makeQualified(target)
            if str(filesystem.getUri().getScheme()) in _SHOWN_WHOLE:
                self._copy(local, filesystem, target)
                return
            hidden = self._jvm.org.apache.hadoop.fs.Path(
                target.getParent(), f"_{target.getName()}.{uuid.uuid4().hex}.tmp"
            )
            try:
                self._copy(local, filesystem, hidden)
                rename = self._jvm.org.apache.hadoop.fs.Options.Rename
                options = self._gateway.new_array(rename, 1)
                options[0] = rename.OVERWRITE
                self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(
                    filesystem.getUri(), filesystem.getConf()
                ).rename(hidden, target, options)
            except BaseException:
                filesystem.delete(hidden, False)
                raise
        except Exception as error:
            raise _storage_error(error, "write", path) from error

    def _copy(self, local: str, filesystem: Any, target: Any) -> None:
        """Copies a local file. A stream that failed is not closed, for that would show it."""
        source = self._jvm.java.io.FileInputStream(local)
        try:
            stream = filesystem.create(target, True)
            try:
                self._jvm.org.apache.hadoop.io.IOUtils.copyBytes(source, stream, _BUFFER, False)
            except BaseException:
                with suppress(Exception):  # Not every store's streams can be aborted.
                    stream.abort()
                raise
            stream.close()
        finally:
            source.close()

    def files_below(self, path: str) -> list[str]:
        try:
            hadoop_path, filesystem = self._open(path)
            root = f"{filesystem.makeQualified(hadoop_path).toUri().getPath()}/"
            found = []
            files = filesystem.listFiles(hadoop_path, True)
            while files.hasNext():
                found.append(str(files.next().getPath().toUri().getPath()).removeprefix(root))
            return found
        except Exception as error:
            if _java_class(error) == "java.io.FileNotFoundException":
                return []
            raise _storage_error(error, "list", path) from error

    def remove(self, path: str) -> None:
        try:
            hadoop_path, filesystem = self._open(path)
            filesystem.delete(hadoop_path, False)
        except Exception as error:
            raise _storage_error(error, "delete", path) from error

    def committer_info(self, settings: Settings, path: str, jar: str) -> Mapping[str, Any]:
        loader = self._loader()
        arguments = (
            self._spark._jsc.hadoopConfiguration(),
            self._session.sessionState().newHadoopConf(),
            loader,
            json.dumps(settings),
            path,
            jar,
        )
        info, _ = _load(loader, _COMMITTER_INFO)
        if info is not None:
            return dict(decoded(self._call(info, "ofSession", *arguments)))
        urls = self._gateway.new_array(self._jvm.java.net.URL, 1)
        urls[0] = self._jvm.java.io.File(jar).toURI().toURL()
        own = self._jvm.java.net.URLClassLoader(urls, loader)
        try:
            return dict(
                decoded(self._call(own.loadClass(_COMMITTER_INFO), "ofSession", *arguments))
            )
        finally:
            own.close()

    def _configuration(self) -> Any:
        # The session's own Hadoop settings, credentials among them, are in newHadoopConf only.
        return self._session.sessionState().newHadoopConf()

    def _loader(self) -> Any:
        """The loader that ADD JAR extends; it sees all that the driver started with, too."""
        return self._session.sharedState().jarClassLoader()


class SettingError(Exception):
    """A setting, or a file of settings, cannot be used."""


class OwnJvm(_Reached):
    """A JVM without Spark, see `own_jvm`: what waits in it keeps one, and its connections."""

    def __init__(self, gateway: Any, options: Iterable[str]) -> None:
        """Take its gateway, and settings as the mains of our jar take them.

        Raises:
            SettingError: one of the settings is wrong.
        """
        super().__init__(gateway.jvm, gateway)
        parser, problem = _load(self._loader(), _COMMAND_LINE)
        if parser is None:
            raise JarNotLoadedError(problem)
        given = list(options)
        arguments = gateway.new_array(gateway.jvm.java.lang.String, len(given))
        for index, option in enumerate(given):
            arguments[index] = option
        none = gateway.jvm.java.util.HashSet()
        try:
            line = self._invoke(parser, "parse", none, none, arguments)
        except Exception as error:
            if _java_class(error) != f"{_COMMAND_LINE}$UsageException":
                raise
            raise SettingError(str(_java_exception(error).getMessage())) from None
        self._conf = parser.getField("conf").get(line)

    def _configuration(self) -> Any:
        return self._conf


@contextmanager
def own_jvm(java: Path, jars: Path, class_path: str, options: Iterable[str]) -> Iterator[OwnJvm]:
    """A JVM of this process's own, which ends with it.

    By py4j, which comes with Spark: on a port of 127.0.0.1, and for whoever has its secret.

    Args:
        java: the program.
        jars: Spark's, py4j's among them.
        class_path: all of it.
        options: settings, and a path, as the mains of our jar take them.

    Raises:
        SettingError: one of the settings is wrong.
        ManifestCommitterError: the JVM does not start, or ends too early.
    """
    py4j_jar = next(iter(sorted(jars.glob("py4j-*.jar"))), None)
    if importlib.util.find_spec("py4j") is None:
        sys.path += map(str, (jars.parent / "python" / "lib").glob("py4j-*.zip"))
    try:
        from py4j import java_gateway
        from py4j.protocol import Py4JNetworkError
    except ImportError:
        py4j_jar = None
    if py4j_jar is None:
        raise SparkMissingError(
            f"py4j was not found, neither installed nor in {jars.parent}: run `pip install "
            "'pyspark>=3.5'`, or point SPARK_HOME at a complete Spark distribution."
        )
    try:
        port, token, process = java_gateway.launch_gateway(
            jarpath=str(py4j_jar),
            classpath=class_path,
            # The JVM's warnings go to standard output, on which py4j waits for the port.
            javaopts=["-Xlog:disable", "-Xlog:all=warning:stderr"],
            java_path=str(java),
            die_on_exit=True,
            enable_auth=True,
            redirect_stderr=sys.__stderr__,
            return_proc=True,
        )
    except ValueError:
        raise ManifestCommitterError(_ENDED) from None
    parameters = java_gateway.GatewayParameters(port=port, auth_token=token, auto_convert=True)
    gateway = java_gateway.JavaGateway(gateway_parameters=parameters)
    try:
        yield OwnJvm(gateway, options)
    except Py4JNetworkError as error:
        raise ManifestCommitterError(_ENDED) from error
    finally:
        gateway.close()
        process.stdin.close()
        process.wait()


class ConnectSession(_Answered):
    """The JVM side of one Connect session, which is asked by SQL: see `Session`."""

    hadoop: HadoopSettings | None = None
    later: Settable | None = None

    def __init__(self, spark: Any) -> None:
        """Take the session."""
        self._spark = spark

    def setting(self, key: str) -> str | None:
        value = self._spark.conf.get(key, None)
        return None if value is None else str(value)

    def settings(self, keys: Iterable[str]) -> Settings:
        """All settings of the session: the server cannot look at its Hadoop configuration."""
        found: Settings = {
            row["key"]: {"value": row["value"], "source": _OF_SESSION}
            for row in self._spark.sql("SET").collect()
            if _REDACTED not in row["value"]
        }
        for key in keys:
            value = self.setting(key)
            if value is not None and key not in found:
                found[key] = {"value": value, "source": _OF_SPARK}
        return found

    def set_setting(self, key: str, value: str) -> None:
        self._spark.conf.set(key, value)

    def loaded_jar(self) -> LoadedJar | None:
        try:
            return LoadedJar(self._ask(_BUILD_INFO, "version"), "on the Connect server")
        except JarNotLoadedError:
            return None

    def add_jar(self, jar: str) -> None:
        self._spark.addArtifact(jar)

    def share_jar(self, _: Callable[[], str]) -> bool:
        """The server does: an artifact belongs to the session, whatever thread serves it."""
        return True

    def protocol_problem(self, _: str) -> str | None:
        return None

    def find(self, path: str) -> RemoteFile | None:
        found = self._value("find", "look up", path)
        if found is None:
            return None
        return RemoteFile(found["path"], found["isDirectory"], found["length"])

    def chunks(self, path: str) -> Iterator[bytes]:
        offset = 0
        while True:
            answer = self._value("read", "read", path, offset=offset, length=_CHUNK)
            chunk = base64.b64decode(answer)
            if not chunk:
                return
            yield chunk
            offset += len(chunk)

    def put(self, _: str, path: str) -> None:
        raise self._cannot_write(path)

    def files_below(self, path: str) -> list[str]:
        raise self._cannot_write(path)

    def remove(self, path: str) -> None:
        raise self._cannot_write(path)

    @staticmethod
    def _cannot_write(path: str) -> ConnectSessionError:
        return ConnectSessionError(
            f"A Spark Connect session cannot write {path} from here. Write to a path of this "
            "machine (file:/…), and copy the file with the tool of the store."
        )

    def committer_info(self, settings: Settings, path: str, jar: str) -> Mapping[str, Any]:
        asked = (json.dumps(settings), path, jar)
        return dict(decoded(self._ask(_COMMITTER_INFO, "ofConnect", *asked)))

    def commits(self) -> list[dict[str, Any]]:
        return list(self._value("commits", "ask for the commits of", "the server"))

    def cancel(self, job_id: str) -> bool:
        return bool(self._value("cancel", "cancel a commit of", "the server", jobId=job_id))

    def _value(self, what: str, action: str, path: str, **given: Any) -> Any:
        # Spark would take ${...} in a query for one of its settings.
        question = f"{time.time_ns():020d}-{uuid.uuid4()}"
        asked = json.dumps({"path": path, "id": question, **given}).replace("$", "\\u0024")
        answer = decoded(self._ask(_ON_SERVER, "call", what, asked))
        if answer.get("missing"):
            raise PathNotFoundError(action, path)
        if "error" in answer:
            raise StorageError(action, path, answer["error"])
        return answer["value"]

    def _ask(self, class_name: str, method: str, *arguments: str) -> str:
        """Call a static method on the server, through SQL.

        Spark computes what is asked of rows that are in the query itself while it plans it: in the
        server, and not in a task on an executor.
        """
        quoted = [f"'{_escape(text)}'" for text in (class_name, method, *arguments)]
        query = f"SELECT java_method({', '.join(quoted)}) FROM VALUES (0)"
        try:
            return str(self._spark.sql(query).collect()[0][0])
        except Exception as error:
            if _condition(error) == _NO_CLASS:
                raise JarNotLoadedError() from error
            raise ConnectSessionError(
                f"The Spark Connect server could not be asked ({first_line(error)}). Check the "
                "connection, and that the server allows the SQL function java_method."
            ) from error


def _condition(error: Exception) -> str | None:
    """The name that Spark gives to a kind of error; its client of 3.5 has it in the text alone."""
    for name in ("getCondition", "getErrorClass"):
        condition = getattr(error, name, lambda: None)()
        if condition:
            return str(condition)
    found = _CONDITION.match(str(error))
    return found and found[1]


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def first_line(error: Exception) -> str:
    """The first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _storage_error(error: Exception, action: str, path: str) -> Exception:
    """The error as one of ours if it came from Java; other errors are bugs, and stay."""
    kind = _java_class(error)
    if kind is None:
        return error
    if kind == _NOTHING_THERE:
        return PathNotFoundError(action, path)
    return StorageError(action, path, _java_message(error))


def _java_exception(error: Exception) -> Any:
    """The Java throwable behind a Python exception; None if Python raised it.

    PySpark turns some of py4j's errors into its own, which keep the throwable as ``_origin``.
    Where a method was called by reflection, it is what that method threw.
    """
    throwable = getattr(error, "java_exception", None)
    if throwable is None:
        throwable = getattr(error, "_origin", None)
    if throwable is not None and throwable.getClass().getName() == _BY_REFLECTION:
        return throwable.getCause()
    return throwable


def _java_class(error: Exception) -> str | None:
    throwable = _java_exception(error)
    return None if throwable is None else str(throwable.getClass().getName())


def _java_message(error: Exception) -> str:
    return str(_java_exception(error).toString()).splitlines()[0]


def _load(loader: Any, class_name: str) -> tuple[Any, str]:
    """The class, or None and the reason, through exactly this loader.

    Through the loader itself, since Hadoop's Configuration would remember a miss.
    """
    try:
        return loader.loadClass(class_name), ""
    except Exception as error:
        kind = _java_class(error)
        if kind is None:
            raise
        if kind == "java.lang.ClassNotFoundException":
            return None, "the class is not on the driver's class path"
        return None, f"the class cannot be loaded ({_java_message(error)})"
