# SPDX-License-Identifier: Apache-2.0
"""A Connect session, with its server in a JVM of this process, on a port that it picks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import manifest_committer as mc

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import jvm

CONNECT = "MANIFEST_COMMITTER_CONNECT_JAR"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A client session; Spark 3.5 has its server in a jar of its own."""
    os.environ.update(
        LC_ALL="C.UTF-8", SPARK_LOCAL_IP="127.0.0.1", SPARK_TESTING="1", **jvm.environment()
    )
    builder = SparkSession.builder.remote("local[2]")
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    if pyspark.__version__.startswith("3."):
        conf["spark.jars"] = os.environ[CONNECT]
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def configured(spark: SparkSession) -> SparkSession:
    """The session, with our jar on its server."""
    mc.configure_session(spark)
    return spark


@pytest.fixture
def table(configured: SparkSession, tmp_path: Path) -> Path:
    """A table with three partitions."""
    path = tmp_path / "a ${table} it's"
    rows = configured.range(100, numPartitions=1).selectExpr("id", "id % 3 AS p")
    rows.write.partitionBy("p").parquet(str(path))
    return path
