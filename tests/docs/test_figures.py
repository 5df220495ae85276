# SPDX-License-Identifier: Apache-2.0
"""Figures that a page repeats are those of the page with the evidence."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pages import FIRST, REPOSITORY

COMMITTERS = ("this committer", "Spark's default, v1", "Hadoop 3.5.0 manifest committer")
"""As the README's table has them, by their names in the benchmarks."""

ONE_FILE = ("setup: requests", "job commit: requests", "in sequence", "in sequence (2)")

OPERATING = REPOSITORY / "docs" / "operating" / "README.md"
BENCHMARKS = REPOSITORY / "docs" / "evidence" / "benchmarks.md"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def measured(heading: str, column: str, write: str, committer: str) -> float:
    """A figure from the first table below a heading of the benchmarks."""
    section = BENCHMARKS.read_text("utf-8").split(f"### {heading}\n")[1].partition("\n###")[0]
    lines = section.splitlines()
    (names, *rows) = [cells(line) for line in lines if line.startswith("| ")]
    # A column that is there twice is the one of setup, then that of job commit.
    names = [f"{n} (2)" if n in names[:i] else n for i, n in enumerate(names)]
    (row,) = [row for row in rows if row[0] == write and row[1].startswith(committer)]
    return float(row[names.index(column)].replace(",", ""))


def row_of(page_text: str, begin: str) -> list[str]:
    (line,) = [line for line in page_text.splitlines() if line.startswith(f"| {begin}")]
    return cells(line)[1:]


def one_file(name: str) -> tuple[float, float | None]:
    """Requests of the driver, and seconds; what is measured there is how many wait in a row."""
    figures = [measured("One file", column, "new partition", name) for column in ONE_FILE]
    return figures[0] + figures[1], (figures[2] + figures[3]) * 0.05


def some_files(name: str) -> tuple[float, float | None]:
    columns = ("requests: driver", "50 ms: driver, s")
    requests, seconds = (measured("Time", column, "new partitions", name) for column in columns)
    return requests, seconds


def many_files(name: str) -> tuple[float, float | None]:
    """Of a committer that makes one request after another nobody waited for the end."""
    if name == COMMITTERS[1]:
        columns = ("setup", "job commit")
        return sum(measured("Requests and heap", c, "new partitions", name) for c in columns), None
    columns = ("driver: requests", "driver, s")
    wide = "Many files, 10 ms a request"
    requests, seconds = (measured(wide, column, "new partitions", name) for column in columns)
    return requests, seconds


@pytest.mark.parametrize(
    ("job", "figures"),
    [
        ("1 file into a new partition, 50 ms a request", one_file),
        ("160 files into 10 new partitions, 50 ms a request", some_files),
        ("100,000 files into 500 new partitions, 10 ms a request", many_files),
    ],
)
def test_the_figures_of_the_first_page(
    job: str, figures: Callable[[str], tuple[float, float | None]]
) -> None:
    """A row is about one job."""
    expected = []
    for requests, seconds in map(figures, COMMITTERS):
        time = "" if seconds is None else f", {seconds:.2g} s"
        expected.append(f"{requests:,.0f} requests{time}")
    assert row_of(FIRST.read_text("utf-8"), job) == expected


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


@pytest.mark.parametrize("changed", ["", "SPARK_FLOOR := 3.5.9", "GCS_$(HADOOP_NEWEST) := 4.0.4"])
def test_the_table_of_versions_is_what_the_tests_run(tmp_path: Path, changed: str) -> None:
    for file in ("README.md", "Makefile", ".github/workflows/ci.yml", "tools", "pom.xml"):
        to = tmp_path / file
        to.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (REPOSITORY / file).is_dir() else shutil.copy)(REPOSITORY / file, to)
    makefile = (tmp_path / "Makefile").read_text("utf-8")
    assert changed in makefile
    if changed:
        (tmp_path / "Makefile").write_text(makefile.replace(changed, changed[:-1] + "99"), "utf-8")
    command = [sys.executable, str(tmp_path / "tools" / "versions.py")]
    checked = subprocess.run([*command, "--check"], check=False, capture_output=True, text=True)
    assert (checked.returncode, "run make docs" in checked.stdout) == (
        (1, True) if changed else (0, False)
    )
    subprocess.run(command, check=True)
    subprocess.run([*command, "--check"], check=True)
