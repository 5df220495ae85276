# SPDX-License-Identifier: Apache-2.0
"""The scripts of the page about orchestrators, as it prints them, with programs that only note how
they were called. ``tests/orchestrators`` runs its recipes for Airflow and Dagster with these.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from pages import REPOSITORY, blocks

PAGE = REPOSITORY / "docs" / "using" / "orchestrators.md"
PROGRAMS = ("spark-submit", "manifest-committer", "load-sales", "dbt")
IDENTITY = "--conf spark.hadoop.mapreduce.manifest.committer.commit.id=sales-2026-01-31"
WRITE = f"spark-submit {IDENTITY} sales.py gs://bucket/sales 2026-01-31"
WAIT = "manifest-committer wait gs://bucket/sales --commit-id sales-2026-01-31 --timeout 2h"
LOAD = "load-sales gs://bucket/sales 2026-01-31"
BUILD = "dbt build --select source:lake.sales+ --vars {day: 2026-01-31}"


def script(name: str) -> str:
    (text,) = (block.text for block in blocks(PAGE) if f"# {name}" in block.text)
    return text


def run(folder: Path, name: str, **codes: int) -> tuple[int, list[str]]:
    """What a script ends with, and what it called, where some programs end with these codes."""
    folder.mkdir()
    called = folder / "called"
    for program in PROGRAMS:
        file = folder / program
        code = codes.get(program.replace("-", "_"), 0)
        file.write_text(f'#!/bin/sh\necho "{program} $*" >> {called}\nexit {code}\n')
        file.chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["sh", "-c", script(name), name, "2026-01-31"],
        check=False,
        env={**os.environ, "PATH": path},
        timeout=60,
    )
    return ran.returncode, called.read_text().splitlines()


@pytest.mark.parametrize(
    ("codes", "ends", "calls"),
    [
        ({}, 0, [WRITE, WAIT, LOAD]),
        ({"spark_submit": 5}, 5, [WRITE]),
        ({"manifest_committer": 3}, 3, [WRITE, WAIT]),
        ({"manifest_committer": 1}, 1, [WRITE, WAIT]),
        ({"load_sales": 4}, 4, [WRITE, WAIT, LOAD]),
    ],
)
def test_cron(tmp_path: Path, codes: dict[str, int], ends: int, calls: list[str]) -> None:
    assert run(tmp_path / "bin", "nightly.sh", **codes) == (ends, calls)


@pytest.mark.parametrize(
    ("codes", "ends", "calls"),
    [
        ({}, 0, [WAIT, BUILD]),
        ({"manifest_committer": 3}, 3, [WAIT]),
        ({"dbt": 1}, 1, [WAIT, BUILD]),
    ],
)
def test_dbt(tmp_path: Path, codes: dict[str, int], ends: int, calls: list[str]) -> None:
    assert run(tmp_path / "bin", "nightly-dbt.sh", **codes) == (ends, calls)
