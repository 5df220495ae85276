# SPDX-License-Identifier: Apache-2.0
"""Spark's own way to Hadoop's committers, ``spark-hadoop-cloud``, with our factory bound.

Set up with the lines of "The Manifest Committer for Azure and Google Cloud Storage". Where PySpark
ships Hadoop's own manifest committer, it does the same writes, and the tables must be the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import faults
import pyspark
import pytest
import stores
from bindings import with_stock_bindings
from places import Place
from pyspark.errors import UnsupportedOperationException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from sessions import settings
from tables import Row, Table

import manifest_committer as mc

more = pytest.mark.more

pytestmark = [
    pytest.mark.not_on("s3a", because="the Hadoop protocol renames, and is refused there"),
    pytest.mark.classic(because="bindings that a server is started with, and its settings"),
]

PROTOCOL = "spark.sql.sources.commitProtocolClass"
PATH_OUTPUT = "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol"
DEFAULT = "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
FACTORY = f"mapreduce.outputcommitter.factory.scheme.{stores.scheme()}"
FACTORIES = {"ours": "io.manifestcommitter.ManifestCommitterFactory"}
if next(Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar")).name > (
    "hadoop-client-api-3.4"
):
    FACTORIES["hadoop"] = (
        "org.apache.hadoop.mapreduce.lib.output.committer.manifest.ManifestCommitterFactory"
    )
BINDING = {
    PROTOCOL: PATH_OUTPUT,
    "spark.sql.parquet.output.committer.class": (
        "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter"
    ),
    f"spark.hadoop.{FACTORY}": FACTORIES["ours"],
}
# The same Parquet binding under Spark's default protocol, which asks a FileOutputCommitter, as this
# one is by inheritance, for the directory to write to.
PARQUET_ONLY = {PROTOCOL: DEFAULT}

OLD: list[Row] = [("a", 0), ("b", 1), ("c", 2)]
NEW: list[Row] = [("d", 0), ("e", 1)]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    scratch = tmp_path_factory.mktemp("session")
    with with_stock_bindings("local[2,3]", scratch, BINDING) as session:
        yield session


def write(table: Table, rows: Any, mode: str, **options: str) -> None:
    """Writes by path; our committer's report lists what is new, no more, no less."""
    before = {} if mode == "overwrite" else table.data_files()
    table.save(rows, mode, **options)
    check_report(table, before)


def check_report(table: Table, before: dict[str, int]) -> None:
    files = table.data_files()
    assert table.report().sizes == {f: size for f, size in files.items() if f not in before}
    report = mc.read_report(table.spark, table.path)
    assert report.committer == "io.manifestcommitter.ManifestCommitter"
    table.check_nothing_left()


@pytest.mark.core
@pytest.mark.parametrize("fmt", ["parquet", *(pytest.param(f, marks=more) for f in ("orc", "csv"))])
@pytest.mark.parametrize(
    "partition_by", [pytest.param([], marks=more), ["p"]], ids=["flat", "partitioned"]
)
def test_append_and_overwrite(
    new_table: Callable[..., Table], fmt: str, partition_by: list[str]
) -> None:
    table = new_table(fmt=fmt, partition_by=partition_by)
    write(table, OLD, "errorifexists")
    write(table, NEW, "append")
    assert table.rows() == Counter([*OLD, *NEW])
    write(table, NEW, "overwrite")
    assert table.rows() == Counter(NEW)


@pytest.mark.parametrize("fmt", ["parquet", "orc", "csv"])
@pytest.mark.parametrize("partition_by", [[], ["p"]], ids=["flat", "partitioned"])
def test_tables_are_the_same(
    spark: SparkSession, place: Place, fmt: str, partition_by: list[str]
) -> None:
    """Ours, and Hadoop's where there is one: same rows, same directories, as many files."""
    seen = {}
    for name, factory in FACTORIES.items():
        path = place / name
        table = Table(spark, path, "value string, p int", fmt=fmt, partition_by=partition_by)
        with settings(spark, {FACTORY: factory}):
            table.save(OLD, "errorifexists")
            table.save(NEW, "append")
            # Its retries, too, must leave nothing behind.
            table.save(faults.numbered(spark, faults.failing(attempts=1)), "append")
        folders = Counter(file.rpartition("/")[0] for file in table.data_files())
        seen[name] = folders, table.rows(), sorted(path.glob("_temporary"))
        assert mc.read_report(spark, path).committer == factory.replace("Factory", "")
    rows = Counter([*OLD, *NEW]) + faults.numbered_rows()
    assert [of[1] for of in seen.values()] == [rows] * len(FACTORIES)
    assert all(of == seen["ours"] for of in seen.values())


@pytest.mark.parametrize("protocol", [{}, PARQUET_ONLY], ids=["path-output", "parquet-only"])
@pytest.mark.parametrize("partition_by", [[], ["p"]], ids=["flat", "partitioned"])
def test_retried_task(
    new_table: Callable[..., Table], partition_by: list[str], protocol: dict[str, str]
) -> None:
    table = new_table(partition_by=partition_by)
    # Without it Spark sorts partitioned rows first, and the attempt would fail without any file.
    writers = {"spark.sql.maxConcurrentOutputFileWriters": "10"}
    with settings(table.spark, {**writers, **protocol}):
        write(table, OLD, "append")
        write(table, faults.numbered(table.spark, faults.failing(attempts=2)), "append")
    assert table.rows() == Counter(OLD) + faults.numbered_rows()


