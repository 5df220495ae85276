# SPDX-License-Identifier: Apache-2.0
"""Files of a job for an Iceberg table, by pyiceberg; nothing is copied.

What Spark writes below ``p=1/`` has no column ``p``. Iceberg's rules of column projection
(https://iceberg.apache.org/spec/#column-projection) let readers take it from the file's partition,
and find the other columns by the table's name mapping.
"""

import pickle
import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import IO, TYPE_CHECKING, Any

from manifest_committer._listing import (
    REPLACES_NOTHING,
    REPLACES_SOMEWHERE,
    REPLACES_TABLE,
    Job,
    Listing,
    PublishedFile,
    Values,
    as_others_name,
    place,
    require_kind,
    values,
)
from manifest_committer.errors import ManifestCommitterError, PassingOnError

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile, ManifestEntry
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import TableMetadata
    from pyiceberg.typedef import Record

JOB = "manifest-committer.job-id"
ENDED = "manifest-committer.job-ended"
"""What a snapshot says of the job that it has the files of; the time is in milliseconds."""

_NEEDED = "pyiceberg[pyarrow]>=0.12,<0.13"
_AT_ONCE = 1000
_A_SNAPSHOT = 10_000
"""How many files a snapshot adds or removes at most: so many are in memory."""

_ATTEMPTS = 5
_RETRIES = "commit.retry.num-retries"
_PARTITION = 3
"""Where a data file of pyiceberg has its partition."""

_VALUES = {
    "boolean": "(?i:true|false)",
    "int": r"[+-]?\d+",
    "long": r"[+-]?\d+",
    "string": "(?s:.*)",
    "date": r"\d{4}-\d\d-\d\d",
    "decimal": r"-?\d+(\.\d+)?",
    "timestamp": r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?",
}
"""Types of partition columns whose values a directory's name says without doubt."""


def add_files(table: "Table", job: Job, listing: Listing) -> int:
    """Add what the job wrote and remove what it replaced; returns how many files were added."""
    try:
        import pyarrow.parquet  # noqa: F401
        import pyiceberg  # noqa: F401
    except ImportError as error:
        raise ManifestCommitterError(
            f"pyiceberg is not installed, or not with pyarrow: `pip install '{_NEEDED}'`."
        ) from error
    require_kind(job)
    table.refresh()
    if _was_passed_on(table.metadata, job):
        return 0
    with tempfile.TemporaryFile() as file:
        adding = _Adding(table, listing)
        new = _Spool(file)
        for batch in adding.data_files():
            new.add(batch)
        return _commit(table, job, listing.table, new, adding.directories)


