# SPDX-License-Identifier: Apache-2.0
"""The one doorway to the driver's JVM; no other module touches py4j.

py4j objects have no static types, so this module speaks ``Any`` inwards and plain Python
values outwards.
"""

import base64
import json
import os
import re
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from manifest_committer._version import __version__
from manifest_committer.errors import (
    ConnectSessionError,
    JarNotLoadedError,
    JarVersionError,
    StorageError,
)

_BUILD_INFO = "io.manifestcommitter.BuildInfo"
_MUTABLE_LOADER = "org.apache.spark.util.MutableURLClassLoader"
_COMMIT_PROTOCOL = "org.apache.spark.internal.io.FileCommitProtocol"
_COMMITTER_INFO = "io.manifestcommitter.info.CommitterInfo"
_RECOVER = "io.manifestcommitter.cli.Recover"
_CLEAN = "io.manifestcommitter.cli.Clean"
_HISTORY = "io.manifestcommitter.cli.History"
_ON_SERVER = "io.manifestcommitter.cli.OnServer"
_CHUNK = 4 * 1024 * 1024
_ABOVE_ROOT = re.compile(r"^(/\.\.)+(?=/|$)")


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


def is_connect(spark: Any) -> bool:
    """Whether this session, or builder, is one of Spark Connect."""
    return any(cls.__module__.startswith("pyspark.sql.connect") for cls in type(spark).__mro__)


def is_client() -> bool:
    """Whether the imported PySpark has no Spark, and so no JVM: the package pyspark-client."""
    pyspark = sys.modules.get("pyspark")
    return pyspark is not None and not hasattr(pyspark, "SparkContext")


def open_session(spark: Any) -> "ClassicSession | ConnectSession":
    """The JVM side of a session.

    Raises:
        ConnectSessionError: a Connect session whose server does not have our jar, or forbids to
            ask it.
        TypeError: not a SparkSession.
    """
    if is_connect(spark):
        return ConnectSession(spark)
    return open_classic(spark)


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


class ProcessJvm:
    """The JVM of this process, with or without a session."""

    def __init__(self, spark_context_class: Any) -> None:
        """Take the class that holds PySpark's gateway."""
        self._context_class = spark_context_class
        self._gateway = spark_context_class._gateway
        self._jvm = spark_context_class._jvm

    def has_session(self) -> bool:
        """Whether a SparkContext is active, which a builder would hand out again."""
        return self._context_class._active_spark_context is not None

    def loaded_jar(self) -> LoadedJar | None:
        """Our jar as new threads see it; None if they do not."""
        return _loaded_jar(self._jvm, self._gateway, self._loader())

    def share_jar(self, jar: str) -> bool:
        """Make the jar visible to all threads; False if this JVM's loader cannot."""
        return _share_jar(self._jvm, self._gateway, self._loader(), jar)

    def commits(self) -> str:
        """What our Java class knows of the commits of this JVM; an empty array without it."""
        return _commits(self._jvm, self._gateway, self._loader())

    def cancel(self, job_id: str) -> bool:
        """Cancel the commit of a job; False if that comes too late."""
        return _cancel(self._jvm, self._gateway, self._loader(), job_id)

    def calling_thread(self) -> int | None:
        """See `_calling_thread`."""
        return _calling_thread(self._jvm, self._gateway)

    def spark_jars(self) -> str:
        """``spark.jars`` as the JVM was started with it; empty if it was not."""
        return str(self._jvm.org.apache.spark.SparkConf().get("spark.jars", ""))

    def _loader(self) -> Any:
        return self._jvm.java.lang.Thread.currentThread().getContextClassLoader()