@pytest.mark.core
@pytest.mark.parametrize(
    "protocol", [{}, pytest.param(PARQUET_ONLY, marks=more)], ids=["path-output", "parquet-only"]
)
def test_failed_append(new_table: Callable[..., Table], protocol: dict[str, str]) -> None:
    table = new_table(partition_by=["p"])
    with settings(table.spark, protocol):
        write(table, OLD, "append")
        before = table.data_files()
        with pytest.raises(Exception, match="failed on purpose"):
            table.save(faults.numbered(table.spark, faults.failing()), "append")
        assert table.data_files() == before
        table.check_nothing_left()
        write(table, NEW, "append")
    assert table.rows() == Counter([*OLD, *NEW])


@pytest.mark.parametrize("exists", [False, True], ids=["new", "existing"])
def test_appends_at_once(new_table: Callable[..., Table], tmp_path: Path, exists: bool) -> None:
    """Each job's task goes on only once the other job's task runs, so neither is ahead."""
    table = new_table(partition_by=["p"])
    expected = Counter(OLD if exists else [])
    if exists:
        write(table, OLD, "append")
    meeting = tmp_path / "meeting"
    meeting.mkdir()

    def append(job: int) -> None:
        arrive = udf(meet(meeting, job), "bigint").asNondeterministic()
        ids = table.spark.range(0, 60, 1, 1).select(arrive("id").alias("id"))
        table.save(ids.selectExpr(f"concat('{job}-', id) value", "cast(id % 3 AS int) p"), "append")

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(append, job) for job in range(2)]:
            done.result()
    expected.update((f"{job}-{i}", i % 3) for job in range(2) for i in range(60))
    assert table.rows() == expected
    assert table.report().success


def meet(place: Path, job: int) -> Callable[[int], int]:
    directory, patience = str(place), faults.PATIENCE

    def wait(number):
        import pathlib
        import time

        pathlib.Path(directory, str(job)).touch()
        deadline = time.monotonic() + patience
        while not pathlib.Path(directory, str(1 - job)).exists():
            if time.monotonic() > deadline:
                raise TimeoutError("the other job did not come")
            time.sleep(0.05)
        return number

    return wait


@pytest.mark.parametrize("fmt", ["parquet", "orc", "csv"])
def test_dynamic_overwrite_is_refused(new_table: Callable[..., Table], fmt: str) -> None:
    """This protocol would append, and report success: it does not tell the committer what to do."""
    table = new_table(fmt=fmt, partition_by=["p"])
    write(table, OLD, "append")
    before = table.snapshot()
    with pytest.raises(UnsupportedOperationException, match="added to the old ones") as error:
        table.save(NEW, "overwrite", partitionOverwriteMode="dynamic")
    assert table.snapshot() == before
    told = re.search(rf"{re.escape(PROTOCOL)} = ([\w.]+)", str(error.value))
    assert told is not None
    with settings(table.spark, {PROTOCOL: told[1]}):
        table.save(NEW, "overwrite", partitionOverwriteMode="dynamic")
    assert table.rows() == Counter([*NEW, ("c", 2)])


def test_dynamic_overwrite_with_the_parquet_binding_alone(new_table: Callable[..., Table]) -> None:
    """Spark's default protocol gives the committer a staging directory, and replaces partitions."""
    table = new_table(partition_by=["p"])
    with settings(table.spark, PARQUET_ONLY):
        write(table, OLD, "append")
        table.save(NEW, "overwrite", partitionOverwriteMode="dynamic")
    assert table.rows() == Counter([*NEW, ("c", 2)])
    table.check_nothing_left()


def test_the_parquet_binding_alone_is_for_parquet(new_table: Callable[..., Table]) -> None:
    table = new_table(fmt="orc")
    with (
        settings(table.spark, PARQUET_ONLY),
        pytest.raises(Exception, match="past the staging directory"),
    ):
        table.save(OLD, "append")
    assert not table.path.exists()


@pytest.mark.parametrize("verb", ["INTO", "OVERWRITE"])
def test_partitions_with_a_location(
    catalog_table: Callable[..., Table], place: Place, verb: str
) -> None:
    """Spark stages and moves their files itself; the committer's files go with them."""
    table = catalog_table()
    elsewhere = place / "elsewhere"
    table.spark.sql(f"ALTER TABLE {table.name} ADD PARTITION (p = 1) LOCATION '{elsewhere}'")
    table.frame(OLD).write.insertInto(table.name)
    table.frame(NEW).createOrReplaceTempView("new_rows")
    table.spark.sql(f"INSERT {verb} {table.name} SELECT * FROM new_rows")
    assert table.rows() == Counter(NEW if verb == "OVERWRITE" else [*OLD, *NEW])
    assert len(list(elsewhere.glob("part-*"))) == (1 if verb == "OVERWRITE" else 2)
    table.check_nothing_left()


def test_overwrite_of_one_partition(catalog_table: Callable[..., Table]) -> None:
    table = catalog_table()
    table.frame(OLD).write.insertInto(table.name)
    statement = f"INSERT OVERWRITE {table.name} PARTITION (p = 1) SELECT 'x'"
    table.spark.sql(statement)
    assert table.rows() == Counter([("a", 0), ("c", 2), ("x", 1)])
    check_report(table, {f: 0 for f in table.data_files() if not f.startswith("p=1/")})
