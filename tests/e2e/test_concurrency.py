# SPDX-License-Identifier: Apache-2.0
"""Several jobs that write to one table at once, from threads of one session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import faults
import pytest
from tables import Row, Table

more = pytest.mark.more
JOBS = 6


def rows_of(job: int) -> list[Row]:
    return [(f"job-{job}-{i}", i % 4) for i in range(50)]


def append_at_once(table: Table) -> None:
    with ThreadPoolExecutor(JOBS) as pool:
        for done in [pool.submit(table.save, rows_of(job), "append") for job in range(JOBS)]:
            done.result()


@pytest.mark.core
@pytest.mark.parametrize(
    "partition_by", [pytest.param([], marks=more), ["p"]], ids=["flat", "partitioned"]
)
@pytest.mark.parametrize("exists", [False, pytest.param(True, marks=more)], ids=["new", "existing"])
def test_appends(new_table: Callable[..., Table], partition_by: list[str], exists: bool) -> None:
    table = new_table(partition_by=partition_by)
    expected = Counter(row for job in range(JOBS) for row in rows_of(job))
    if exists:
        table.write([("first", 1)], "append")
        expected[("first", 1)] += 1
    append_at_once(table)
    assert table.rows() == expected
    table.check_report()


def test_failing_job_leaves_the_others_alone(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    broken = faults.numbered(table.spark, faults.failing())
    with ThreadPoolExecutor(2) as pool:
        failing = pool.submit(table.save, broken, "append")
        append_at_once(table)
        with pytest.raises(Exception, match="failed on purpose"):
            failing.result()
    assert table.rows() == Counter(row for job in range(JOBS) for row in rows_of(job))
    table.check_report()


def test_overwrites_of_different_partitions(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    table.write([("old", p) for p in range(JOBS)], "append")

    def overwrite(p: int) -> None:
        table.save([("new", p)], "overwrite", partitionOverwriteMode="dynamic")

    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(overwrite, range(JOBS)))
    assert table.rows() == Counter(("new", p) for p in range(JOBS))
    table.check_report()