class ClassicSession:
    """The JVM side of one classic session."""

    def __init__(self, spark: Any) -> None:
        """Take the session; it must not be stopped."""
        if spark._jsc is None or spark._jsc.sc().isStopped():
            raise ValueError("this SparkSession is stopped; make a new one with getOrCreate()")
        self._spark = spark
        self._jvm = spark._jvm
        self._session = spark._jsparkSession
        self._gateway = spark.sparkContext._gateway

    def setting(self, key: str) -> str | None:
        """A setting of the session, or its default; None if it has neither."""
        # Without a default of ours, for else Spark would not answer with its own.
        try:
            value = self._spark.conf.get(key)
        except Exception as error:
            if _java_class(error) is None:
                raise
            return None
        return None if value is None else str(value)

    def is_set(self, key: str) -> bool:
        """Whether a setting was made, on the session or where Spark was started."""
        return bool(self._session.sessionState().conf().contains(key))

    def set_setting(self, key: str, value: str) -> None:
        """Change a setting of the session."""
        self._spark.conf.set(key, value)

    def loaded_jar(self) -> LoadedJar | None:
        """Our jar as this session sees it; None if it does not."""
        return _loaded_jar(self._jvm, self._gateway, self._loader())

    def add_jar(self, jar: str) -> None:
        """Add a jar to the session and to the executors, by SQL.

        ``SparkContext.addJar`` would reach the executors only.
        """
        quoted = jar.replace("\\", "\\\\").replace("'", "\\'")
        self._spark.sql(f"ADD JAR '{quoted}'")

    def share_jar(self, jar: str) -> bool:
        """Make the jar visible to every thread of the driver.

        ADD JAR leaves the jar in the context class loader of the calling thread alone: a write
        from another Python thread would not find our class. False if the driver's own class
        loader takes no further jars; then the calling thread at least is set right.
        """
        loader = self._loader()
        if _share_jar(self._jvm, self._gateway, loader, jar):
            return True
        self._jvm.java.lang.Thread.currentThread().setContextClassLoader(loader)
        return False

    def protocol_problem(self, class_name: str) -> str | None:
        """Why Spark cannot use this class as its commit protocol; None if it can."""
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

    def hadoop_loads(self, class_name: str) -> bool:
        """Whether Hadoop's Configuration finds the class, as its factories are looked up."""
        configuration = self._spark._jsc.hadoopConfiguration()
        return configuration.getClassByNameOrNull(class_name) is not None

    def hadoop_setting(self, key: str) -> str | None:
        """A setting of the Hadoop configuration that all sessions of the driver share."""
        value = self._spark._jsc.hadoopConfiguration().get(key)
        return None if value is None else str(value)

    def set_hadoop_setting(self, key: str, value: str) -> None:
        """Change a setting of the shared Hadoop configuration."""
        self._spark._jsc.hadoopConfiguration().set(key, value)

    def find(self, path: str) -> RemoteFile | None:
        """The file or directory at the path; None if there is nothing.

        Raises:
            StorageError: the filesystem could not say.
        """
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
        """The content of a file, in pieces of at most 4 MiB.

        Raises:
            StorageError: the filesystem could not read it.
        """
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

    def committer_info(self, settings: str, path: str, jar: str) -> str:
        """What our Java class says of the committers for a path, as this session sees them.

        Args:
            settings: those of Spark's settings that decide, as JSON.
            path: where a job would write.
            jar: our jar, for a session that does not have it; the session stays without it.
        """
        loader = self._loader()
        info, _ = _load(loader, _COMMITTER_INFO)
        if info is None:
            urls = self._gateway.new_array(self._jvm.java.net.URL, 1)
            urls[0] = self._jvm.java.io.File(jar).toURI().toURL()
            own = self._jvm.java.net.URLClassLoader(urls, loader)
            try:
                return self._committer_info(own.loadClass(_COMMITTER_INFO), settings, path, jar)
            finally:
                own.close()
        return self._committer_info(info, settings, path, jar)

    def _committer_info(self, info: Any, settings: str, path: str, jar: str) -> str:
        arguments = (
            self._spark._jsc.hadoopConfiguration(),
            self._session.sessionState().newHadoopConf(),
            self._loader(),
            settings,
            path,
            jar,
        )
        return self._call_of_session(info, arguments)

    def recover(self, path: str, complete: bool, force: bool) -> str:
        """What our Java class did about the jobs that died in a table.

        Raises:
            StorageError: the table cannot be looked at.
        """
        return self._call_about(_RECOVER, "recover", path, complete, force)

    def clean(
        self, path: str, older_than: str, dry_run: bool, discard_unfinished: bool, force: bool
    ) -> str:
        """What our Java class did about a table's staging directories.

        Raises:
            StorageError: the table cannot be listed, or `older_than` is no length of time.
        """
        return self._call_about(
            _CLEAN, "clean", path, older_than, dry_run, discard_unfinished, force
        )

    def require_jar(self) -> None:
        """Make sure that the session has our jar, in our version.

        Raises:
            JarNotLoadedError: it does not have it.
            JarVersionError: it has another version.
        """
        loaded = self.loaded_jar()
        if loaded is None:
            raise JarNotLoadedError()
        if loaded.version != __version__:
            raise JarVersionError(loaded.version, loaded.location, __version__)

    def history(self, path: str) -> str:
        """What our Java class read of the jobs whose reports a directory has.

        Raises:
            StorageError: the directory cannot be listed.
        """
        return self._call_about(_HISTORY, "read the history in", path)

    def commits(self) -> str:
        """What our Java class knows of the commits of this driver; an empty array without it."""
        return _commits(self._jvm, self._gateway, self._loader())

    def cancel(self, job_id: str) -> bool:
        """Cancel the commit of a job; False if that comes too late."""
        return _cancel(self._jvm, self._gateway, self._loader(), job_id)

    def calling_thread(self) -> int | None:
        """See `_calling_thread`."""
        return _calling_thread(self._jvm, self._gateway)

    def _call_about(self, class_name: str, action: str, path: str, *more: Any) -> str:
        """Call a class of our jar, which is there, about a path in a store."""
        owner, _ = _load(self._loader(), class_name)
        conf = self._session.sessionState().newHadoopConf()
        try:
            return self._call_of_session(owner, (conf, path, *more))
        except Exception as error:
            raise _storage_error(error, action, path) from error

    def _call_of_session(self, owner: Any, arguments: tuple[Any, ...]) -> str:
        return _call_of_session(self._jvm, self._gateway, owner, arguments)

    def _open(self, path: str) -> tuple[Any, Any]:
        uri = self._jvm.org.apache.hadoop.fs.Path(path).toUri()
        # The root of a store has a slash, and nothing is above it.
        plain = _ABOVE_ROOT.sub("", str(uri.getPath())) or "/"
        hadoop_path = self._jvm.org.apache.hadoop.fs.Path(
            uri.getScheme(), uri.getAuthority(), plain
        )
        # The session's own Hadoop settings, credentials among them, are in newHadoopConf only.
        configuration = self._session.sessionState().newHadoopConf()
        return hadoop_path, hadoop_path.getFileSystem(configuration)

    def _loader(self) -> Any:
        """The loader that ADD JAR extends; it sees all that the driver started with, too."""
        return self._session.sharedState().jarClassLoader()


