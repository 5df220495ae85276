# SPDX-License-Identifier: Apache-2.0
"""The JVMs of these tests live for seconds: what counts is how fast they start.

As a program it makes the archive of Spark's classes for the PySpark that runs it, from which every
JVM with the same class path takes them loaded and verified: half of what it takes to start a
session. A JVM with another class path, or of another build, loads them as ever.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""No JVM here runs so long that the second compiler and the collector with threads pay."""

ARCHIVE = Path(sys.prefix) / "spark.jsa"


def options() -> str:
    """For a JVM that has Spark's jars; it is silent where it cannot use the archive."""
    archive = f"-XX:SharedArchiveFile={ARCHIVE} -Xlog:cds=off,cds+dynamic=off"
    return f"{OPTIONS} {archive}" if ARCHIVE.is_file() else OPTIONS


def environment() -> dict[str, str]:
    """What Spark's launch scripts read: their own JVM, that of a driver, and daemons."""
    return {
        "SPARK_LAUNCHER_OPTS": OPTIONS,
        "SPARK_SUBMIT_OPTS": options(),
        "SPARK_DAEMON_JAVA_OPTS": options(),
    }


def make_archive(scratch: Path) -> None:
    """What most sessions do, and at the end its JVM writes down the classes that it has loaded."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    made = ARCHIVE.with_suffix(".new")
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    # Its warnings name the classes that cannot be archived: hundreds.
    os.environ.update(
        SPARK_LAUNCHER_OPTS=OPTIONS,
        SPARK_SUBMIT_OPTS=f"{OPTIONS} -XX:ArchiveClassesAtExit={made} -Xlog:disable",
    )
    builder: Any = SparkSession.builder.master("local[2]")
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
    }
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    write(spark, scratch)
    gateway: Any = SparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    assert gateway.proc.wait() == 0
    made.replace(ARCHIVE)


def write(spark: Any, scratch: Path) -> None:
    """Tables of several formats, by path and by SQL, and through a Python function."""
    from pyspark.sql.functions import udf

    same: Callable[[Any], Any] = udf(lambda number: number, "bigint")
    rows = spark.range(0, 100, 1, 2).select(same("id").alias("id")).selectExpr("id", "id % 3 AS p")
    for fmt in ("parquet", "orc", "csv", "json"):
        path = str(scratch / fmt)
        for mode in ("append", "overwrite"):
            rows.write.format(fmt).mode(mode).partitionBy("p").save(path)
        assert spark.read.format(fmt).load(path).groupBy("p").count().count() == 3
    spark.sql("CREATE TABLE t (id BIGINT, p BIGINT) USING parquet PARTITIONED BY (p)")
    rows.createOrReplaceTempView("rows")
    spark.sql("INSERT INTO t SELECT * FROM rows")
    spark.sql("INSERT OVERWRITE t PARTITION (p = 1) SELECT id FROM rows ORDER BY id")
    assert spark.table("t").count() == 167
    spark.sql("DROP TABLE t")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        make_archive(Path(directory))
