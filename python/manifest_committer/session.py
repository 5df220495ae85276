# SPDX-License-Identifier: Apache-2.0
"""Bind the manifest committer to a Spark session, before or after it was started."""

import atexit
import importlib.util
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from manifest_committer import _jvm, pictures, watching
from manifest_committer._spark_home import (
    read_property,
    require_java_of_new_jvm,
    require_pyspark,
    spark_defaults,
)
from manifest_committer._version import __version__
from manifest_committer.errors import (
    CommitProtocolError,
    ConnectSessionError,
    JarMissingError,
    JarVersionError,
    SessionAlreadyRunningError,
    SubmitArgumentsError,
)

PROTOCOL_KEY = "spark.sql.sources.commitProtocolClass"
PROTOCOL_CLASS = "io.manifestcommitter.spark.ManifestCommitProtocol"
FACTORY_CLASS = "io.manifestcommitter.ManifestCommitterFactory"
BOUND_SCHEMES = ("abfs", "abfss", "gs", "lakefs")
"""The schemes bound by default: hdfs and file work with Hadoop's own committers, too.

On lakefs the factory refuses, where other committers would rename file by file.
"""

S3A_FACTORY_CLASS = "org.apache.hadoop.fs.s3a.commit.S3ACommitterFactory"
"""hadoop-aws's own: on s3a it commits what does not go through Spark's commit protocol."""

_S3A_SETTINGS = {
    "mapreduce.outputcommitter.factory.scheme.s3a": S3A_FACTORY_CLASS,
    "fs.s3a.committer.name": "magic",
    # Else a job of S3A's committers aborts the uploads of all others in its table.
    "fs.s3a.committer.abort.pending.uploads": "false",
}
# What is set to one of S3A's committers stays: the user chose it.
_S3A_COMMITTERS = ("directory", "partitioned", "magic")

_FACTORY_KEYS = tuple(f"mapreduce.outputcommitter.factory.scheme.{s}" for s in BOUND_SCHEMES)
_JARS_KEY = "spark.jars"
_JAR_NAME = re.compile(r"manifest-committer-(?P<version>\d[^/]*)\.jar")
# Everything else is mangled by one of: the comma list of spark.jars, its URI fragments, the double
# encoding of ADD JAR, the decoding of addArtifact.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9._/+-]+")

_Builder = TypeVar("_Builder")

if TYPE_CHECKING:
    from importlib.abc import Traversable

    from manifest_committer._jvm import SparkSession


@dataclass(frozen=True)
class SettingChange:
    """One setting of a session that was changed."""

    key: str
    before: str | None
    """The value before; None if there was none."""
    after: str
    in_new_sessions: bool = False
    """Whether it is what sessions that are made later in this application begin with."""

    def __str__(self) -> str:
        """Key, new and old value in one line."""
        place = "in new sessions, " if self.in_new_sessions else ""
        return f"{self.key} = {self.after} ({place}was {self.before or 'not set'})"


@dataclass(frozen=True)
class SessionChanges:
    """What `configure_session` changed in a session."""

    jar_added: str | None
    """The jar that was added; None if the session had it."""
    settings: tuple[SettingChange, ...]

    @property
    def changed(self) -> bool:
        """False if the session was configured already."""
        return self.jar_added is not None or bool(self.settings)

    def __str__(self) -> str:
        """One line per change."""
        if not self.changed:
            return f"Nothing to change: the session uses manifest-committer {__version__}."
        lines = [f"The session now uses manifest-committer {__version__}:"]
        if self.jar_added is not None:
            lines.append(f"  added {self.jar_added}")
        lines.extend(f"  set {setting}" for setting in self.settings)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        rows = [] if self.jar_added is None else [("spark.jars", self.jar_added, "")]
        rows += [
            (
                f"{one.key} (new sessions)" if one.in_new_sessions else one.key,
                one.after,
                one.before or "not set",
            )
            for one in self.settings
        ]
        cells = ([pictures.cell(part, "path") for part in row] for row in rows)
        columns = [(name, "path") for name in ("setting", "now", "before")]
        return pictures.block(
            str(self).partition("\n")[0], pictures.table(columns, cells) if rows else ""
        )


