# SPDX-License-Identifier: Apache-2.0
"""What cancels a commit that makes its files visible, and what does not; after each, a retry."""

from __future__ import annotations

from pathlib import Path

import pytest
import sessions
from cancelling import FILES, SLOW, Write, check_rolled_back, numbers, progress
from faults import wait_until
from notebooks import Kernel, beginning
from pyspark.sql import SparkSession
from sessions import run_program

import manifest_committer as mc

pytestmark = pytest.mark.local_disk


def test_cancel(spark: SparkSession, tmp_path: Path) -> None:
    write = Write(spark, tmp_path / "table")
    commit = write.running()
    assert len(list(write.table.glob("p=*/part-*"))) > FILES, "something of it is visible"
    assert commit.cancel()
    write.end()
    assert "The commit was cancelled" in str(write.failure)
    assert not commit.cancel(), "it is over"
    check_rolled_back(write)


@pytest.mark.once
@pytest.mark.classic(because="ends as in a classic session")
def test_cancel_past_the_point_of_no_return(spark: SparkSession, tmp_path: Path) -> None:
    write = Write(spark, tmp_path / "table", "overwrite")
    assert not write.running("remove_old_data", done=0).cancel()
    write.end()
    assert write.failure is None
    assert write.state() == "committed"
    assert write.times() == {1}


@pytest.mark.once
@pytest.mark.classic(because="a Connect session has no SparkContext")
def test_what_cancels_jobs_of_spark_does_not_cancel_a_commit(
    spark: SparkSession, tmp_path: Path
) -> None:
    write = Write(spark, tmp_path / "table", group="slow")
    write.running()
    spark.sparkContext.cancelJobGroup("slow")
    spark.sparkContext.cancelAllJobs()
    write.end()
    assert write.failure is None
    assert write.state() == "committed"
    assert write.times() == {2}


@pytest.mark.skipif(not sessions.is_connect(), reason="only Connect has interruptible operations")
def test_an_operation_that_is_interrupted(spark: SparkSession, tmp_path: Path) -> None:
    write = Write(spark, tmp_path / "table")
    write.running()
    spark.interruptAll()
    check_rolled_back(write)


@pytest.mark.once
@pytest.mark.classic(because="interrupts the thread of a stream")
def test_a_stream_that_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    source, table = str(tmp_path / "source"), str(tmp_path / "table")
    numbers(spark).write.parquet(source)
    stream = (
        spark.readStream.schema("id long, p long")
        .parquet(source)
        .writeStream.foreachBatch(
            lambda rows, _: (
                rows.write.options(**SLOW).mode("append").partitionBy("p").parquet(table)
            )
        )
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    wait_until(lambda: progress(mc.commits(spark), table) >= 5)
    stream.stop()
    wait_until(lambda: progress(mc.commits(spark), table) < 0)
    (ended,) = (one for one in mc.commits(spark) if one.table.endswith(table))
    assert ended.state == "failed"
    assert list(tmp_path.glob("table/**/part-*")) == []


@pytest.mark.once
@pytest.mark.classic(because="has a classic session of its own")
def test_a_session_that_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    table = tmp_path / "table"
    numbers(spark).write.partitionBy("p").parquet(str(table))
    answer = run_program("stopped.py", str(table))
    assert len(answer["failures"]) == 1
    assert answer["states"] == ["failed"]
    assert spark.read.parquet(str(table)).count() == FILES
    assert list(table.glob("_manifest_*")) == []


OUTCOME = """
import time
deadline = time.monotonic() + 90
while any(one.state == 'running' for one in mc.commits(spark)):
    assert time.monotonic() < deadline
    time.sleep(0.1)
print([one.state for one in mc.commits(spark)], spark.read.parquet({table!r}).count())
spark.stop()
"""


@pytest.mark.classic(because="a kernel of its own has a classic session")
@pytest.mark.once
@pytest.mark.parametrize("binding", ["configure_session", "configure_builder"])
def test_a_cell_of_a_notebook_that_is_interrupted(
    spark: SparkSession, tmp_path: Path, binding: str
) -> None:
    """Once the bar shows that files become visible."""
    table = str(tmp_path / "table")
    numbers(spark).write.partitionBy("p").parquet(table)
    write = (
        f"spark.range({FILES}, numPartitions=1).selectExpr('id', 'id AS p')"
        f".write.mode('append').partitionBy('p').parquet({table!r})"
    )
    kernel = Kernel(*beginning(binding, write), OUTCOME.format(table=table), interrupted=True)
    cells = kernel.run()
    said = "".join(one.get("text", "") for one in cells[1].outputs)
    assert "is cancelled, and rolls back" in said
    assert {one.get("ename") for one in cells[1].outputs} & {"KeyboardInterrupt", "Py4JError"}
    (outcome,) = (one["text"] for one in cells[2].outputs if one.output_type == "stream")
    assert outcome.strip() == f"['failed'] {FILES}"
    assert spark.read.parquet(table).count() == FILES
