# SPDX-License-Identifier: Apache-2.0
"""Which committer the jobs that write to a path get, from which setting, and what is wrong."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manifest_committer import _jvm, session
from manifest_committer._version import __version__
from manifest_committer.errors import ConnectSessionError, JarVersionError

_DECIDING_KEYS = (
    session.PROTOCOL_KEY,
    "spark.sql.parquet.output.committer.class",
    "spark.sql.sources.outputCommitterClass",
    "spark.sql.streaming.commitProtocolClass",
)
_REDACTED = "(redacted)"
_SESSION = "this session"
_DEFAULT = "Spark's default"


@dataclass(frozen=True)
class Setting:
    """The value of a setting, and where it was set."""

    value: str
    source: str

    def __str__(self) -> str:
        """Value and source in one line."""
        return f"{self.value} ({self.source})"


@dataclass(frozen=True)
class Repair:
    """What makes a problem go away; all that it names is to be done."""

    settings: Mapping[str, str | None]
    """Keys of Hadoop's configuration (in Spark with ``spark.hadoop.`` before them) or of Spark;
    None for a key that has to be removed."""
    jar: str | None
    """A file or the coordinates of an artifact that has to be on the class path."""
    path: str | None
    """Another path to write to."""


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with the binding of a path."""

    severity: str
    """``error``, ``warning`` or ``note``."""
    code: str
    """A stable name such as ``no-factory``."""
    text: str
    repair: Repair

    def __str__(self) -> str:
        """Severity, code and text in one line."""
        return f"{self.severity} {self.code}: {self.text}"


@dataclass(frozen=True)
class WatchPlace:
    """A place where Spark shows commits."""

    shown: bool
    """Whether it shows those of this session's driver."""
    how: str
    """Where exactly, or why not."""

    def __str__(self) -> str:
        """Yes or no, and the rest, in one line."""
        return f"{'yes' if self.shown else 'no'}, {self.how}"


@dataclass(frozen=True)
class CommitterInfo:
    """Which committer the jobs that write to one path get.

    Hadoop's committer factories decide for MapReduce jobs and Spark's RDD writers, the commit
    protocol for Spark SQL and DataFrames.
    """

    path: str
    """As it was asked for."""
    scheme: str
    """Empty for a path without one."""
    ok: bool
    """Whether the manifest committer commits what is written there, and nothing is an error."""
    file_system: Setting | None
    """The class of the store's FileSystem, and as source the jar that it was loaded from; None if
    the store was not opened."""
    committer: str | None
    """The class of the committer that the factory made; None if it made none."""
    description: str | None
    """What that committer says of itself."""
    job_directory: str | None
    """Where a job would keep its work, if its committer tells."""
    factory: str | None
    """The class of the factory; None for a path that cannot be used."""
    factory_key: str | None
    """The setting that decides on the factory."""
    factory_source: str | None
    """Where it was set; None if it is not."""
    commit_protocol: Setting
    """By what Spark SQL and DataFrames commit."""
    parquet_committer: Setting
    """The class that Spark's own protocol uses for Parquet; Spark loads it under every one."""
    output_committer: Setting | None
    """The class that Spark's own protocol uses for other formats, if one is set."""
    streaming_protocol: Setting
    """By what streaming queries commit."""
    options: Mapping[str, Setting]
    """The committer's options that do not have their default, and settings of the store's
    connector that act on commits."""
    watching: Mapping[str, WatchPlace]
    """Where Spark shows commits: ``console``, ``metrics`` and ``events``. Empty where no Spark
    runs, as for the command line."""
    problems: tuple[Problem, ...]
    """The worst first."""
    version: str
    """The version of the jar that looked."""
    hadoop_version: str
    text: str = field(repr=False)
    """What ``manifest-committer info`` prints."""

    def __str__(self) -> str:
        """The same text as the command line's."""
        return self.text

    def problem(self, code: str) -> Problem | None:
        """The first problem of that code; None if there is none."""
        return next((problem for problem in self.problems if problem.code == code), None)


