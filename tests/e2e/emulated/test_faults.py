# SPDX-License-Identifier: Apache-2.0
"""What stores are known for, end to end: lost answers, refusals; every row is there, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pyspark
import pytest
import stores
from tables import Report, Row, Table

pytestmark = pytest.mark.core

RENAME = "move" if stores.name() == "gs" else "rename"
"""The request that renames a file, by its name in the emulator's log."""

DRIVER_RECOVERS = pyspark.__version__.startswith("4") and stores.name() != "gs"
"""hadoop-azure of Hadoop 3.5 knows its own rename again when it has to repeat the request."""

BY_FILE = {"mapreduce.manifest.committer.directory.rename": "off"}
"""Else most files would come with their directory. Faults of that: ``tests/connectors``."""

OLD: list[Row] = [("a", 0), ("b", 1)]
NEW: list[Row] = [(f"new-{i}", i % 20) for i in range(40)]


@pytest.fixture
def table(new_table: Callable[..., Table]) -> Table:
    made = new_table(partition_by=["p"])
    made.write(OLD, "append")
    return made


def published(table: Table) -> str:
    """The renames that make the table's files visible, by their destination."""
    return rf"{table.path.key}/p=[^/]*/part-"


def append(table: Table) -> Report:
    report = table.write(table.frame(NEW).coalesce(1), "append", **BY_FILE)
    assert table.rows() == Counter(OLD + NEW)
    assert len(report.sizes) == 20
    return report


@pytest.mark.parametrize(
    ("action", "answer", "is_retried"),
    [
        ("applyThenFail", {"status": 404, "code": "SourcePathNotFound"}, False),
        pytest.param("applyThenFail", {"status": 500}, True, marks=pytest.mark.more),
        ("applyThenDrop", {}, True),
    ],
    ids=["not-found", "error", "dropped"],
)
def test_a_rename_whose_answer_is_lost(
    table: Table,
    control: stores.Control,
    action: str,
    answer: dict[str, object],
    is_retried: bool,
) -> None:
    applied = control.fault(RENAME, action, path=published(table), call=3, **answer)
    report = append(table)
    assert applied() == 1
    assert report.counters["commit_file_rename"] == 20
    by_us = 0 if is_retried and DRIVER_RECOVERS else 1
    assert report.counters.get("commit_file_rename_recovered", 0) == by_us


@pytest.mark.parametrize(
    ("status", "refusals"),
    [
        (429, 1),
        (503, 30),
        pytest.param(429, 30, marks=pytest.mark.more),
        pytest.param(503, 1, marks=pytest.mark.more),
    ],
)
def test_refused_renames(table: Table, control: stores.Control, status: int, refusals: int) -> None:
    """Neither driver makes all of these requests again by itself."""
    path = published(table)
    applied = control.fault(RENAME, "refuse", path=path, times=refusals, status=status)
    append(table)
    assert applied() == refusals


@pytest.mark.only_on("abfs", "abfss")
def test_the_limit_of_an_account(table: Table, control: stores.Control) -> None:
    """Tasks and job commit together ask for more than the account serves.

    Google's connector waits a second and more for each refusal: this would take a minute there.
    """
    control.forget()
    control.limit(60)
    table.save(table.frame(NEW).coalesce(1), "append")
    control.limit(0)
    assert any(entry["cause"].lower() == "limit" for entry in control.log())
    assert table.rows() == Counter(OLD + NEW)
