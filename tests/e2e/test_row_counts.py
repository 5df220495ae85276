# SPDX-License-Identifier: Apache-2.0
"""Why reports have no rows: what Spark knows of them when it asks a protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from protocols import PROTOCOL
from pyspark.sql import Observation, SparkSession
from pyspark.sql.functions import count, lit
from sessions import add_stand_in, settings

pytestmark = pytest.mark.classic(because="asks the JVM of a driver in this process")

ROWS = "rows.at.commit.of.attempt."
"""How the system properties begin that the stand-in sets, one for each attempt of a task."""


def test_spark_counts_the_rows_of_a_task_after_its_commit(
    spark: SparkSession, tmp_path: Path
) -> None:
    add_stand_in(spark, "RowsAtCommit", tmp_path)
    with settings(spark, {PROTOCOL: "RowsAtCommit"}):
        spark.range(10, numPartitions=2).write.parquet(str(tmp_path / "table"))
    jvm: Any = spark._jvm
    properties = dict(jvm.System.getProperties())
    at_commit = [properties[key] for key in properties if key.startswith(ROWS)]
    assert at_commit == ["0", "0"]
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    assert context.statusStore().lastStageAttempt(0).outputRecords() == 10


def test_an_observation_counts_the_rows_of_a_write(spark: SparkSession, tmp_path: Path) -> None:
    observation = Observation()
    frame = spark.range(10).observe(observation, count(lit(1)).alias("rows"))
    frame.write.parquet(str(tmp_path / "table"))
    assert observation.get == {"rows": spark.read.parquet(str(tmp_path / "table")).count()}
