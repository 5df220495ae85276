# SPDX-License-Identifier: Apache-2.0
"""Which committer the jobs that write to a path get, from which setting, and what is wrong."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from manifest_committer import _jvm, pictures, session
from manifest_committer.errors import JarNotLoadedError

if TYPE_CHECKING:
    from manifest_committer._jvm import SparkSession

_DECIDING_KEYS = (
    session.PROTOCOL_KEY,
    "spark.sql.parquet.output.committer.class",
    "spark.sql.sources.outputCommitterClass",
    "spark.sql.streaming.commitProtocolClass",
    # Native engines, and whether they write.
    "spark.plugins",
    "spark.sql.extensions",
    "spark.gluten.enabled",
    "spark.gluten.sql.native.writer.enabled",
    "spark.comet.enabled",
    "spark.comet.parquet.write.enabled",
    "spark.native.enabled",
    "spark.databricks.clusterUsageTags.runtimeEngine",
)
_COLORS = {"error": pictures.RED, "warning": pictures.AMBER}
_NOT_MADE = ("factory-not-found", "factory-failed", "store-", "no-answer")
_COMMITTER = "io.manifestcommitter.ManifestCommitter"
_SPARKS_PROTOCOLS = ("SQLHadoopMapReduceCommitProtocol", "HadoopMapReduceCommitProtocol")


@dataclass(frozen=True)
class Setting:
    """The value of a setting, and where it was set."""

    value: str
    source: str

    def __str__(self) -> str:
        """Value and source in one line."""
        return f"{self.value} ({self.source})"


@dataclass(frozen=True)
class OptionSetting(Setting):
    """An option that is set, and what that changes."""

    default: str | None = None
    """Its value where none is set; None for a setting of a store's connector."""
    meaning: str | None = None
    """What it does; None for a setting of a store's connector."""

    def __str__(self) -> str:
        """All of it in one line; of the meaning, the first sentence."""
        text = super().__str__()
        if self.default is not None:
            default = self.default or "nothing"
            text += ", the default" if self.value == self.default else f", by default {default}"
        return text if self.meaning is None else f"{text}: {self.meaning.split('. ')[0].strip('.')}"


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
    options: Mapping[str, OptionSetting]
    """The committer's options that are set, and settings of the store's connector that act on
    commits."""
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
    details: str = field(repr=False)
    """What ``manifest-committer info --verbose`` prints."""

    def __str__(self) -> str:
        """The same text as the command line's."""
        return self.text

    def _repr_html_(self) -> str:
        """The verdict, the problems with their repairs, and who commits, for notebooks."""
        verdict, _, _ = self.text.partition("\n")
        rows = [
            ("Spark SQL and DataFrames", str(self.commit_protocol)),
            ("streaming queries", str(self.streaming_protocol)),
            ("MapReduce jobs and RDD writers", self.committer or "not made"),
            *((key, str(option)) for key, option in self.options.items()),
        ]
        return pictures.block(
            verdict,
            *(
                pictures.note(
                    f"{problem.severity}: {problem.text}.",
                    [repair.strip() for repair in _repairs(vars(problem.repair), in_spark=True)],
                    _COLORS.get(problem.severity, pictures.BLUE),
                )
                for problem in self.problems
            ),
            pictures.table(
                (),
                [
                    (pictures.heading(name, "path"), pictures.cell(value, "path"))
                    for name, value in rows
                ],
            ),
        )

    def problem(self, code: str) -> Problem | None:
        """The first problem of that code; None if there is none."""
        return next((problem for problem in self.problems if problem.code == code), None)


