# SPDX-License-Identifier: Apache-2.0
"""Tables of unusual shape: hostile partition values, no rows, buckets, many files, other names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
import stores
from places import Place
from pyspark.sql import DataFrame, SparkSession
from sessions import settings
from tables import Row, Table

import manifest_committer

# Spark writes an empty partition value as it writes null, and reads both as null.
HOSTILE: list[str | None] = [
    "with space",
    "ünïcødé ☃ 漢字 🎉",
    "100%",
    "%2F",
    "10:30:00",
    "a=b",
    "a/b",
    "../up",
    "..",
    ".hidden",
    "_hidden",
    "quote'\"",
    "back\\slash",
    "star*?[x]{y}",
    "a,b;c#d&e+f~g",
    "tab\tnewline\n",
    " ",
    "",
    None,
]
if stores.scheme().startswith("abfs"):
    # hadoop-azure itself refuses names that end with a dot, and Spark writes this one as it is.
    HOSTILE.remove("..")
if stores.is_one_of([stores.FAKE]):
    # A server in Go drops what has a semicolon in it from a query, and lists the whole bucket.
    HOSTILE.remove("a,b;c#d&e+f~g")
HOSTILE_ROWS: list[Row] = [(f"row-{i}", value) for i, value in enumerate(HOSTILE * 2)]


def as_read(rows: list[Row]) -> Counter[Row]:
    return Counter((value, p or None) for value, p in rows)


@pytest.fixture(params=["parquet", pytest.param("json", marks=pytest.mark.more)])
def hostile(request: pytest.FixtureRequest, new_table: Callable[..., Table]) -> Table:
    return new_table("value string, p string", fmt=request.param, partition_by=["p"])


@pytest.mark.core
def test_hostile_partition_values(hostile: Table) -> None:
    hostile.write(HOSTILE_ROWS, "append")
    assert hostile.rows() == as_read(HOSTILE_ROWS)
    assert len(list(hostile.path.glob("p=*"))) == len(HOSTILE) - 1
    hostile.write(HOSTILE_ROWS, "append")
    assert hostile.rows() == as_read(HOSTILE_ROWS * 2)
    new: list[Row] = [("new", value) for value in HOSTILE[::2]]
    hostile.write(new, "overwrite", partitionOverwriteMode="dynamic")
    replaced = {value or None for value in HOSTILE[::2]}
    kept = [row for row in HOSTILE_ROWS * 2 if (row[1] or None) not in replaced]
    assert hostile.rows() == as_read(kept + new)
    hostile.write(new, "overwrite")
    assert hostile.rows() == as_read(new)


def test_hostile_partition_values_in_sql(catalog_table: Callable[..., Table]) -> None:
    table = catalog_table("value string, p string")
    table.frame(HOSTILE_ROWS).write.insertInto(table.name)
    table.check_report()
    assert table.rows() == as_read(HOSTILE_ROWS)
    table.sql("INSERT OVERWRITE {t} PARTITION (p = 'a/b') VALUES ('new')")
    table.sql("INSERT OVERWRITE {t} PARTITION (p = '10:30:00') VALUES ('new')")
    kept = [row for row in HOSTILE_ROWS if row[1] not in ("a/b", "10:30:00")]
    assert table.rows() == as_read([*kept, ("new", "a/b"), ("new", "10:30:00")])


def test_directories_are_renamed_as_this_run_says(
    spark: SparkSession, place: Place, pytestconfig: pytest.Config
) -> None:
    option = "mapreduce.manifest.committer.directory.rename"
    # Those that do not have their default.
    options = manifest_committer.committer_info(spark, str(place / "table")).options
    told = options[option].value if option in options else "auto"
    assert told == pytestconfig.getoption("--directory-rename")


@pytest.fixture
def three_levels(new_table: Callable[..., Table]) -> Table:
    """Ten rows, each in a leaf of its own; values that need escaping or are null in the middle."""
    table = new_table("value string, a int, b string, c int", partition_by=["a", "b", "c"])
    table.write(THREE_LEVELS, "append")
    assert table.rows() == Counter(THREE_LEVELS)
    assert len(list(table.path.rglob("c=*"))) == len(THREE_LEVELS)
    return table


THREE_LEVELS: list[Row] = [
    *[("old", a, b, c) for a in (1, 2) for b in ("x", "y/z") for c in (1, 2)],
    ("old", 1, None, 1),
    ("old", None, "x", 1),
]


@pytest.mark.core
def test_three_levels_appended(three_levels: Table) -> None:
    """What is new begins at each of the levels, and also where everything is there."""
    new: list[Row] = [
        ("new", 1, "x", 1),
        ("new", 1, "x", 3),
        ("new", 2, None, 1),
        ("new", 3, "x", 1),
        ("new", 3, "y/z", 2),
        ("new", None, None, None),
    ]
    before = three_levels.snapshot()
    report = three_levels.write(new, "append")
    assert {file.count("/") for file in report.sizes} == {3}
    assert three_levels.rows() == Counter(THREE_LEVELS + new)
    kept = untouched(before, three_levels)
    assert len(kept) == len(THREE_LEVELS)


@pytest.mark.core
def test_three_levels_overwritten_by_leaf(three_levels: Table) -> None:
    leaves = [(1, "x", 1), (1, "x", 2), (2, "y/z", 1), (1, None, 1), (2, "x", 3), (4, "x", 1)]
    before = three_levels.snapshot()
    new: list[Row] = [("new", *leaf) for leaf in leaves]
    three_levels.write(new, "overwrite", partitionOverwriteMode="dynamic")
    kept = [row for row in THREE_LEVELS if row[1:] not in leaves]
    assert three_levels.rows() == Counter(kept + new)
    assert len(untouched(before, three_levels)) == len(kept)


def test_three_levels_overwritten(three_levels: Table) -> None:
    report = three_levels.write([("new", 2, "x", 7)], "overwrite")
    assert three_levels.rows() == Counter([("new", 2, "x", 7)])
    assert set(three_levels.data_files()) == set(report.sizes)
    # Readers would take directories without files for partitions.
    assert [path.name for path in three_levels.path.rglob("*=*")] == ["a=2", "b=x", "c=7"]


def untouched(before: dict[str, str], table: Table) -> set[str]:
    """The data files of a snapshot that are there as they were."""
    after = table.snapshot()
    return {file for file in before if file in table.data_files() and before[file] == after[file]}


def test_hostile_names_of_table_and_column(new_table: Callable[..., Table]) -> None:
    table = new_table("value string, `a b=c/ü%` string", partition_by=["a b=c/ü%"])
    table.path = table.path.parent / "a b%20c=ü#+,"
    table.write([("x", "1=2"), ("y", None)], "append")
    table.write([("z", "1=2")], "append")
    assert table.rows() == Counter([("x", "1=2"), ("y", None), ("z", "1=2")])
    table.write([("z", None)], "overwrite")
    assert table.rows() == Counter([("z", None)])


@pytest.mark.parametrize("fmt", ["parquet", "json"])
def test_no_rows(new_table: Callable[..., Table], fmt: str) -> None:
    table = new_table(fmt=fmt)
    table.write([], "append")
    assert table.rows() == Counter()
    table.write([("a", 1)], "append")
    assert table.rows() == Counter([("a", 1)])
    table.write([], "overwrite")
    assert table.rows() == Counter()


@pytest.mark.core
def test_no_rows_partitioned(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    report = table.write([], "append")
    assert report.sizes == {}
    table.write([("a", 1), ("b", 2)], "append")
    table.write([], "overwrite", partitionOverwriteMode="dynamic")
    assert table.rows() == Counter([("a", 1), ("b", 2)])
    table.write([], "overwrite")
    assert table.rows() == Counter()
    assert not list(table.path.glob("p=*"))


def bucketed(table: Table, rows: list[Row], partition_by: list[str]) -> None:
    writer = table.frame(rows).write.mode("append").partitionBy(*partition_by)
    writer.bucketBy(4, "k").sortBy("k").saveAsTable(table.name)
    table.check_report()


@pytest.mark.parametrize("partition_by", [[], ["p"]], ids=["flat", "partitioned"])
def test_buckets(catalog_table: Callable[..., Table], partition_by: list[str]) -> None:
    schema = "k int, value string, p int"
    left, right = (catalog_table(schema, create=None) for _ in range(2))
    rows: list[Row] = [(i % 20, f"row-{i}", i % 2) for i in range(100)]
    bucketed(left, rows, partition_by)
    bucketed(left, rows, partition_by)
    bucketed(right, rows[:20], partition_by)
    assert left.rows() == Counter(rows + rows)

    # Spark's reader takes the bucket from the digits after the last underscore of the file name.
    buckets = {re.fullmatch(r".*_(\d{5})(\..*)?", file).group(1) for file in left.data_files()}
    assert buckets == {"00000", "00001", "00002", "00003"}
    with settings(left.spark, {"spark.sql.sources.bucketing.autoBucketedScan.enabled": "false"}):
        pruned = left.read().where("k = 7")
        assert "SelectedBucketsCount: 1 out of 4" in plan(pruned)
        assert Counter(map(tuple, pruned.collect())) == Counter(r for r in rows * 2 if r[0] == 7)

    with settings(left.spark, {"spark.sql.autoBroadcastJoinThreshold": "-1"}):
        joined = left.read().alias("l").join(right.read().alias("r"), "k").select("l.value", "r.k")
        assert "Exchange" not in plan(joined)
        expected = Counter((value, k) for k, value, _ in rows * 2)
        assert Counter(map(tuple, joined.collect())) == expected


def plan(frame: DataFrame) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def test_buckets_after_an_overwrite(catalog_table: Callable[..., Table]) -> None:
    table = catalog_table("k int, value string, p int", create=None)
    rows: list[Row] = [(i % 20, f"row-{i}", i % 2) for i in range(100)]
    bucketed(table, rows, ["p"])
    new: list[Row] = [(i % 20, f"new-{i}", 1) for i in range(40)]
    with settings(table.spark, {"spark.sql.sources.partitionOverwriteMode": "dynamic"}):
        table.frame(new).write.insertInto(table.name, overwrite=True)
    table.check_report()
    left = [row for row in rows if row[2] == 0] + new
    assert table.rows() == Counter(left)
    with settings(table.spark, {"spark.sql.sources.bucketing.autoBucketedScan.enabled": "false"}):
        pruned = table.read().where("k = 8")
        assert "SelectedBucketsCount: 1 out of 4" in plan(pruned)
        assert Counter(map(tuple, pruned.collect())) == Counter(r for r in left if r[0] == 8)


def test_report_names_at_most_100_files_and_the_list_all(new_table: Callable[..., Table]) -> None:
    """By one task, which writes several files into each directory."""
    table = new_table(partition_by=["p"])
    rows: list[Row] = [("x", i % 60) for i in range(600)]
    report = table.write(table.frame(rows).coalesce(1), "append", maxRecordsPerFile="5")
    assert len(report.filenames) == 100
    assert len(report.sizes) == 120
    assert table.rows() == Counter(rows)


def test_file_names(new_table: Callable[..., Table]) -> None:
    table = new_table()
    report = table.write([("a", 1), ("b", 2)], "append")
    job = re.escape(report.job_id)
    for number, name in enumerate(sorted(report.sizes)):
        assert re.fullmatch(rf"part-{number:05d}-{job}-\d+-c000\.snappy\.parquet", name)
    named = table.write([("c", 3)], "append", **{"mapreduce.output.basename": "mine"})
    assert {name.split("-")[0] for name in named.sizes} == {"mine"}
    assert table.rows() == Counter([("a", 1), ("b", 2), ("c", 3)])
