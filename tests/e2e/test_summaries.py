# SPDX-License-Identifier: Apache-2.0
"""Parquet's summary files, which Spark's default committer writes where they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from places import Place
from protocols import NO_FACTORY, PROTOCOL, PROTOCOLS
from pyspark.sql import SparkSession
from sessions import settings
from tables import Row, Table

LEVEL = "parquet.summary.metadata.level"
SUMMARIES = {"_metadata", "_common_metadata"}

pytestmark = pytest.mark.classic(because="asks the JVM of a driver in this process")

OLD: list[Row] = [("a", 1), ("b", 2)]
NEW: list[Row] = [("c", 1), ("d", 3)]


@dataclass(frozen=True)
class Footer:
    """What a Parquet file says of a table: rows by file, and the columns of Spark's schema."""

    rows: dict[str, int]
    columns: list[str]


def footer(spark: SparkSession, file: Place) -> Footer:
    jvm: Any = spark._jvm
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    path = jvm.org.apache.hadoop.fs.Path(str(file))
    read = jvm.org.apache.parquet.hadoop.ParquetFileReader.readFooter(conf, path)
    rows: Counter[str] = Counter()
    for block in read.getBlocks():
        rows[block.getPath()] += block.getRowCount()
    columns = [field.getName() for field in read.getFileMetaData().getSchema().getFields()]
    return Footer(dict(rows), columns)


def summaries(table: Table) -> set[str]:
    return {path.name for path in table.path.rglob("_*") if path.name.endswith("metadata")}


def check(table: Table, rows: list[Row]) -> None:
    """The table has these rows, and its summaries are of all of its files that have some."""
    assert table.rows() == Counter(rows)
    assert summaries(table) == SUMMARIES
    columns = [c for c in ("value", "p") if c not in table.partition_by]
    told = footer(table.spark, table.path / "_metadata")
    assert told.columns == columns
    files = {f: footer(table.spark, table.path / f).rows for f in table.data_files()}
    assert told.rows == {f: sum(of.values()) for f, of in files.items() if of}
    assert sum(told.rows.values()) == len(rows)
    assert footer(table.spark, table.path / "_common_metadata") == Footer({}, columns)


@pytest.mark.parametrize("partition_by", [[], ["p"]], ids=["flat", "partitioned"])
def test_summaries_of_the_whole_table(
    new_table: Callable[..., Table], partition_by: list[str]
) -> None:
    table = new_table(partition_by=partition_by)
    table.save(OLD, "append", **{LEVEL: "ALL"})
    check(table, OLD)
    table.save(NEW, "append", **{LEVEL: "ALL"})
    check(table, OLD + NEW)
    table.save(NEW, "overwrite", **{LEVEL: "ALL"})
    check(table, NEW)
    assert (table.path / "_SUCCESS").exists()


def test_summaries_after_a_dynamic_overwrite(new_table: Callable[..., Table]) -> None:
    """Spark's own protocol leaves those of the files before: it commits in another directory."""
    seen = {}
    for protocol, name in PROTOCOLS.items():
        table = new_table(partition_by=["p"])
        table.path = table.path.parent / protocol
        with settings(table.spark, {**NO_FACTORY, PROTOCOL: name}):
            table.save(OLD, "append", **{LEVEL: "ALL"})
            options = {"partitionOverwriteMode": "dynamic", LEVEL: "ALL"}
            table.save(NEW, "overwrite", **options)
        assert table.rows() == Counter([("b", 2), *NEW])
        seen[protocol] = set(footer(table.spark, table.path / "_metadata").rows)
        if protocol == "ours":
            check(table, [("b", 2), *NEW])
    assert {file.split("/")[0] for file in seen["sparks"]} == {"p=1", "p=2"}


def test_only_the_common_summary(new_table: Callable[..., Table]) -> None:
    table = new_table()
    table.save(OLD, "append", **{LEVEL: "COMMON_ONLY"})
    assert summaries(table) == {"_common_metadata"}
    told = footer(table.spark, table.path / "_common_metadata")
    assert told == Footer({}, ["value", "p"])
    assert table.rows() == Counter(OLD)


def test_no_summaries_unless_asked_for(new_table: Callable[..., Table]) -> None:
    table = new_table()
    table.save(OLD, "append")
    assert summaries(table) == set()
    other = new_table(fmt="orc")
    other.path = other.path.parent / "orc"
    with settings(table.spark, {LEVEL: "ALL"}):
        other.save(OLD, "append")
        assert summaries(other) == set()
        table.save(OLD, "append")
        assert summaries(table) == SUMMARIES
