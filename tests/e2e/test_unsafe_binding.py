# SPDX-License-Identifier: Apache-2.0
"""Our factory bound while Spark keeps a protocol that writes past it: refused, or harmless."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from protocols import FACTORY, PROTOCOL, SPARKS
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from sessions import settings
from tables import Row, Table

import manifest_committer as mc

BOUND = {FACTORY: "io.manifestcommitter.ManifestCommitterFactory"}
# Spark's default, and what it extends, which can be set for SQL as well.
pytestmark = pytest.mark.classic(because="Hadoop does not find a factory that came as an artifact")

UNSAFE = {
    "default": SPARKS,
    "plain": "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol",
}
DEFAULT = {**BOUND, PROTOCOL: UNSAFE["default"]}

OLD: list[Row] = [("a", 0), ("b", 1)]
NEW: list[Row] = [("new-0", 0), ("new-1", 1), ("new-2", 0), ("new-3", 1)]


class Source:
    """The new rows in two tasks, also as the view ``source``; a task that runs leaves a trace."""

    def __init__(self, spark: SparkSession, traces: Path) -> None:
        directory = str(traces)

        def value(number):
            import pathlib

            from pyspark import TaskContext

            pathlib.Path(directory, str(TaskContext.get().taskAttemptId())).touch()
            return f"new-{number}"

        traced = udf(value, "string").asNondeterministic()
        ids = spark.range(0, len(NEW), 1, 2)
        self.frame = ids.select(traced("id").alias("value"), (ids.id % 2).cast("int").alias("p"))
        self.frame.createOrReplaceTempView("source")
        self._traces = traces

    def tasks(self) -> int:
        return len(list(self._traces.iterdir()))


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> Source:
    traces = tmp_path / "traces"
    traces.mkdir()
    return Source(spark, traces)


@contextmanager
def refused(spark: SparkSession, conf: dict[str, str]) -> Iterator[None]:
    """The block is refused under these settings; what then holds is the setting that it is told."""
    with settings(spark, conf):
        with pytest.raises(IllegalArgumentException, match="past the staging directory") as error:
            yield
        assert FACTORY in str(error.value)
        told = re.search(rf"{re.escape(PROTOCOL)} = (\S+)", str(error.value))
        assert told is not None
        assert told[1] == mc.spark_conf()[PROTOCOL]


@pytest.mark.parametrize("protocol", UNSAFE)
@pytest.mark.parametrize(("fmt", "partition_by"), [("orc", ["p"]), ("json", [])])
def test_append(
    new_table: Callable[..., Table],
    source: Source,
    fmt: str,
    protocol: str,
    partition_by: list[str],
) -> None:
    table = new_table(fmt=fmt, partition_by=partition_by)
    table.write(OLD, "append")
    before = table.snapshot()

    with refused(table.spark, {**BOUND, PROTOCOL: UNSAFE[protocol]}):
        table.save(source.frame, "append")
    assert table.snapshot() == before
    assert source.tasks() == 0

    with settings(table.spark, BOUND):
        table.write(source.frame, "append")
    assert table.rows() == Counter([*OLD, *NEW])
    assert source.tasks() == 2


@pytest.mark.core
@pytest.mark.not_on("s3a", "lakefs", because="the Hadoop protocol renames, and is refused there")
def test_dynamic_overwrite(new_table: Callable[..., Table], source: Source) -> None:
    table = new_table(fmt="orc", partition_by=["p"])
    table.write([*OLD, ("c", 2)], "append")
    before = table.snapshot()
    with refused(table.spark, DEFAULT):
        table.save(source.frame, "overwrite", partitionOverwriteMode="dynamic")
    assert table.snapshot() == before
    assert source.tasks() == 0
    with settings(table.spark, BOUND):
        table.write(source.frame, "overwrite", partitionOverwriteMode="dynamic")
    assert table.rows() == Counter([*NEW, ("c", 2)])


def test_static_overwrite(new_table: Callable[..., Table], source: Source) -> None:
    """Spark deletes the old rows before it asks for a committer; nothing can be done here."""
    table = new_table(fmt="orc")
    table.write(OLD, "append")
    with refused(table.spark, DEFAULT):
        table.save(source.frame, "overwrite")
    assert table.data_files() == {}
    assert source.tasks() == 0
    with settings(table.spark, BOUND):
        table.write(source.frame, "overwrite")
    assert table.rows() == Counter(NEW)


def test_create_table_as_select(catalog_table: Callable[..., Table], source: Source) -> None:
    table = catalog_table(create=None)
    statement = "CREATE TABLE {t} USING orc AS SELECT * FROM source"
    with refused(table.spark, DEFAULT):
        table.spark.sql(statement.format(t=table.name))
    assert not table.path.exists()
    assert not table.spark.catalog.tableExists(table.name)
    assert source.tasks() == 0
    with settings(table.spark, BOUND):
        table.sql(statement)
    assert table.rows() == Counter(NEW)


# What passes: it is safe, or does not ask us.


@pytest.mark.parametrize("protocol", UNSAFE)
def test_parquet_does_not_ask(
    new_table: Callable[..., Table], source: Source, protocol: str
) -> None:
    table = new_table()
    with settings(table.spark, {**BOUND, PROTOCOL: UNSAFE[protocol]}):
        table.save(source.frame, "append")
    assert table.rows() == Counter(NEW)
    with pytest.raises(mc.EmptyReportError, match="another committer"):
        mc.read_report(table.spark, table.path)