def jar_path() -> str:
    """The path of the jar in this package, as ``spark.jars`` and ``--jars`` take it.

    In a package that is imported from a zip (``--py-files``), that of a copy, which lives as long
    as this process.

    Raises:
        JarMissingError: a source checkout that was not built.
    """
    jar = _package_directory() / "jars" / f"manifest-committer-{__version__}.jar"
    if not jar.is_file():
        raise JarMissingError(str(jar), __version__)
    return str(jar) if isinstance(jar, Path) else _unpacked(str(jar))


def is_in_zip() -> bool:
    """Whether the package is imported from a zip: then the jar's path ends with this process."""
    return not isinstance(_package_directory(), Path)


def settings_files() -> dict[str, str]:
    """The settings files in this package: the name of a store, and the text of its file."""
    files = (_package_directory() / "conf").iterdir()
    return {
        file.name.removesuffix(".conf"): file.read_text(encoding="utf-8")
        for file in files
        if file.name.endswith(".conf")
    }


def spark_conf() -> dict[str, str]:
    """The settings that bind the committer; they need the jar on ``spark.jars``.

    The commit protocol serves every DataFrame and SQL write on every scheme; the factories
    serve the RDD and Hadoop APIs on abfs, abfss and gs. On s3a those get the committers of
    hadoop-aws, by default the magic one. On lakefs they are refused.
    """
    conf = {PROTOCOL_KEY: PROTOCOL_CLASS}
    conf.update({f"spark.hadoop.{key}": FACTORY_CLASS for key in _FACTORY_KEYS})
    conf.update({f"spark.hadoop.{key}": value for key, value in _S3A_SETTINGS.items()})
    return conf


def configure_builder(builder: _Builder) -> _Builder:
    """Bind the committer to the session that this builder will make.

    Appends the jar to ``spark.jars``, wherever that is set (on the builder, in
    spark-defaults.conf, by spark-submit), and sets the entries of `spark_conf`. In a notebook, a
    bar then shows the commits of each cell that writes.

    Args:
        builder: ``SparkSession.builder``, before ``getOrCreate()``.

    Returns:
        The same builder.

    Raises:
        ConnectSessionError: the builder makes a Connect session, or PySpark can make no other.
        SessionAlreadyRunningError: a session runs already, without the jar.
        JarVersionError: the jars named so far include our jar in another version.
        SubmitArgumentsError: PYSPARK_SUBMIT_ARGS names jars, which win over the builder's.
        SparkVersionError: PySpark is older than 3.5.
        JavaVersionError: Java is too old for this Spark.
        JarMissingError: see `jar_path`.
    """
    require_pyspark()
    target: Any = builder
    options = getattr(target, "_options", None)
    if not isinstance(options, dict) or not hasattr(target, "config"):
        raise TypeError(
            f"expected SparkSession.builder, got {type(builder).__name__}; for a "
            "running session, call configure_session(spark)"
        )
    if _jvm.is_client() and not _makes_connect_session(target, options):
        raise ConnectSessionError(
            "The installed PySpark is a client for Spark Connect only (pyspark-client): it cannot "
            "start Spark. Make the session with SparkSession.builder.remote('sc://host') or the "
            "environment variable SPARK_REMOTE, then call "
            "manifest_committer.configure_session(spark)."
        )
    if _makes_connect_session(target, options):
        raise ConnectSessionError(
            "This builder makes a Spark Connect session, whose server takes no jars from a "
            "builder. Make the session first, then call "
            "manifest_committer.configure_session(spark)."
        )
    process = _jvm.open_process()
    if process is None:
        require_java_of_new_jvm()
        jar = _plain_copy(jar_path())
        before = options.get(_JARS_KEY) or _jars_of_a_new_jvm(jar)
        target.config(_JARS_KEY, _append_jar(str(before), jar))
    else:
        _configure_for_running_jvm(target, options, process)
    for key, value in spark_conf().items():
        if options.get(key) not in _S3A_COMMITTERS:
            target.config(key, value)
    watching.show_in_notebook()
    return builder


