# SPDX-License-Identifier: Apache-2.0
"""Executors in processes of their own: retries across them, and one that is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import faults
import pytest
from pyspark.sql import SparkSession
from sessions import LOCAL_CLUSTER, settings, started
from tables import Table


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with started(LOCAL_CLUSTER, tmp_path_factory.mktemp("session")) as session:
        yield session


@pytest.fixture(params=[[], ["p"]], ids=["flat", "partitioned"])
def table(request: pytest.FixtureRequest, new_table: Callable[..., Table]) -> Iterator[Table]:
    made = new_table(partition_by=request.param)
    # Without it Spark sorts partitioned rows first, and attempts would fail without any file.
    with settings(made.spark, {"spark.sql.maxConcurrentOutputFileWriters": "10"}):
        yield made


def test_write(table: Table) -> None:
    table.write(faults.numbered(table.spark, faults.harmless()), "append")
    assert table.rows() == faults.numbered_rows()


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
