# SPDX-License-Identifier: Apache-2.0
"""Plans a query of 100,000 files in 500 partitions by ``mc.read`` and by ``spark.read.parquet``.

Each in turn, on one directory of the local disk, in one session. Fails if the median of the ratios
of ``mc.read`` to Spark is above 1.2.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import manifest_committer as mc

FILES = 100_000
PARTITIONS = 500
ROUNDS = 7
MOST = 1.2


def fill(spark: SparkSession, table: Path) -> None:
    """A table of links to small files, with the report of a job."""
    spark.range(1).coalesce(1).write.parquet(str(table))
    (first,) = table.glob("part-*.parquet")
    for partition in range(PARTITIONS):
        directory = table / f"p={partition}"
        directory.mkdir()
        # A file has no more than some 65,000 links.
        source = directory / "part-00000.parquet"
        source.write_bytes(first.read_bytes())
        for number in range(1, FILES // PARTITIONS):
            os.link(source, directory / f"part-{number:05d}.parquet")
    first.unlink()
    for checksum in table.glob(".part-*"):
        checksum.unlink()


def seconds(read: Callable[[], DataFrame]) -> float:
    """From the call to a plan that has its splits."""
    begun = time.monotonic()
    assert read().rdd.getNumPartitions() > 0
    return time.monotonic() - begun


def main() -> int:
    """Returns what the process ends with."""
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    spark = mc.configure_builder(builder.config("spark.ui.enabled", "false")).getOrCreate()
    with tempfile.TemporaryDirectory() as temporary:
        table = Path(temporary) / "table"
        fill(spark, table)
        path = str(table)
        ratios = []
        for number in range(ROUNDS):
            ours = seconds(lambda: mc.read(spark, path, "parquet"))
            theirs = seconds(lambda: spark.read.parquet(path))
            print(f"mc.read {ours:.2f} s, spark.read.parquet {theirs:.2f} s")
            if number > 1:  # Not of a JVM that has just begun.
                ratios.append(ours / theirs)
        assert len(mc.committed_files(spark, path)) == FILES
    spark.stop()
    ratio = statistics.median(ratios)
    print(f"the median of {len(ratios)} ratios is {ratio:.2f}, of at most {MOST}")
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
