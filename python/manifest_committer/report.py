# SPDX-License-Identifier: Apache-2.0
"""The report of a job: what it committed, as its ``_SUCCESS`` file tells."""

import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from manifest_committer import _adding, _iceberg, _jvm, _writing, pictures
from manifest_committer._figures import NAMES, count, duration, in_units, moment, words
from manifest_committer._listing import Listing, published
from manifest_committer.errors import (
    EmptyReportError,
    FileListError,
    InvalidReportError,
    ManifestCommitterError,
    PassingOnError,
    ReportNotFoundError,
    StorageError,
)
from manifest_committer.info import printable
from manifest_committer.session import PROTOCOL_CLASS, PROTOCOL_KEY
from manifest_committer.watching import Step

if TYPE_CHECKING:
    import pandas
    from pyiceberg.table import Table
    from pyspark.sql import DataFrame

    from manifest_committer._jvm import SparkSession

SUCCESS_MARKER = "_SUCCESS"
_LIST_SUFFIX = ".files"
_REPORT_NAME = "org.apache.hadoop.fs.s3a.commit.files.SuccessData/1"
_MAX_BYTES = 64 * 1024 * 1024
_MAX_LINE = 1024 * 1024
_MAX_INT = 2**63
_FILES_COUNTER = "committer_files_committed"
_BYTES_COUNTER = "committer_bytes_committed"
_TASKS_COUNTER = "committer_tasks_completed"
_COMMIT_TIME = "committer_commit_job"
_PARTITIONS = "committer_partitions_"
_FATES = {"created": "created", "replaced": "replaced", "appended": "appended to"}
_THROTTLED = "store_io_throttled"
_REQUESTS = (
    "op_get_file_status",
    "op_list_status",
    "op_mkdirs",
    "op_rename",
    "op_create",
    "op_open",
    "op_delete",
    "op_get_file_checksum",
    "op_access",
    "multipart_upload_part_put",
    "multipart_upload_completed",
    "multipart_upload_aborted",
)

_T = TypeVar("_T")
_V = TypeVar("_V")


class _FrozenMap(Mapping[str, _V]):
    """A mapping that cannot change; unlike a mapping proxy it can be copied and pickled."""

    def __init__(self, items: Mapping[str, _V]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: str) -> _V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass(frozen=True)
class Mean:
    """The samples of one statistic; times are in milliseconds."""

    samples: int
    sum: int

    @property
    def mean(self) -> float:
        """The mean of the samples; 0 without samples."""
        return self.sum / self.samples if self.samples else 0.0


@dataclass(frozen=True)
class Statistics:
    """What a job and its tasks counted and measured, by the names Hadoop's committers use.

    Statistics that are zero may be left out by the committer: ask with ``.get(name, 0)``.
    """

    counters: Mapping[str, int]
    gauges: Mapping[str, int]
    minimums: Mapping[str, int]
    maximums: Mapping[str, int]
    means: Mapping[str, Mean]


@dataclass(frozen=True)
class PartitionTotal:
    """What a job did to one partition."""

    path: str
    """Relative to the table, ``.`` for a table without partitions; a URI if it lies outside."""
    outcome: str
    """``created``, ``replaced`` or ``appended to``; empty where that is not known."""
    files: int
    bytes: int


class _ListedFile(NamedTuple):
    path: str
    size: int
    etag: str | None