class ConnectSession:
    """The JVM side of one Connect session, which is asked by SQL."""

    def __init__(self, spark: Any) -> None:
        """Take the session."""
        self._spark = spark

    def setting(self, key: str) -> str | None:
        """A setting of the session, or its default; None if it has neither."""
        value = self._spark.conf.get(key, None)
        return None if value is None else str(value)

    def protocol_problem(self, _: str) -> str | None:
        """Why Spark cannot use our commit protocol; None, since this asks by our jar."""
        return None

    def require_jar(self) -> None:
        """Make sure that the server has our jar, in our version.

        Raises:
            ConnectSessionError: it does not have it, or it cannot be asked.
            JarVersionError: it has another version.
        """
        version = self._asked(lambda: call_server(self._spark, _BUILD_INFO, "version"))
        if version != __version__:
            raise JarVersionError(version, "on the Connect server", __version__)

    def find(self, path: str) -> RemoteFile | None:
        """The file or directory at the path; None if there is nothing.

        Raises:
            StorageError: the filesystem could not say.
            ConnectSessionError: the server could not be asked.
        """
        answer = self._call("find", "look up", path)
        if answer is None:
            return None
        found = json.loads(answer)
        return RemoteFile(found["path"], found["isDirectory"], found["length"])

    def chunks(self, path: str) -> Iterator[bytes]:
        """The content of a file, in pieces of at most 4 MiB.

        Raises:
            StorageError: the filesystem could not read it.
        """
        offset = 0
        while True:
            answer = self._call("read", "read", path, offset=offset, length=_CHUNK)
            chunk = base64.b64decode(answer or "")
            if not chunk:
                return
            yield chunk
            offset += len(chunk)

    def recover(self, path: str, complete: bool, force: bool) -> str:
        """As `ClassicSession.recover`."""
        return str(self._call("recover", "recover", path, complete=complete, force=force))

    def clean(
        self, path: str, older_than: str, dry_run: bool, discard_unfinished: bool, force: bool
    ) -> str:
        """As `ClassicSession.clean`."""
        return str(
            self._call(
                "clean",
                "clean",
                path,
                olderThan=older_than,
                dryRun=dry_run,
                discardUnfinished=discard_unfinished,
                force=force,
            )
        )

    def history(self, path: str) -> str:
        """As `ClassicSession.history`."""
        return str(self._call("history", "read the history in", path))

    def commits(self) -> str:
        """What our Java class knows of the commits of the server, in this session."""
        return str(self._call("commits", "ask for the commits of", "the server"))

    def cancel(self, job_id: str) -> bool:
        """As `ClassicSession.cancel`."""
        return self._call("cancel", "cancel a commit of", "the server", jobId=job_id) == "true"

    def _call(self, what: str, action: str, path: str, **arguments: Any) -> str | None:
        # Spark would take ${...} in a query for one of its settings.
        arguments["id"] = f"{time.time_ns():020d}-{uuid.uuid4()}"
        given = json.dumps({"path": path, **arguments}).replace("$", "\\u0024")
        answer = json.loads(
            self._asked(lambda: call_server(self._spark, _ON_SERVER, "call", what, given))
        )
        if "error" in answer:
            raise StorageError(action, path, answer["error"])
        value: str | None = answer["value"]
        return value

    def _asked(self, ask: Any) -> str:
        try:
            return str(ask())
        except Exception as error:
            missing = "io.manifestcommitter" in str(error) and (
                "not found" in str(error) or "cannot find" in str(error)
            )
            raise ConnectSessionError(
                "The Spark Connect server does not have our jar: call configure_session(spark) "
                "first."
                if missing
                else "The Spark Connect server could not be asked "
                f"({first_line(error)}). Check the connection, and that the server allows the "
                "SQL function java_method."
            ) from error


