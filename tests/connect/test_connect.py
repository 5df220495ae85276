# SPDX-License-Identifier: Apache-2.0
"""Spark Connect: the jar goes to the server as an artifact of the session."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import manifest_committer as mc

# The client cannot change what only the server's start takes.
pytestmark = pytest.mark.filterwarnings("ignore:Failed to set spark")


def test_a_session_is_configured_once_and_writes(spark: SparkSession, tmp_path: Path) -> None:
    for ask in (mc.commits, lambda spark: mc.committer_info(spark, "gs://bucket/t")):
        with pytest.raises(mc.JarNotLoadedError, match="configure_session"):
            ask(spark)
    first = mc.configure_session(spark)
    assert first.changed
    assert first.jar_added is not None
    assert not mc.configure_session(spark).changed

    table = tmp_path / "table"
    spark.range(100).selectExpr("id", "id % 3 AS p").write.partitionBy("p").parquet(str(table))
    spark.range(10).selectExpr("id", "id % 3 AS p").write.option(
        "partitionOverwriteMode", "dynamic"
    ).mode("overwrite").partitionBy("p").parquet(str(table))

    assert spark.read.parquet(str(table)).count() == 10
    report = json.loads((table / "_SUCCESS").read_text("utf-8"))
    with gzip.open(table / "_SUCCESS.files", "rt", encoding="utf-8") as lines:
        header, *files = [json.loads(line) for line in lines]
    assert header["jobId"] == report["jobId"]
    assert {file["path"] for file in files} == {
        file.relative_to(table).as_posix() for file in table.glob("p=*/part-*")
    }


def test_a_connect_builder_is_refused() -> None:
    with pytest.raises(mc.ConnectSessionError, match="configure_session"):
        mc.configure_builder(SparkSession.builder.remote("local[2]"))


def test_committers_are_told_as_far_as_the_server_can(spark: SparkSession) -> None:
    mc.configure_session(spark)
    info = mc.committer_info(spark, "gs://bucket/it's a table")
    # What RDDs would get, which a Connect session does not have.
    before_hadoop_had_one = info.hadoop_version == "3.3.4"
    code = "no-factory" if before_hadoop_had_one else "hadoop-factory"
    assert [problem.code for problem in info.problems] == [code]
    assert info.ok != before_hadoop_had_one
    assert info.committer is None, "stores are not opened there"
    assert {name: place.shown for name, place in info.watching.items()} == {
        "console": False,
        "metrics": True,
        "events": True,
    }