class _Spool:
    """Data files on this machine's disk: with all their statistics they may be too many."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.paths: set[str] = set()

    def add(self, batch: "list[DataFile]") -> None:
        """Write some more."""
        self.paths.update(file.file_path for file in batch)
        pickle.dump(batch, self._file)

    def batches(self) -> "Iterator[list[DataFile]]":
        """Read them all, as many at a time as a snapshot names."""
        self._file.seek(0)
        read: list[DataFile] = []
        for left in range(len(self.paths), 0, -_A_SNAPSHOT):
            while len(read) < min(left, _A_SNAPSHOT):
                read += pickle.load(self._file)
            yield read[:_A_SNAPSHOT]
            del read[:_A_SNAPSHOT]


class _Adding:
    """The data files of a job, each checked by its footer before anything is changed."""

    def __init__(self, table: "Table", listing: Listing) -> None:
        self._table = table
        self._listing = listing
        self._name = ".".join(table.name())
        self._columns = _partition_columns(table)
        self._without = _without(table.metadata, self._columns)
        _check_mapping(table)
        self._partitions: dict[str, Record] = {}

    @property
    def directories(self) -> set[str]:
        """Where the job wrote to; known once its files are."""
        return set(self._partitions)

    def data_files(self) -> "Iterator[list[DataFile]]":
        from pyiceberg.utils.concurrent import ExecutorFactory

        executor = ExecutorFactory.get_or_create()
        files = self._listing.files
        while batch := list(islice(files, _AT_ONCE)):
            partitions = [self._partition(file) for file in batch]
            yield list(executor.map(self._data_file, batch, partitions))

    def _partition(self, file: PublishedFile) -> "Record":
        """Checks what a path says, which needs no request."""
        if file.directory is None:
            raise PassingOnError(
                f"{file.path} lies outside of the table {self._listing.table}: its path does not "
                "say its partition. Only jobs whose files are below the table can be passed on."
            )
        if not file.path.lower().endswith(".parquet"):
            raise PassingOnError(
                f"{file.path} is no Parquet file by its name. Only jobs that write Parquet can be "
                "passed on to Iceberg."
            )
        if "?" in file.path or "#" in file.path:
            raise PassingOnError(
                f"{file.path} has a ? or a # in its path, and pyiceberg's paths end there. Write "
                "the table to another directory."
            )
        if file.directory not in self._partitions:
            found = values(file.directory, file.path)
            self._partitions[file.directory] = self._record(found, file.path)
        return self._partitions[file.directory]

    def _record(self, found: Values, path: str) -> "Record":
        from pyiceberg.typedef import Record

        names = [name for name, _ in found]
        if names != [column.name for column in self._columns]:
            raise PassingOnError(
                f"{path} is in a directory of the columns ({', '.join(names)}), and the "
                f"partitions of {self._name} are of "
                f"({', '.join(column.name for column in self._columns)}). Make the Iceberg table "
                "with identity partitions of the same columns, written alike, in this order."
            )
        pairs = zip(self._columns, found, strict=True)
        return Record(*(_value(column, value, path) for column, (_, value) in pairs))

    def _data_file(self, file: PublishedFile, partition: "Record") -> "DataFile":
        from pyiceberg.io.pyarrow import parquet_file_to_data_file

        location = as_others_name(file.path)
        try:
            made = parquet_file_to_data_file(self._table.io, self._without, location)
        except FileNotFoundError as error:
            raise PassingOnError(
                f"{location} is gone: a later job has replaced it. Pass on that job's report."
            ) from error
        except Exception as error:
            raise PassingOnError(
                f"Iceberg table {self._name} cannot take {location}: {_cause(error)} Nothing was "
                "changed."
            ) from error
        made[_PARTITION] = partition
        if made.partition is not partition:
            raise ManifestCommitterError(
                "This version of pyiceberg has its data files in another form: "
                f"`pip install '{_NEEDED}'`."
            )
        made.spec_id = self._table.metadata.default_spec_id
        return made


def _cause(error: Exception) -> str:
    """What pyiceberg says, with what to do where it is known."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, KeyError):
        text = f"it has a column {text}, which the table does not have."
    if "timestamp[ns" in text or "'ns'" in text:
        text += (
            " Spark writes timestamps in a form that Iceberg has not: set "
            "spark.sql.parquet.outputTimestampType to TIMESTAMP_MICROS, and write again."
        )
    return text if text.endswith(".") else f"{text}."


def _partition_columns(table: "Table") -> "Sequence[Any]":
    """The columns of the table's partitions, all by identity."""
    from pyiceberg.transforms import IdentityTransform

    metadata = table.metadata
    name = ".".join(table.name())
    columns = []
    for field in metadata.spec().fields:
        column = metadata.schema().find_field(field.source_id)
        if not isinstance(field.transform, IdentityTransform) or field.name != column.name:
            raise PassingOnError(
                f"{name} is partitioned by {field.name} = {field.transform}({column.name}), and "
                "directories say values of columns. Make an Iceberg table with identity "
                "partitions of the same columns, under their names."
            )
        if _kind(column.field_type) not in _VALUES:
            raise PassingOnError(
                f"{name} is partitioned by {column.name}, of type {column.field_type}: the name of "
                "a directory does not say such a value without doubt. Partition by one of: "
                f"{', '.join(_VALUES)}."
            )
        if column.required:
            raise PassingOnError(
                f"{name}: {column.name} is required, and is not in files that Spark wrote: "
                "pyiceberg would not read them. Make it optional in the Iceberg table."
            )
        columns.append(column)
    return columns


def _kind(column_type: Any) -> str:
    """The name of a type without its parameters."""
    return str(column_type).partition("(")[0]


