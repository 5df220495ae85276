# SPDX-License-Identifier: Apache-2.0
"""Figures that a page repeats are those of the page with the evidence."""

from __future__ import annotations

import re

import pytest
from pages import FIRST, REPOSITORY

COMMITTERS = ("this committer", "Spark's default, v1", "Hadoop 3.5.0 manifest committer")
"""As the README's table has them, by their names in the benchmarks."""

OPERATING = REPOSITORY / "docs" / "operating" / "README.md"
BENCHMARKS = REPOSITORY / "docs" / "evidence" / "benchmarks.md"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def measured(heading: str, column: str, write: str, committer: str) -> float:
    """A figure from the first table below a heading of the benchmarks."""
    section = BENCHMARKS.read_text("utf-8").split(f"### {heading}\n")[1].partition("\n###")[0]
    lines = section.splitlines()
    (names, *rows) = [cells(line) for line in lines if line.startswith("| ")]
    (row,) = [row for row in rows if row[0] == write and row[1].startswith(committer)]
    return float(row[names.index(column)].replace(",", ""))


def row_of(page_text: str, begin: str) -> list[str]:
    (line,) = [line for line in page_text.splitlines() if line.startswith(f"| {begin}")]
    return cells(line)[1:]


def test_the_requests_of_the_first_page() -> None:
    shown = row_of(FIRST.read_text("utf-8"), "requests for 100,000 files")
    column = ("Requests and heap", "requests in all", "new partitions")
    assert shown == [f"{measured(*column, name):,.0f}" for name in COMMITTERS]


def test_the_times_of_the_first_page() -> None:
    shown = row_of(FIRST.read_text("utf-8"), "time on the driver, 160 files, 50 ms a request")
    column = ("Time", "50 ms: driver, s", "new partitions")
    assert shown == [f"{measured(*column, name):.2g} s" for name in COMMITTERS]


@pytest.mark.parametrize(
    ("job", "write"),
    [
        ("100,000 files into new partitions", "new partitions"),
        ("100,000 files that replace as many", "dynamic partition overwrite"),
    ],
)
def test_what_the_driver_needs(job: str, write: str) -> None:
    heap = measured("Requests and heap", "heap of job commit, MiB", write, COMMITTERS[0])
    cpu = measured("CPU, cold and warm", "CPU cold, s", write, COMMITTERS[0])
    assert row_of(OPERATING.read_text("utf-8"), job) == [f"{heap:.0f} MiB", f"{cpu:.0f} s"]


def test_the_memory_for_a_million_files() -> None:
    """What operators read about it is what `make scale` runs with."""
    text = BENCHMARKS.read_text("utf-8")
    assert re.search(r"10,000 tasks . 100 files, `-Xmx512m` \(on S3 1 GiB\)", text)
    assert row_of(OPERATING.read_text("utf-8"), "a million files")[0] == (
        "fits in `-Xmx512m`; on S3 in 1 GiB"
    )
