# SPDX-License-Identifier: Apache-2.0
"""Writes whose commit takes seconds, by a limit on requests."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from faults import PATIENCE, wait_until
from pyspark.sql import DataFrame, SparkSession

import manifest_committer as mc

FILES = 40
SLOW = {
    "mapreduce.manifest.committer.io.rate": "20",
    "mapreduce.manifest.committer.directory.rename": "off",
}


def numbers(spark: SparkSession) -> DataFrame:
    """A file for each partition."""
    return spark.range(FILES, numPartitions=1).selectExpr("id", "id AS p")


def progress(commits: Iterable[mc.Commit], table: str, step: str = "rename_files") -> int:
    """How many files of a step the running commit into the table has done; -1 where none is."""
    done = [
        one.done
        for one in commits
        if one.state == "running" and one.table.endswith(table) and one.step == step
    ]
    return max(done, default=-1)


class Write:
    """A slow write in a thread of its own, into a table that has every number once."""

    def __init__(
        self, spark: SparkSession, table: Path, mode: str = "append", group: str | None = None
    ) -> None:
        self.table = table
        self.failure: Exception | None = None
        self._spark = spark
        self._mode = mode
        self._group = group
        self._thread = threading.Thread(target=self._run)
        numbers(spark).write.partitionBy("p").parquet(str(table))
        self._thread.start()

    def _run(self) -> None:
        try:
            if self._group is not None:
                self._spark.sparkContext.setJobGroup(self._group, "a slow append")
            rows = numbers(self._spark).write.options(**SLOW).mode(self._mode).partitionBy("p")
            rows.parquet(str(self.table))
        except Exception as error:
            self.failure = error

    def running(self, step: str = "rename_files", done: int = 5) -> mc.Commit:
        """Its commit, once it has done so much of a step."""
        table = str(self.table)
        wait_until(lambda: progress(mc.commits(self._spark), table, step) >= done)
        (commit,) = (
            one
            for one in mc.commits(self._spark)
            if one.state == "running" and one.table.endswith(table)
        )
        return commit

    def end(self) -> None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def state(self) -> str:
        """As the committer has it, once it is over."""
        table = str(self.table)
        ended = [one for one in mc.commits(self._spark) if one.table.endswith(table)]
        return ended[-1].state

    def times(self) -> set[int]:
        """How often the table has each number."""
        found = Counter(row["id"] for row in self._spark.read.parquet(str(self.table)).collect())
        assert set(found) == set(range(FILES))
        return set(found.values())


def check_rolled_back(write: Write) -> None:
    """It failed, left nothing, and can be repeated."""
    write.end()
    assert write.failure is not None
    assert write.state() == "failed"
    assert write.times() == {1}
    assert list(write.table.glob("_manifest_*")) == []
    numbers(write._spark).write.mode("append").partitionBy("p").parquet(str(write.table))
    assert write.times() == {2}