def _value(column: Any, value: str | None, path: str) -> Any:
    """The value of a partition column as Iceberg keeps it."""
    from pyiceberg.expressions import literal

    if value is None:
        return None
    kind = _kind(column.field_type)
    try:
        if not re.fullmatch(_VALUES[kind], value):
            raise ValueError(f"it is not written like {_VALUES[kind]}")
        text = value.replace(" ", "T", 1) if kind == "timestamp" else value
        made = literal(text).to(column.field_type)
        if type(made).__name__.endswith(("Max", "Min")):
            raise ValueError("it is out of range")
        if kind == "decimal" and len(made.value.as_tuple().digits) > column.field_type.precision:
            raise ValueError("it is out of range")
    except (ValueError, TypeError, ArithmeticError) as error:
        raise PassingOnError(
            f"{path}: {value!r} is no value of {column.name}, a {column.field_type} in Iceberg "
            f"({error}). Give the Iceberg table the type that the directories have."
        ) from error
    return made.value


def _without(metadata: "TableMetadata", columns: "Sequence[Any]") -> "TableMetadata":
    """The table as its files are: without the columns of partitions, and without partitions."""
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
    from pyiceberg.schema import Schema

    of_partitions = {column.field_id for column in columns}
    schema = metadata.schema()
    kept = [field for field in schema.fields if field.field_id not in of_partitions]
    return metadata.model_copy(
        update={
            "schemas": [Schema(*kept, schema_id=schema.schema_id)],
            "partition_specs": [UNPARTITIONED_PARTITION_SPEC],
            "default_spec_id": UNPARTITIONED_PARTITION_SPEC.spec_id,
        }
    )


def _check_mapping(table: "Table") -> None:
    """Readers find the columns of these files by the table's mapping, if it has one."""
    mapping = table.metadata.name_mapping()
    if mapping is None:
        return
    mapped = dict(_ids(mapping.root, ()))
    for path, field_id in _ids(table.metadata.schema().name_mapping.root, ()):
        if mapped.get(path) != field_id:
            raise PassingOnError(
                f"The name mapping of {'.'.join(table.name())} does not have the column "
                f"{'.'.join(path)} as the schema has it: files without ids would be read wrong. "
                "Repair its property schema.name-mapping.default."
            )


def _ids(fields: Any, prefix: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int | None]]:
    """The columns of a mapping by all their names, with those inside of them."""
    for field in fields:
        for name in field.names:
            yield (*prefix, name), field.field_id
            yield from _ids(field.fields, (*prefix, name))


def _was_passed_on(metadata: "TableMetadata", job: Job) -> bool:
    """Whether the table has a snapshot with the job's files; one that was rolled back is none."""
    from pyiceberg.table.snapshots import ancestors_of

    current = metadata.current_snapshot()
    return any(_said(snapshot, JOB) == job.job_id for snapshot in ancestors_of(current, metadata))


def _said(snapshot: Any, key: str) -> str | None:
    """What a snapshot's summary says."""
    if snapshot is None or snapshot.summary is None:
        return None
    found = snapshot.summary.additional_properties.get(key)
    return None if found is None else str(found)


def _commit(table: "Table", job: Job, source: str, new: _Spool, written: set[str]) -> int:
    """One commit; where another writer was faster, all is looked at again."""
    from pyiceberg.exceptions import CommitFailedException

    name, shape = ".".join(table.name()), _shape(table.metadata)
    for attempt in range(1, _ATTEMPTS + 1):
        # The footers may have taken their time.
        table.refresh()
        if _shape(table.metadata) != shape:
            raise PassingOnError(
                f"The columns or partitions of {name} were changed meanwhile. Nothing was changed "
                "by this call; call it again."
            )
        _check_mapping(table)
        if _was_passed_on(table.metadata, job):
            return 0
        with tempfile.TemporaryFile() as file:
            old = _Spool(file)
            if _has_own(table, job, source, new.paths, written, old):
                return 0
            if not (new.paths or old.paths):
                return 0
            try:
                _commit_once(table, job, new, old)
                table.refresh()
                return len(new.paths)
            except CommitFailedException as error:
                if attempt == _ATTEMPTS:
                    raise PassingOnError(
                        f"{name} is changed by others all the time ({error}). Nothing was changed "
                        "by this call; call it again."
                    ) from error
    return 0


def _shape(metadata: "TableMetadata") -> tuple[Any, ...]:
    """What data files are made for."""
    return metadata.current_schema_id, metadata.default_spec_id