def committer_info(spark: "SparkSession", path: str | os.PathLike[str]) -> CommitterInfo:
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
        JarNotLoadedError: a Connect session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
        JarMissingError: see `jar_path`.
    """
    asked = _jvm.open_session(spark)
    loaded = _jvm.check_version(asked.loaded_jar())
    settings = asked.settings(_DECIDING_KEYS)
    if loaded is None and _jvm.is_connect(spark):
        protocol = settings.get(session.PROTOCOL_KEY, {"value": "unknown"})["value"]
        raise JarNotLoadedError(
            f"It commits by {protocol} ({session.PROTOCOL_KEY}). For more without the jar, run "
            "`manifest-committer info <path>` on a machine that has the server's settings."
        )
    return info_of(asked.committer_info(settings, os.fspath(path), session.jar_path()))


def info_of(report: Mapping[str, Any]) -> CommitterInfo:
    """The report that the Java side answers with, as a value."""
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
        options={key: OptionSetting(**option) for key, option in report["options"].items()},
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
        text=info_text(report),
        details=info_text(report, verbose=True),
    )


def info_text(report: Mapping[str, Any], *, verbose: bool = False) -> str:
    """A report of the Java side, for people: the verdict, who commits, and what is wrong.

    With ``verbose`` also classes, places, notes, and where Spark shows commits.
    """
    lines = [f"{report['path']}: {_verdict(report)}"]
    lines += _lines(("Spark SQL", _sparks(report)), ("Hadoop, RDDs", _hadoops(report)))
    for key, option in report["options"].items():
        lines.append(f"  Option {key} = {OptionSetting(**option)}")
    shown = [p for p in report["problems"] if verbose or p["severity"] != "note"]
    for problem in shown:
        lines.append(f"  {problem['severity'].upper()} {problem['code']}: {problem['text']}.")
        lines += _repairs(problem["repair"], in_spark=report["commitProtocol"] is not None)
    if verbose:
        lines += _details(report)
    elif notes := len(report["problems"]) - len(shown):
        lines.append(f"  {_count(notes, 'note')}, shown by --verbose and by .details in Python")
    return "\n".join(printable(line) for line in lines)


def _details(report: Mapping[str, Any]) -> Iterator[str]:
    protocol = report["commitProtocol"]
    if protocol is not None:
        yield "  Spark SQL and DataFrames"
        yield from _lines(("  Protocol", _setting(protocol)))
        if protocol["value"].rpartition(".")[2] in _SPARKS_PROTOCOLS:
            yield from _lines(
                ("  Parquet", _setting(report["parquetCommitter"])),
                ("  Other formats", _setting(report["outputCommitter"])),
            )
        yield from _lines(("  Streaming", _setting(report["streamingProtocol"])))
    if report["factory"] is not None:
        yield "  MapReduce jobs and RDD writers"
        yield from _lines(
            ("  Committer", report["committer"] or "not made"),
            ("  Factory", report["factory"]),
            ("  Job directory", report["jobDirectory"]),
            ("  Says of itself", report["description"]),
            ("  FileSystem", _file_system(report)),
        )
    yield "  Watching commits"
    if not report["watching"]:
        unknown = "not known outside of a session: no application of Spark runs here"
        yield from _lines(("  Shown by Spark", unknown))
    for name, place in report["watching"].items():
        yield from _lines((f"  {name.capitalize()}", WatchPlace(**place)))
    yield f"  Seen by manifest-committer {report['version']} on Hadoop {report['hadoopVersion']}"


def _sparks(report: Mapping[str, Any]) -> str:
    """Who commits what Spark SQL and DataFrames write."""
    protocol = report["commitProtocol"]
    if protocol is None:
        return (
            "not known, since no setting of Spark was given. In a session, ask "
            "mc.committer_info(spark, path)"
        )
    name = protocol["value"].rpartition(".")[2]
    if protocol["value"] == session.PROTOCOL_CLASS:
        name = "the manifest committer"
    elif name in _SPARKS_PROTOCOLS:
        name = "Spark's own commit protocol"
    return f"{name} ({protocol['source']})"


def _hadoops(report: Mapping[str, Any]) -> str | None:
    """Who commits what MapReduce jobs and RDD writers write; None for a path that is none."""
    factory = report["factory"]
    if factory is None:
        return None
    name = (report["committer"] or factory).rpartition(".")[2]
    if _is_bound(report):
        name = "the manifest committer"
    elif _is_ours(report) and _is_lakefs(report):
        name += ", which refuses them in lakeFS"
    if any(problem["code"].startswith(_NOT_MADE) for problem in report["problems"]):
        name += ", which could not be made"
    source = report["factorySource"]
    return f"{name} ({report['factoryKey']}, {source})" if source else f"{name} (the default)"


def _verdict(report: Mapping[str, Any]) -> str:
    if report["ok"]:
        jobs = ["Spark SQL"] if _commits_sql(report) else []
        jobs += ["MapReduce jobs and RDDs"] if _is_bound(report) else []
        verdict = f"ok, the manifest committer commits {', '.join(jobs)}"
    elif report["served"]:
        verdict = "not ok"
    elif report["commitProtocol"] is None and report["factory"] is not None:
        verdict = "not known for Spark SQL; MapReduce jobs and RDDs get another committer"
    else:
        verdict = "not by the manifest committer"
    for severity in ("error", "warning"):
        if count := sum(problem["severity"] == severity for problem in report["problems"]):
            verdict += f", {_count(count, severity)}"
    return verdict


def _commits_sql(report: Mapping[str, Any]) -> bool:
    """Whether our committer gets what Spark SQL writes, if nothing is an error."""
    name = (report["commitProtocol"] or {"value": ""})["value"]
    asks_factory = name.endswith(".PathOutputCommitProtocol")
    return name == session.PROTOCOL_CLASS or (asks_factory and _is_bound(report))


def _is_bound(report: Mapping[str, Any]) -> bool:
    """Whether our factory made the committer, or would where none was made."""
    committer = report["committer"]
    made = committer is None and _is_ours(report) and not _is_lakefs(report)
    return made or bool(committer == _COMMITTER)


def _is_ours(report: Mapping[str, Any]) -> bool:
    return bool(report["factory"] == session.FACTORY_CLASS)


def _is_lakefs(report: Mapping[str, Any]) -> bool:
    """Whether lakeFS's API commits what Spark SQL writes."""
    return any(key.endswith("lakefs.endpoint") for key in report["options"])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _lines(*fields: tuple[str, Any]) -> list[str]:
    return [f"  {name:<16} {value}" for name, value in fields if value is not None]


def _setting(setting: Mapping[str, str] | None) -> Setting | None:
    return None if setting is None else Setting(**setting)


def _repairs(repair: Mapping[str, Any], *, in_spark: bool) -> Iterator[str]:
    for key, value in repair["settings"].items():
        # Hadoop's settings have another name where Spark is started.
        name = f"spark.hadoop.{key}" if in_spark and not key.startswith("spark.") else key
        action = f"remove {name}" if value is None else f"set {name} = {value or '(nothing)'}"
        yield f"    Repair: {action}"
    if repair["jar"]:
        yield f"    Repair: put on the class path {repair['jar']}"
    if repair["path"]:
        yield f"    Repair: write to {repair['path']}"


def printable(text: str) -> str:
    """Text on one line. A name with control characters must not command the terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def _file_system(report: Mapping[str, Any]) -> Setting | None:
    if report["fileSystem"] is None:
        return None
    return Setting(report["fileSystem"], report["fileSystemJar"])