@dataclass(frozen=True)
class SuccessReport:
    """What one job committed.

    Also reads the reports of Hadoop's own manifest and S3A committers, which have this format.
    Texts that the committer left out are empty.
    """

    path: str
    """The report file, as a qualified path."""
    job_id: str
    job_id_source: str
    """Where the job's id comes from: a configuration key, or ``JobID``."""
    committer: str
    hostname: str
    """The host of the job's driver."""
    timestamp: int
    """When the report was made, in milliseconds since 1970 UTC."""
    date: str
    """The same for people, as the committer wrote it."""
    success: bool
    """False in the report of a failed job, found in a report directory only."""
    state: str
    stage: str
    """The stage in which the job ended."""
    description: str
    files: int
    """How many files the job committed; without that statistic, how many are named."""
    bytes: int
    """How many bytes they have together."""
    statistics: Statistics
    diagnostics: Mapping[str, str]
    """Texts about the job, such as the exception that made it fail."""
    filenames: tuple[str, ...]
    """The first files, 100 at most; `file_list` has all of them."""

    @property
    def table(self) -> str | None:
        """The directory the job wrote to; None for a report from a report directory."""
        directory, _, name = self.path.rpartition("/")
        return directory if name == SUCCESS_MARKER else None

    @property
    def write(self) -> str:
        """The kind of write, such as ``append`` or ``dynamic overwrite``; empty where unknown."""
        return self.diagnostics.get("write", "")

    @property
    def requests(self) -> Mapping[str, int]:
        """How many requests of each kind the commit made to the store, until the report."""
        counters = self.statistics.counters
        return {name.removeprefix("op_"): counters[name] for name in _REQUESTS if name in counters}

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the commit until the report, in the order in which they began."""
        return tuple(
            Step(one.take("name", str), one.take("start", int), one.take("millis", int))
            for one in self._told("steps")
        )

    @property
    def partitions(self) -> tuple[PartitionTotal, ...]:
        """What became of partitions, by name: of the 40 largest and the 10 smallest."""
        return tuple(
            PartitionTotal(
                path=one.take("path", str),
                outcome=one.take("outcome", str),
                files=one.take("files", int),
                bytes=one.take("bytes", int),
            )
            for one in self._told("partitions")
        )

    def _told(self, name: str) -> "list[_Fields]":
        """The objects of a diagnostic that is JSON; none where another committer has text there."""
        place = f"{self.path}, {name}"
        try:
            listed = _jvm.decoded(self.diagnostics.get(name, "[]"))
        except ValueError:
            return []
        return [_Fields(place, one) for one in listed] if isinstance(listed, list) else []

    def file_list(self, spark: "SparkSession") -> "DataFrame":
        """All files of the job as a Spark DataFrame.

        Its columns are ``path`` (relative to the table; a URI if the file is outside), ``size``
        in bytes, and ``etag``, null on stores without. The list travels through this process;
        expect some 200 bytes of memory a file.

        Args:
            spark: the session to read with, and to make the DataFrame in.

        Raises:
            FileListError: there is no list, it is damaged, or another job has since written one.
            JarNotLoadedError: a Connect session does not have our jar.
            ConnectSessionError: a Connect server that cannot be asked.
            StorageError: the filesystem failed.
        """
        files = list(_read_file_list(_jvm.open_session(spark), self))
        return spark.createDataFrame(files, "path string, size bigint, etag string")

    def file_list_pandas(self, spark: "SparkSession") -> "pandas.DataFrame":
        """The same as `file_list`, as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ManifestCommitterError(
                "pandas is not installed: `pip install 'pandas>=2'`, or use "
                "report.file_list(spark), a Spark DataFrame."
            ) from error
        files = _read_file_list(_jvm.open_session(spark), self)
        return pandas.DataFrame(list(files), columns=list(_ListedFile._fields))

    def paths(self, spark: "SparkSession") -> Iterator[str]:
        """The path of each file of the job, with its scheme, as readers of data take it.

        Raises:
            PassingOnError: the job did not commit.
            FileListError: as `file_list`.
        """
        return (file.path for file in self._listing(_jvm.open_session(spark)).files)

    def add_partitions(self, spark: "SparkSession", table: str) -> int:
        """Let a table of the catalog know the partitions that the job wrote to; drop none.

        For jobs that wrote by path into the directory of a partitioned table. A partition that
        the catalog has stays as it is. So nothing is left to do after an insert into the table
        itself. One call to the catalog for a thousand partitions.

        Args:
            spark: a session, classic or Connect, whose catalog has the table.
            table: its name, as ``spark.table`` takes it.

        Returns:
            How many partitions were added.

        Raises:
            PassingOnError: the job did not commit; or the table is not partitioned like its files,
                lies elsewhere, or is none whose partitions the catalog keeps.
            FileListError: as `file_list`.
        """
        session = _jvm.open_session(spark)
        return _adding.add_partitions(spark, session, table, self._listing(session))

    def to_iceberg(self, spark: "SparkSession", table: "Table") -> int:
        """Add the job's files to an Iceberg table, as they are, in one commit.

        After an overwrite the same snapshot removes the files that the job replaced. A report
        that was passed on before changes nothing. Needs ``pyiceberg[pyarrow]``, which reads the
        footer of each file. Memory holds the path of each file, and all else of 10,000
        at most.

        Args:
            spark: the session to read the list of files with.
            table: as a catalog of pyiceberg loads it. Its partitions are the values of the same
                columns, in the same order, as those of the directories.

        Returns:
            How many files were added.

        Raises:
            PassingOnError: the job did not commit, or Iceberg cannot take a file; or it is not
                known what the job replaced. Nothing was changed.
            FileListError: as `file_list`.
        """
        return _iceberg.add_files(table, self, self._listing(_jvm.open_session(spark)))

    def write_manifest(
        self,
        spark: "SparkSession",
        path: str | os.PathLike[str],
        *,
        format: str,  # noqa: A002
    ) -> int:
        """Write the names of the job's files down for another system.

        ``bigquery`` names a URI a line, for ``NEW_LINE_DELIMITED_MANIFEST``
        (https://cloud.google.com/bigquery/docs/query-open-table-format-using-manifest-files).

        ``redshift`` is the JSON that ``COPY … MANIFEST`` reads
        (https://docs.aws.amazon.com/redshift/latest/dg/loading-data-files-using-manifest.html).

        ``symlink`` is for Hive's ``SymlinkTextInputFormat``, in Athena and Trino. Each partition
        has a directory below the path, with a file ``manifest``
        (https://docs.delta.io/latest/presto-integration.html).

        The first two name what this job wrote. The third describes the table: an append adds to
        its manifests, and an overwrite replaces them.

        Args:
            spark: the session to read the list with, and to write by. A Connect session can write
                only to ``file:/…``, on this machine.
            path: the file to write; for ``symlink``, the directory.
            format: one of these three.

        Returns:
            How many files of the job the manifest names, or the manifests.

        Raises:
            PassingOnError: the job did not commit, its files are in another store than the format
                is for, or an append has no manifest to add to. Nothing was written.
            FileListError: as `file_list`.
            StorageError: the filesystem failed.
        """
        session = _jvm.open_session(spark)
        files = _writing.Files(session, os.fspath(path))
        return _writing.write(files, format, self, lambda: self._listing(session))

    def _listing(self, session: "_jvm.Session") -> Listing:
        """The files of a job that committed; the list is read while one goes through them."""
        if not self.success or self.outcome not in ("committed", "completed"):
            raise PassingOnError(
                f"Job {self.job_id} ended as {words(self.outcome)}, so nothing of it is visible, "
                f"and there is nothing to pass on ({self.path}). Pass on the report of a job that "
                "committed; a held job leaves one once it is published."
            )
        place, files = _open_file_list(session, self)
        return published(self.table or place, files)

    def __str__(self) -> str:
        """A summary of at most 15 lines."""
        return self.text()

    def text(self, *, steps: bool = False, partitions: bool = False) -> str:
        """The summary, and more on demand.

        Args:
            steps: also the steps in time, and the requests by kind.
            partitions: also what became of the largest and smallest partitions.
        """
        lines = [self._title(), *_columns(self.rows())]
        if steps:
            times = [(words(s.name), duration(s.start), duration(s.millis)) for s in self.steps]
            kinds = [(words(kind), count(n)) for kind, n in self.requests.items()]
            lines += _listed(("step", "begin", "time"), times)
            lines += _listed(("request", "number"), kinds)
        if partitions:
            totals = [
                (one.path, one.outcome, count(one.files), in_units(one.bytes))
                for one in self.partitions
            ]
            names = ("partition", NAMES["outcome"], NAMES["files"], NAMES["bytes"])
            lines += _listed(names, totals)
        return "\n".join(printable(line) for line in lines)

    def _repr_html_(self) -> str:
        """The same for notebooks, with pictures of the steps and the requests."""
        drawn = pictures.of_commit(self.steps, self.requests)
        return pictures.block(self._title(), pictures.facts(self.rows()), drawn)

    @property
    def outcome(self) -> str:
        """How it ended.

        ``committed``, ``skipped``, ``held``, ``failed``, ``aborted``, ``completed`` or
        ``rolled_back``.
        """
        if self.success:
            return self.state or "committed"
        return "failed" if self.state in ("", "committed") else self.state

    def outcome_of(self, partition: str) -> str:
        """What became of a partition; empty where the report does not say."""
        named = {one.path: one.outcome for one in self.partitions}
        counters = self.statistics.counters
        fates = [told for fate, told in _FATES.items() if counters.get(_PARTITIONS + fate)]
        return named.get(partition) or (fates[0] if len(fates) == 1 else "")

    def _title(self) -> str:
        return f"Job {self.job_id or '(without id)'}: {words(self.outcome)}"

    def rows(self) -> Iterator[tuple[str, str]]:
        """What a summary says: names and values, for people."""
        return ((NAMES[key], value) for key, value in self._figures() if value)

    def _figures(self) -> Iterator[tuple[str, str]]:
        counters = self.statistics.counters
        yield ("table", self.table) if self.table is not None else ("report", self.path)
        yield "files", count(self.files)
        exact = count(self.bytes)
        yield "bytes", exact if self.bytes < 1024 else f"{exact} ({in_units(self.bytes)})"
        commit_id = self.diagnostics.get("commit.id", "")
        yield "write", f"{self.write} (commit.id {commit_id})" if commit_id else self.write
        fates = {fate: counters.get(_PARTITIONS + fate, 0) for fate in _FATES}
        yield (
            "partitions",
            ", ".join(f"{count(n)} {_FATES[fate]}" for fate, n in fates.items() if n),
        )
        tasks, throttled = counters.get(_TASKS_COUNTER, 0), counters.get(_THROTTLED, 0)
        yield "tasks", count(tasks) if tasks else ""
        commit_time = self.statistics.means.get(f"{_COMMIT_TIME}.mean")
        yield "millis", "" if commit_time is None else duration(commit_time.sum)
        yield "requests", count(sum(self.requests.values())) if self.requests else ""
        yield "throttled", count(throttled) if throttled else ""
        host = f" on {self.hostname}" if self.hostname else ""
        yield "ended", f"{moment(self.timestamp)}{host}"
        application = self.diagnostics.get("application.name", "")
        identity = self.diagnostics.get("application.id", "")
        yield "application", f"{application} ({identity})" if application else identity
        yield "committer", self.committer
        if not self.success:
            yield "stage", words(self.stage.removeprefix("job_stage_")) or "unknown"
            yield "error", self.diagnostics.get("exception", "").strip().partition("\n")[0]