def call_server(spark: Any, class_name: str, method: str, *arguments: str) -> str:
    """Call a static method on a Connect server, through SQL.

    Spark computes what is asked of rows that are in the query itself while it plans it: in the
    server, and not in a task on an executor.
    """
    quoted = [f"'{_escape(text)}'" for text in (class_name, method, *arguments)]
    query = f"SELECT java_method({', '.join(quoted)}) FROM VALUES (0)"
    return str(spark.sql(query).collect()[0][0])


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def first_line(error: Exception) -> str:
    """The first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _storage_error(error: Exception, action: str, path: str) -> Exception:
    """The error as one of ours if it came from Java; other errors are bugs, and stay."""
    if _java_class(error) is None:
        return error
    return StorageError(action, path, _java_message(error))


def _java_exception(error: Exception) -> Any:
    """The Java throwable behind a Python exception; None if Python raised it.

    PySpark turns some of py4j's errors into its own, which keep the throwable as ``_origin``.
    """
    origin = getattr(error, "java_exception", None)
    return origin if origin is not None else getattr(error, "_origin", None)


def _java_class(error: Exception) -> str | None:
    throwable = _java_exception(error)
    return None if throwable is None else str(throwable.getClass().getName())


def _java_message(error: Exception) -> str:
    throwable = _java_exception(error)
    if _java_class(error) == "java.lang.reflect.InvocationTargetException":
        throwable = throwable.getCause()
    return str(throwable.toString()).splitlines()[0]


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


def _loaded_jar(jvm: Any, gateway: Any, loader: Any) -> LoadedJar | None:
    info, _ = _load(loader, _BUILD_INFO)
    if info is None:
        return None
    source = info.getProtectionDomain().getCodeSource()
    location = "unknown place" if source is None else str(source.getLocation().toString())
    # By reflection, since py4j's own look-up of a class name uses a loader of its choice.
    method = info.getMethod("version", gateway.new_array(jvm.java.lang.Class, 0))
    try:
        version = method.invoke(None, gateway.new_array(jvm.java.lang.Object, 0))
    except Exception as error:
        if _java_class(error) is None:
            raise
        version = None  # A repackaged jar, which has lost the file with its version.
    return LoadedJar(version=None if version is None else str(version), location=location)


def _commits(jvm: Any, gateway: Any, loader: Any) -> str:
    owner, _ = _load(loader, _ON_SERVER)
    return "[]" if owner is None else _call_of_session(jvm, gateway, owner, (), "commits")


def _cancel(jvm: Any, gateway: Any, loader: Any, job_id: str) -> bool:
    owner, _ = _load(loader, _ON_SERVER)
    return _call_of_session(jvm, gateway, owner, (job_id,), "cancel") == "true"


def _calling_thread(jvm: Any, gateway: Any) -> int | None:
    """The JVM's thread that runs what this thread calls; None where all share a few of them."""
    if type(gateway).__name__ != "ClientServer":
        return None  # Without PYSPARK_PIN_THREAD.
    return int(jvm.java.lang.Thread.currentThread().getId())


def _call_of_session(
    jvm: Any, gateway: Any, owner: Any, arguments: tuple[Any, ...], name: str = "ofSession"
) -> str:
    # By reflection, since py4j's own look-up of a class name uses a loader of its choice.
    (method,) = (m for m in owner.getMethods() if m.getName() == name)
    array = gateway.new_array(jvm.java.lang.Object, len(arguments))
    for index, argument in enumerate(arguments):
        array[index] = argument
    return str(method.invoke(None, array))


def _share_jar(jvm: Any, gateway: Any, loader: Any, jar: str) -> bool:
    from py4j.java_gateway import is_instance_of

    outermost = None
    while loader is not None and is_instance_of(gateway, loader, _MUTABLE_LOADER):
        outermost, loader = loader, loader.getParent()
    if outermost is None:
        return False
    if _load(outermost, _BUILD_INFO)[0] is None:
        outermost.addURL(jvm.java.io.File(jar).toURI().toURL())
    return True