def configure_session(spark: "SparkSession") -> SessionChanges:
    """Bind the committer to a session that runs already, classic or Connect.

    In a notebook with a classic session, a bar then shows the commits of each cell that writes.

    Sessions that a classic one makes later are bound, too (``spark.newSession()``), and ``RESET``
    keeps the binding. A Connect session stands for itself: configure each.

    Can be repeated: a session that has the jar of this version does not get it twice.

    The factories for RDD writes are bound only where Hadoop finds our factory class; a factory
    that it does not find would break those writes.

    Returns:
        What was changed; ``print`` it.

    Raises:
        JarVersionError: the session has our jar in another version.
        CommitProtocolError: the class cannot be loaded although the jar is there.
        ConnectSessionError: a Connect server that cannot be asked.
        SparkVersionError: PySpark is older than 3.5.
        JarMissingError: see `jar_path`.
    """
    changes = _configure(_jvm.open_session(spark))
    if not _jvm.is_connect(spark):
        watching.show_in_notebook(spark)
    return changes


def _package_directory() -> "Traversable":
    directory = resources.files(__package__)
    return directory.resolve() if isinstance(directory, Path) else directory


def _configure_for_running_jvm(
    builder: Any, options: Mapping[str, Any], process: _jvm.ProcessJvm
) -> None:
    """Bring the jar into a JVM whose class path was fixed when it started."""
    loaded = _jvm.check_version(process.loaded_jar())
    jar = _jar_for(loaded)
    if process.has_session():
        if loaded is None:
            raise SessionAlreadyRunningError(jar)
        return  # Its executors have the jar from where the driver has it.
    if loaded is None and not process.share_jar(lambda: jar):
        raise SessionAlreadyRunningError(jar)
    before = options.get(_JARS_KEY) or process.spark_jars()
    builder.config(_JARS_KEY, _append_jar(str(before), jar))


def _configure(session: _jvm.Session) -> SessionChanges:
    # What is out of reach fails here, before anything is changed.
    later, hadoop = session.later, session.hadoop
    loaded = _jvm.check_version(session.loaded_jar())
    jar_added = None
    if loaded is None:
        jar_added = _plain_copy(jar_path())
        session.add_jar(jar_added)
    is_shared = session.share_jar(lambda: jar_added or _jar_for(loaded))
    problem = session.protocol_problem(PROTOCOL_CLASS)
    if problem is not None:
        raise CommitProtocolError(PROTOCOL_CLASS, problem)

    changes = []
    before = session.setting(PROTOCOL_KEY)
    if before != PROTOCOL_CLASS:
        try:
            session.set_setting(PROTOCOL_KEY, PROTOCOL_CLASS)
        except Exception as error:  # Spark 4 refuses a class that it cannot load.
            raise CommitProtocolError(PROTOCOL_CLASS, _jvm.first_line(error)) from error
        changes.append(SettingChange(PROTOCOL_KEY, before, PROTOCOL_CLASS))
    # Where new sessions would not find the class, they had better not ask for it.
    if later is not None and is_shared:
        before = later.get(PROTOCOL_KEY)
        if before != PROTOCOL_CLASS:
            later.set(PROTOCOL_KEY, PROTOCOL_CLASS)
            changes.append(
                SettingChange(PROTOCOL_KEY, before, PROTOCOL_CLASS, in_new_sessions=True)
            )
    if hadoop is not None:
        changes += _bind_factories(hadoop)
    return SessionChanges(jar_added, tuple(changes))


