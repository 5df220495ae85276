# SPDX-License-Identifier: Apache-2.0
"""Partitions of a job for Spark's catalog; by SQL, which classic and Connect sessions have."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from manifest_committer._listing import Listing, Values, place, values
from manifest_committer.errors import PassingOnError

if TYPE_CHECKING:
    from manifest_committer._jvm import Session, SparkSession

_AT_ONCE = 1000
_SETTINGS = {
    # Spark cuts a statement into calls of 100 partitions.
    "spark.sql.addPartitionInBatch.size": str(_AT_ONCE),
    # What `_literal` relies on.
    "spark.sql.parser.escapedStringLiterals": "false",
}
_OWN_PARTITIONS = ("delta", "iceberg", "hudi", "paimon")
_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_PARTITIONS = "# Partition Information"
_DETAILS = "# Detailed Table Information"
_HEADER = "# col_name"


@dataclass(frozen=True)
class _Described:
    """What the catalog says of a table."""

    columns: Mapping[str, str]
    """Those of partitions in their order, with their types."""
    details: Mapping[str, str]


def add_partitions(spark: "SparkSession", session: "Session", name: str, listing: Listing) -> int:
    """Add the partitions that the catalog lacks; returns how many."""
    described = _describe(spark, name)
    _check(session, name, described, listing.table)
    directories: dict[str, Values] = {}
    for file in listing.files:
        if file.directory is not None and file.directory not in directories:
            directories[file.directory] = _values_of(name, described, file.directory, file.path)
    missing: dict[tuple[str | None, ...], str] = {}
    for directory, found in directories.items():
        other = missing.setdefault(_key(found, described), directory)
        if other != directory:
            raise PassingOnError(
                f"{listing.table} has {other} and {directory}, which are one partition of {name}: "
                "the catalog has one directory for each. Write both as one, and pass that job on."
            )
    if missing:
        for row in spark.sql(f"SHOW PARTITIONS {name}").toLocalIterator():
            missing.pop(_key(values(row[0], row[0]), described), None)
    with _set(spark, _SETTINGS):
        for batch in _batches(missing.values()):
            clauses = (
                f"PARTITION ({_spec(directories[directory])}) "
                f"LOCATION {_literal(f'{listing.table}/{directory}')}"
                for directory in batch
            )
            spark.sql(f"ALTER TABLE {name} ADD IF NOT EXISTS {' '.join(clauses)}")
    return len(missing)


def _describe(spark: "SparkSession", name: str) -> _Described:
    rows = [(str(row[0]), str(row[1])) for row in spark.sql(f"DESCRIBE EXTENDED {name}").collect()]
    names = [row[0] for row in rows]
    columns: dict[str, str] = {}
    if _PARTITIONS in names:
        for column, kind in rows[names.index(_PARTITIONS) + 1 :]:
            if not column or column == _DETAILS:
                break
            if column != _HEADER:
                columns[column] = kind
    details = dict(rows[names.index(_DETAILS) + 1 :]) if _DETAILS in names else {}
    return _Described(columns, details)


def _check(session: "Session", name: str, described: _Described, table: str) -> None:
    """Refuse what is no table of directories, or another one."""
    details = described.details
    provider = details.get("Provider", "").lower()
    if provider in _OWN_PARTITIONS:
        raise PassingOnError(
            f"{name} is a table of {provider.capitalize()}, which keeps its partitions itself and "
            "not in the catalog. For Iceberg, use report.to_iceberg; else insert into the table."
        )
    location = details.get("Location")
    if location is None or "VIEW" in details.get("Type", ""):
        raise PassingOnError(
            f"{name} is a view, or a table without a directory: it has no partitions. Name the "
            f"table in the catalog whose location is {table}."
        )
    if not described.columns:
        raise PassingOnError(
            f"{name} is not partitioned, so there is nothing to add: a reader of the table sees "
            f"the job's files after REFRESH TABLE {name}."
        )
    if place(location) != place(table):
        found = session.find(location)
        if found is None or place(found.path) != place(table):
            raise PassingOnError(
                f"{name} lies at {location}, and the job wrote to {table}. Name the table of that "
                "directory, or make one: CREATE TABLE … USING parquet PARTITIONED BY (…) LOCATION …"
            )
    if details.get("Partition Provider", "").lower() != "catalog":
        raise PassingOnError(
            f"The catalog does not keep the partitions of {name}: Spark finds them in the "
            f"directories, and REFRESH TABLE {name} is all there is to do. To let the catalog keep "
            f"them from now on, run MSCK REPAIR TABLE {name} once."
        )


def _values_of(name: str, described: _Described, directory: str, path: str) -> Values:
    found = values(directory, path)
    if [c.lower() for c, _ in found] != [c.lower() for c in described.columns]:
        raise PassingOnError(
            f"{path} is in a directory of the columns ({', '.join(c for c, _ in found)}), and "
            f"{name} is partitioned by ({', '.join(described.columns)}). Make a table that is "
            "partitioned as the job wrote."
        )
    return found


def _key(found: Values, described: _Described) -> tuple[str | None, ...]:
    """Values as the catalog has them: the directory m=01 is the partition m=1 of numbers."""
    kinds = described.columns.values()
    pairs = zip((value for _, value in found), kinds, strict=True)
    return tuple(
        str(int(value)) if value is not None and kind in _NUMBERS and _is_number(value) else value
        for value, kind in pairs
    )


def _is_number(value: str) -> bool:
    return value.isascii() and value.lstrip("-").isdigit()


def _spec(found: Values) -> str:
    return ", ".join(
        f"`{column.replace('`', '``')}` = {'null' if value is None else _literal(value)}"
        for column, value in found
    )


def _literal(text: str) -> str:
    """Spark would take ${...} in a query for one of its settings."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{escaped}'"


def _batches(items: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(items)
    while batch := list(islice(rest, _AT_ONCE)):
        yield batch


@contextmanager
def _set(spark: Any, settings: Mapping[str, str]) -> Iterator[None]:
    """Changes settings of the session for the length of a block."""
    before = {key: spark.conf.get(key) for key in settings}
    changed = {key: value for key, value in settings.items() if before[key] != value}
    for key, value in changed.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in changed:
            spark.conf.set(key, before[key])
