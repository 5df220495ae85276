# SPDX-License-Identifier: Apache-2.0
"""The Hadoop protocol under Spark: RDD writers that ask Hadoop for a committer factory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from places import Place
from protocols import FACTORY
from pyspark.sql import SparkSession
from tables import Table

import manifest_committer as mc

FORMAT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
TEXT = "org.apache.hadoop.io.Text"

pytestmark = [
    pytest.mark.core,
    pytest.mark.classic(because="a Connect session has no RDDs"),
    pytest.mark.not_on(
        "s3a", "lakefs", because="the Hadoop protocol renames, and is refused there"
    ),
]


def save(spark: SparkSession, path: str, value: Callable[[int], str]) -> None:
    """Writes ten lines in two tasks."""
    committer = mc.spark_conf()["spark.hadoop.mapreduce.outputcommitter.factory.scheme.abfs"]
    pairs = spark.sparkContext.parallelize(range(10), 2).map(lambda i: (f"k{i}", value(i)))
    pairs.saveAsNewAPIHadoopFile(path, FORMAT, TEXT, TEXT, conf={FACTORY: committer})


def test_rdd_writers_use_the_factory(spark: SparkSession, place: Place) -> None:
    table = place / "table"
    save(spark, table.as_uri(), str)
    lines = sorted(line for part in table.glob("part-*") for line in part.read_text().split("\n"))
    assert [line for line in lines if line] == [f"k{i}\t{i}" for i in range(10)]
    report = mc.read_report(spark, table)
    assert report.committer == "io.manifestcommitter.ManifestCommitter"
    assert report.files == 2
    assert {row.path for row in report.file_list(spark).collect()} == {
        part.name for part in table.glob("part-*")
    }
    assert not (table / "_temporary").exists()


@pytest.mark.local_disk
def test_a_path_without_scheme_asks_no_factory(spark: SparkSession, tmp_path: Path) -> None:
    save(spark, str(tmp_path / "table"), str)
    with pytest.raises(mc.EmptyReportError, match="another committer"):
        mc.read_report(spark, tmp_path / "table")


def test_a_failed_rdd_write_shows_nothing(spark: SparkSession, place: Place) -> None:
    def fails(i: int) -> Any:
        if i == 9:
            raise ValueError("failed on purpose")
        return str(i)

    with pytest.raises(Exception, match="failed on purpose"):
        save(spark, (place / "table").as_uri(), fails)
    names = {entry.name for entry in (place / "table").rglob("*")}
    assert names <= {"_temporary"}


def test_dataframes_do_not_ask_the_factory(
    spark: SparkSession, new_table: Callable[..., Table]
) -> None:
    spark.conf.set(FACTORY, "no.such.Factory")
    try:
        new_table().write([("a", 1)], "append")
    finally:
        spark.conf.unset(FACTORY)
