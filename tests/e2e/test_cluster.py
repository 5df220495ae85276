# SPDX-License-Identifier: Apache-2.0
"""Executors in processes of their own: retries across them, and one that is killed.

Tasks may send back only what Spark itself registers with Kryo. Java's own serializer is that of
all other sessions, also of those in ``test_speculation.py`` and ``programs/late_jar.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import faults
import pytest
from places import Place
from pyspark.sql import SparkSession
from sessions import LOCAL_CLUSTER, settings, started
from tables import Table


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    conf = {
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrationRequired": "true",
    }
    with started(LOCAL_CLUSTER, tmp_path_factory.mktemp("session"), conf) as session:
        yield session


@pytest.fixture
def table(new_table: Callable[..., Table]) -> Iterator[Table]:
    made = new_table(partition_by=["p"])
    # Without it Spark sorts partitioned rows first, and attempts would fail without any file.
    with settings(made.spark, {"spark.sql.maxConcurrentOutputFileWriters": "10"}):
        yield made


def test_retried_task(table: Table) -> None:
    table.write(faults.numbered(table.spark, faults.failing(attempts=2)), "append")
    assert table.rows() == faults.numbered_rows()


def test_failed_job(table: Table) -> None:
    table.write([("old", 1)], "append")
    before = table.snapshot()
    with pytest.raises(Exception, match="failed on purpose"):
        table.save(faults.numbered(table.spark, faults.failing()), "overwrite")
    assert table.snapshot() == before


def test_killed_executor(table: Table) -> None:
    table.write(faults.numbered(table.spark, faults.killing_executor()), "append")
    assert table.rows() == faults.numbered_rows()


@pytest.mark.classic(because="asks the JVM of a driver in this process")
def test_other_classes_are_refused(spark: SparkSession) -> None:
    """The settings work: a class that nobody registers does not pass between the processes."""
    unknown = spark.sparkContext._jvm.java.util.Random()
    with pytest.raises(Exception, match="Class is not registered"):
        spark.sparkContext._jsc.parallelize([unknown]).collect()


def test_write(table: Table) -> None:
    table.write(faults.numbered(table.spark, faults.harmless()), "append")
    assert table.rows() == faults.numbered_rows()
    table.write([("new", 1)], "overwrite", partitionOverwriteMode="dynamic")
    kept = Counter({row: n for row, n in faults.numbered_rows().items() if row[1] != 1})
    assert table.rows() == kept + Counter([("new", 1)])


def test_custom_location(catalog_table: Callable[..., Table], place: Place) -> None:
    table = catalog_table()
    location = place / "elsewhere"
    table.spark.sql(f"ALTER TABLE {table.name} ADD PARTITION (p = 1) LOCATION '{location}'")
    table.spark.sql(f"INSERT INTO {table.name} VALUES ('a', 1), ('b', 2)")
    assert table.rows() == Counter([("a", 1), ("b", 2)])
    assert len(list(location.glob("part-*"))) == 1