def _bind_factories(hadoop: _jvm.HadoopSettings) -> Iterator[SettingChange]:
    wanted = {}
    if hadoop.loads(FACTORY_CLASS):
        wanted.update(dict.fromkeys(_FACTORY_KEYS, FACTORY_CLASS))
    if hadoop.loads(S3A_FACTORY_CLASS):
        wanted.update(_S3A_SETTINGS)
    for key, after in wanted.items():
        before = hadoop.get(key)
        if before not in (after, *_S3A_COMMITTERS):
            hadoop.set(key, after)
            yield SettingChange(f"spark.hadoop.{key}", before, after)


def _jar_for(loaded: _jvm.LoadedJar | None) -> str:
    """The jar that the JVM has, if that is a file of its own; else ours."""
    if loaded is not None:
        location = urlsplit(loaded.location)
        path = Path(unquote(location.path))
        if location.scheme == "file" and _JAR_NAME.fullmatch(path.name) and path.is_file():
            return str(path)
    return _plain_copy(jar_path())


def _makes_connect_session(builder: Any, options: Mapping[str, Any]) -> bool:
    """Whether ``getOrCreate()`` of this builder would make a Connect session."""
    if _jvm.is_connect(builder) or "spark.remote" in options:
        return True
    if "SPARK_REMOTE" in os.environ or "SPARK_CONNECT_MODE_ENABLED" in os.environ:
        return True
    mode = str(options.get("spark.api.mode", os.environ.get("SPARK_API_MODE", ""))).lower()
    if mode in ("classic", "connect"):
        return mode == "connect"
    # Of the package pyspark_connect, which makes Connect the default of Spark 4.
    default = os.environ.get("SPARK_CONNECT_MODE")
    if default is not None:
        return default == "1"
    return importlib.util.find_spec("pyspark_connect") is not None


def _jars_of_a_new_jvm(jar: str) -> str:
    """The jars that a JVM started from here would get from its settings, as a comma list.

    ``spark.jars`` of a builder replaces the one of spark-defaults.conf, and is itself replaced by
    the jars in PYSPARK_SUBMIT_ARGS: the former are taken over, the latter refused.
    """
    defaults = spark_defaults()
    arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    for index, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if not value and index + 1 < len(arguments):
            value = arguments[index + 1]
        if name == "--jars" or (
            name in ("--conf", "-c") and value.partition("=")[0].strip() == _JARS_KEY
        ):
            if Path(jar).name not in value:
                raise SubmitArgumentsError(f"{name} {value}", jar)
        elif name == "--properties-file":
            defaults = Path(value)
    if defaults is None:
        return ""
    return read_property(defaults, _JARS_KEY) or ""


def _append_jar(jars: str, jar: str) -> str:
    """The comma list with our jar at its end, unless it has it already."""
    names = [name.strip() for name in jars.split(",") if name.strip()]
    for name in names:
        match = _JAR_NAME.fullmatch(PurePosixPath(name).name)
        if match is None:
            continue
        if match["version"] != __version__:
            raise JarVersionError(match["version"], name, __version__)
        return ",".join(names)
    return ",".join([*names, jar])


@cache
def _plain_copy(jar: str) -> str:
    """The jar under a path that Spark does not mangle; a copy if its own is not such."""
    if _PLAIN_PATH.fullmatch(jar):
        return jar
    return shutil.copy(jar, _temporary_directory())


@cache
def _unpacked(packed: str) -> str:
    """A copy of the jar that is in a zip."""
    jar = Path(_temporary_directory()) / PurePosixPath(packed).name
    jar.write_bytes((_package_directory() / "jars" / jar.name).read_bytes())
    return str(jar)


def _temporary_directory() -> str:
    """A directory that lives as long as this process: executors may fetch the jar at any time."""
    directory = tempfile.mkdtemp(prefix="manifest-committer-")
    atexit.register(_remove, directory, os.getpid())
    return directory


def _remove(directory: str, owner: int) -> None:
    # A process that was forked from this one has the same exit handlers.
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)