def committer_info(spark: Any, path: str | os.PathLike[str]) -> CommitterInfo:
    """Say which committer jobs of this session get for a path, and what is wrong with it.

    Creates the committer as a job would, and writes nothing. Opening a store may make requests. A
    store that does not answer within 20 seconds is reported as a problem.

    The session need not have our jar. A Connect session does need it: the answer then comes from
    the server, as far as a task there can see the session's settings, and no store is opened.

    Args:
        spark: a session that runs, classic or Connect.
        path: where a job would write; any filesystem that Hadoop knows.

    Raises:
        JarVersionError: the session has our jar in another version.
        ConnectSessionError: a Connect session without our jar, or one that cannot be asked.
        JarMissingError: see `jar_path`.
    """
    name = os.fspath(path)
    if _jvm.is_connect(spark):
        return parse_info(_ask_server(spark, name))
    classic = _jvm.open_classic(spark)
    loaded = classic.loaded_jar()
    if loaded is not None and loaded.version != __version__:
        raise JarVersionError(loaded.version, loaded.location, __version__)
    settings = {}
    for key in _DECIDING_KEYS:
        value = classic.setting(key)
        if value is not None:
            source = _SESSION if classic.is_set(key) else _DEFAULT
            settings[key] = {"value": value, "source": source}
    return parse_info(classic.committer_info(json.dumps(settings), name, session.jar_path()))


def parse_info(answer: str) -> CommitterInfo:
    """Read what the Java side answers: the report for programs, and its text."""
    parsed = json.loads(answer)
    report = parsed["report"]
    return CommitterInfo(
        path=report["path"],
        scheme=report["scheme"],
        ok=report["ok"],
        file_system=_file_system(report),
        committer=report["committer"],
        description=report["description"],
        job_directory=report["jobDirectory"],
        factory=report["factory"],
        factory_key=report["factoryKey"],
        factory_source=report["factorySource"],
        commit_protocol=Setting(**report["commitProtocol"]),
        parquet_committer=Setting(**report["parquetCommitter"]),
        output_committer=report["outputCommitter"] and Setting(**report["outputCommitter"]),
        streaming_protocol=Setting(**report["streamingProtocol"]),
        options={key: Setting(**option) for key, option in report["options"].items()},
        watching={name: WatchPlace(**place) for name, place in report["watching"].items()},
        problems=tuple(
            Problem(
                severity=problem["severity"],
                code=problem["code"],
                text=problem["text"],
                repair=Repair(**problem["repair"]),
            )
            for problem in report["problems"]
        ),
        version=report["version"],
        hadoop_version=report["hadoopVersion"],
        text=parsed["text"],
    )


def _file_system(report: Mapping[str, Any]) -> Setting | None:
    if report["fileSystem"] is None:
        return None
    return Setting(report["fileSystem"], report["fileSystemJar"])


def _ask_server(spark: Any, path: str) -> str:
    """The answer of our class on the Connect server, which is asked by SQL."""
    settings = {
        row["key"]: {"value": row["value"], "source": _SESSION}
        for row in spark.sql("SET").collect()
        if _REDACTED not in row["value"]
    }
    for key in _DECIDING_KEYS:
        value = spark.conf.get(key, None)
        if value is not None and key not in settings:
            settings[key] = {"value": value, "source": _DEFAULT}
    try:
        version = _jvm.call_server(spark, "io.manifestcommitter.BuildInfo", "version")
        if version != __version__:
            raise JarVersionError(version, "on the Connect server", __version__)
        return _jvm.call_server(
            spark,
            "io.manifestcommitter.info.CommitterInfo",
            "ofConnect",
            json.dumps(settings),
            path,
            session.jar_path(),
        )
    except JarVersionError:
        raise
    except Exception as error:
        protocol = settings.get(session.PROTOCOL_KEY, {"value": "unknown"})["value"]
        missing = "io.manifestcommitter" in str(error)
        raise ConnectSessionError(
            f"This Spark Connect session commits by {protocol} "
            f"({session.PROTOCOL_KEY}). More is not known: "
            + (
                "its server does not have our jar. Call configure_session(spark) first, "
                if missing
                else f"its server could not be asked ({_jvm.first_line(error)}). "
            )
            + ("or use" if missing else "Use")
            + " `manifest-committer info <path>` on a machine that has the server's settings."
        ) from error
