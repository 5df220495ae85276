# SPDX-License-Identifier: Apache-2.0
"""Kryo with ``registrationRequired``: tasks may send back only what Spark itself registers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import faults
import pytest
from places import Place
from pyspark.sql import SparkSession
from sessions import LOCAL_CLUSTER, started
from tables import Table

pytestmark = pytest.mark.classic(because="asks the JVM of a driver in this process")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    conf = {
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrationRequired": "true",
    }
    with started(LOCAL_CLUSTER, tmp_path_factory.mktemp("session"), conf) as session:
        yield session


def test_other_classes_are_refused(spark: SparkSession) -> None:
    """The settings work: a class that nobody registers does not pass between the processes."""
    unknown = spark.sparkContext._jvm.java.util.Random()
    with pytest.raises(Exception, match="Class is not registered"):
        spark.sparkContext._jsc.parallelize([unknown]).collect()


def test_write(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
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