def _listed(names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A part of a summary: rows below their names."""
    if not rows:
        return ["", f"  No {names[0]} is in this report."]
    return ["", *_columns([names, *rows])]


def _columns(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Lines whose parts stand below one another."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()


def read_report(spark: "SparkSession", path: str | os.PathLike[str]) -> SuccessReport:
    """Read the report of the last job that committed to a table.

    Args:
        spark: a session, classic or Connect; its Hadoop settings and credentials are used.
        path: the table, its ``_SUCCESS`` file, or a report file from a report directory; any
            filesystem that Hadoop knows.

    Raises:
        ReportNotFoundError: no ``_SUCCESS``: the job is not finished, or the marker is off.
        EmptyReportError: an empty ``_SUCCESS``: another committer wrote it.
        InvalidReportError: not JSON, or not a report.
        JarNotLoadedError: a Connect session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
        StorageError: the filesystem failed.
    """
    return _read_report(_jvm.open_session(spark), os.fspath(path))


def parse_report(content: bytes, path: str) -> SuccessReport:
    """Read a report from the content of its file.

    Args:
        content: the JSON.
        path: where it came from, for messages and `SuccessReport.path`.

    Raises:
        InvalidReportError: not JSON, or not a report.
    """
    try:
        document = _jvm.decoded(content)
    except ValueError as error:
        raise InvalidReportError(path, f"it is not JSON ({error})") from error
    return report_of(document, path)


def report_of(document: Any, path: str) -> SuccessReport:
    """The same of JSON that is decoded."""
    fields = _Fields(path, document)
    name = fields.take("name", str, "")
    if name != _REPORT_NAME:
        raise InvalidReportError(path, f"its 'name' is {_short(name)}, not {_REPORT_NAME!r}")
    statistics = _statistics(fields.inner("iostatistics"))
    filenames = tuple(fields.texts("filenames"))
    return SuccessReport(
        path=path,
        job_id=fields.take("jobId", str, ""),
        job_id_source=fields.take("jobIdSource", str, ""),
        committer=fields.take("committer", str, ""),
        hostname=fields.take("hostname", str, ""),
        timestamp=fields.timestamp("timestamp"),
        date=fields.take("date", str, ""),
        success=fields.take("success", bool, False),
        state=fields.take("state", str, ""),
        stage=fields.take("stage", str, ""),
        description=fields.take("description", str, ""),
        files=statistics.counters.get(_FILES_COUNTER, len(filenames)),
        bytes=statistics.counters.get(_BYTES_COUNTER, 0),
        statistics=statistics,
        diagnostics=fields.inner("diagnostics").mapping(str),
        filenames=filenames,
    )


def _read_report(session: _jvm.Session, path: str) -> SuccessReport:
    found = session.find(path)
    if found is None:
        raise ReportNotFoundError(
            f"There is nothing at {path}: no job has committed there. Check the path; a table's "
            "location is in DESCRIBE FORMATTED."
        )
    if found.is_directory:
        marker = f"{found.path.rstrip('/')}/{SUCCESS_MARKER}"
        table, found = found.path, session.find(marker)
        if found is None:
            raise ReportNotFoundError(
                f"{table} has no {SUCCESS_MARKER}: no job has finished there, or it failed, or "
                "mapreduce.fileoutputcommitter.marksuccessfuljobs is false and switches the "
                f"file off.{_protocol_hint(session)}"
            )
        if found.is_directory:
            raise InvalidReportError(
                found.path, "it is a directory; move it away, so that a job can leave a report"
            )
    if found.length == 0:
        raise EmptyReportError(
            f"{found.path} is empty: the last job there was committed by another committer, "
            "such as Hadoop's FileOutputCommitter, which leaves no report. "
            "Bind the manifest committer with manifest_committer.configure_session(spark) and "
            f"write again.{_protocol_hint(session)}"
        )
    if found.length > _MAX_BYTES:
        raise InvalidReportError(found.path, f"{found.length} bytes are too many for one")
    try:
        content = b"".join(session.chunks(found.path))
    except StorageError:
        if session.find(found.path) is not None:
            raise
        raise ReportNotFoundError(
            f"{found.path} went while it was read, since another job commits. Read it again."
        ) from None
    return parse_report(content, found.path)


def _protocol_hint(session: _jvm.Session) -> str:
    """Why this session's jobs may leave no report of ours; empty if nothing is wrong with it."""
    bound = session.setting(PROTOCOL_KEY)
    if bound != PROTOCOL_CLASS:
        return (
            f" This session's {PROTOCOL_KEY} is {bound}, not {PROTOCOL_CLASS}: call "
            "manifest_committer.configure_session(spark) before writing."
        )
    problem = session.protocol_problem(PROTOCOL_CLASS)
    if problem is not None:
        return (
            f" This session's {PROTOCOL_KEY} is {bound}, but {problem}: call "
            "manifest_committer.configure_session(spark), which adds the jar."
        )
    return ""


def _read_file_list(session: _jvm.Session, report: SuccessReport) -> Iterator[_ListedFile]:
    return _open_file_list(session, report)[1]


def _open_file_list(
    session: _jvm.Session, report: SuccessReport
) -> tuple[str, Iterator[_ListedFile]]:
    """The table that a list is of, and its files; they are read while one goes through them."""
    directory, _, name = report.path.rpartition("/")
    # Hidden from readers of data: in a table by the marker's own underscore.
    path = f"{directory}/{'' if name.startswith('_') else '_'}{name}{_LIST_SUFFIX}"
    found = session.find(path)
    if found is None:
        raise FileListError(
            f"{path} does not exist: the job failed, or its report was written by another "
            "committer, or somebody deleted the list. The report names "
            f"{len(report.filenames)} of {report.files} files in its `filenames`."
        )
    numbered = enumerate(_lines(session.chunks(path), path), start=1)
    header = _line(path, *next(numbered, (1, b"")))
    job_id, expected = header.take("jobId", str), header.take("files", int)
    if job_id != report.job_id:
        raise FileListError(
            f"{path} belongs to job {job_id[:200]}, this report to job {report.job_id}: another "
            "job has committed to the table since. Read the report again with read_report; the "
            "files of the earlier job are no longer listed."
        )
    return header.take("table", str, ""), _parse_file_list(numbered, path, expected)


def _parse_file_list(
    numbered: Iterable[tuple[int, bytes]], path: str, expected: int
) -> Iterator[_ListedFile]:
    count = 0
    for number, text in numbered:
        if count == expected:
            raise FileListError(
                f"{path} is damaged: it should name {expected} files and names more. The table's "
                "data files are not affected."
            )
        fields = _line(path, number, text)
        etag = fields.take("etag", str, "") or None
        yield _ListedFile(fields.take("path", str), fields.take("size", int), etag)
        count += 1
    if count != expected:
        raise FileListError(
            f"{path} is damaged: it should name {expected} files and names {count}. The table's "
            "data files are not affected."
        )


def _lines(chunks: Iterator[bytes], path: str) -> Iterator[bytes]:
    """The lines of a compressed file, none of them endless."""
    try:
        with gzip.GzipFile(fileobj=io.BufferedReader(_Chunks(chunks))) as file:
            while line := file.readline(_MAX_LINE + 1):
                if len(line) > _MAX_LINE:
                    raise FileListError(
                        f"{path} is damaged: a line has more than {_MAX_LINE} bytes. The table's "
                        "data files are not affected."
                    )
                yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileListError(
            f"{path} is damaged: {error}. The table's data files are not affected."
        ) from error


def _line(path: str, number: int, text: bytes) -> "_Fields":
    place = f"{path}, line {number}"
    try:
        return _Fields(place, _jvm.decoded(text), FileListError)
    except ValueError as error:
        raise FileListError(f"{place}: not JSON ({error}); the list is damaged.") from error


class _Chunks(io.RawIOBase):
    """A stream over the chunks of a file, so that a long list is never in memory twice."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


_REQUIRED: Any = object()


class _Fields:
    """The fields of a JSON object, checked for their types."""

    def __init__(
        self,
        origin: str,
        value: Any,
        error: type[FileListError] | None = None,
    ) -> None:
        self._origin = origin
        self._error = error
        if not isinstance(value, dict):
            raise self._wrong(f"it is a JSON {type(value).__name__}, not an object")
        self._value = value

    def take(self, name: str, kind: type[_T], default: _T = _REQUIRED) -> _T:
        value = self._value.get(name)
        if value is None and default is not _REQUIRED:
            return default
        if type(value) is not kind:
            raise self._wrong(f"its {_short(name)} is {_short(value)}, not a {kind.__name__}")
        if isinstance(value, int) and not -_MAX_INT <= value < _MAX_INT:
            raise self._wrong(f"its {_short(name)} is {_short(value)}, which is too large")
        self._require_text(value)
        return value

    def timestamp(self, name: str) -> int:
        value = self.take(name, int, 0)
        try:
            datetime.fromtimestamp(value / 1000, tz=timezone.utc)
        except (ValueError, OverflowError, OSError):
            raise self._wrong(f"its {name!r} is {value}, not a time in milliseconds") from None
        return value

    def inner(self, name: str) -> "_Fields":
        value = self._value.get(name)
        return _Fields(
            f"{self._origin}, {_short(name)}", {} if value is None else value, self._error
        )

    def texts(self, name: str) -> list[str]:
        value = self._value.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise self._wrong(f"its {name!r} is not a list of texts")
        for text in value:
            self._require_text(text)
        return value

    def mapping(self, kind: type[_T]) -> Mapping[str, _T]:
        return _FrozenMap({self._require_text(name): self.take(name, kind) for name in self._value})

    def means(self) -> Mapping[str, Mean]:
        means = {}
        for name in self._value:
            parts = self.inner(self._require_text(name))
            means[name] = Mean(parts.take("samples", int, 0), parts.take("sum", int, 0))
        return _FrozenMap(means)

    def _require_text(self, value: _T) -> _T:
        """Refuse half of a surrogate pair, which no file or terminal can show."""
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise self._wrong(f"{_short(value)} is no text") from None
        return value

    def _wrong(self, cause: str) -> Exception:
        if self._error is not None:
            return self._error(f"{self._origin}: {cause}; the list is damaged.")
        return InvalidReportError(self._origin, cause)


def _statistics(fields: _Fields) -> Statistics:
    return Statistics(
        counters=fields.inner("counters").mapping(int),
        gauges=fields.inner("gauges").mapping(int),
        minimums=fields.inner("minimums").mapping(int),
        maximums=fields.inner("maximums").mapping(int),
        means=fields.inner("meanstatistics").means(),
    )


def _short(value: Any) -> str:
    """A value for a message: one of a damaged file may be endless."""
    try:
        text = ascii(value)
    except (ValueError, RecursionError):
        return "too long to show"
    return text if len(text) <= 100 else f"{text[:100]}..."