def _commit_once(table: "Table", job: Job, new: _Spool, old: _Spool) -> None:
    from pyiceberg.table import Table, TableProperties

    # By a copy that does not commit again of itself: before that, others' snapshots are looked at.
    properties = {**table.metadata.properties, _RETRIES: "0"}
    once = Table(
        table.name(),
        table.metadata.model_copy(update={"properties": properties}),
        table.metadata_location,
        table.io,
        table.catalog,
        table.config,
    )
    with once.transaction() as transaction:
        if table.metadata.name_mapping() is None:
            mapping = table.metadata.schema().name_mapping.model_dump_json()
            transaction.set_properties({TableProperties.DEFAULT_NAME_MAPPING: mapping})
        said = {JOB: job.job_id, ENDED: str(job.timestamp)}
        none: list[DataFile] = []
        for added, removed in zip_longest(new.batches(), old.batches(), fillvalue=none):
            update = transaction.update_snapshot(said)
            with update.overwrite() if removed else update.fast_append() as snapshot:
                for file in added:
                    snapshot.append_data_file(file)
                for file in removed:
                    snapshot.delete_data_file(file)
            # The transaction keeps them for another try, of which there is none.
            snapshot._added_data_files.clear()
            snapshot._deleted_data_files.clear()


def _has_own(
    table: "Table", job: Job, source: str, own: set[str], written: set[str], old: _Spool
) -> bool:
    """Whether the Iceberg table has the job's files; else notes those that the job replaced.

    Whatever the kind of write, a file goes only if it is gone from the store. Where the job
    replaced all, a file that is still there is of a later job, or the clean-up has not ended.
    """
    root = place(source)
    directories = {f"{root}/{directory}".rstrip("/") for directory in written}
    there = 0
    problem: PassingOnError | None = None

    def candidates() -> "Iterator[tuple[ManifestEntry, bool]]":
        """Those that may be gone, and whether they have to be."""
        nonlocal there
        for entry in _entries(table):
            path = entry.data_file.file_path
            if path in own:
                there += 1
            elif job.write in REPLACES_NOTHING or not place(path).startswith(f"{root}/"):
                continue
            elif job.write in REPLACES_TABLE or place(path).rpartition("/")[0] in directories:
                yield entry, True
            elif job.write in REPLACES_SOMEWHERE:
                yield entry, False

    rest = candidates()
    while batch := list(islice(rest, _AT_ONCE)):
        are_there = _exist(table, [entry for entry, _ in batch])
        gone = []
        for (entry, has_to_be_gone), is_there in zip(batch, are_there, strict=True):
            if not is_there:
                gone.append(entry.data_file)
            elif has_to_be_gone:
                problem = problem or _unless_later(table, entry, job)
        old.add(gone)
    if there == len(own) and own:
        return True
    if there:
        raise PassingOnError(
            f"{there} of the {len(own)} files of job {job.job_id} are in {'.'.join(table.name())}, "
            "and the others are not: somebody added or rewrote some of them. Nothing was changed. "
            "Take those out of the Iceberg table, and call this again."
        )
    if problem is not None:
        raise problem
    return False


def _entries(table: "Table") -> "Iterator[ManifestEntry]":
    """The data files of the table as it is."""
    from pyiceberg.manifest import ManifestContent

    current = table.metadata.current_snapshot()
    for manifest in () if current is None else current.manifests(table.io):
        if manifest.content == ManifestContent.DATA:
            yield from manifest.fetch_manifest_entry(table.io, discard_deleted=True)


def _exist(table: "Table", entries: "list[ManifestEntry]") -> list[bool]:
    """Which files are in the store; one request for each."""
    from pyiceberg.utils.concurrent import ExecutorFactory

    def exists(entry: "ManifestEntry") -> bool:
        return bool(table.io.new_input(entry.data_file.file_path).exists())

    return list(ExecutorFactory.get_or_create().map(exists, entries))


def _unless_later(table: "Table", entry: "ManifestEntry", job: Job) -> PassingOnError | None:
    """What is wrong with a file that the job replaced and that is still there; None if nothing."""
    by = None
    if entry.snapshot_id is not None:
        by = _said(table.metadata.snapshot_by_id(entry.snapshot_id), ENDED)
    if by is not None and int(by) > job.timestamp:
        return None
    return PassingOnError(
        f"{entry.data_file.file_path} is still there, though job {job.job_id} replaced it: "
        "what the job left is not cleaned yet, or somebody else wrote the file. Nothing was "
        "changed. Run manifest-committer recover and clean on the table, and call this again."
    )
