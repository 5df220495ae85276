# SPDX-License-Identifier: Apache-2.0
"""A commit that takes seconds, as all those see it who watch: each sees it go on, and end."""

from __future__ import annotations

import csv
import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from notebooks import Kernel, beginning
from sessions import PROGRAMS, environment

pytestmark = [
    pytest.mark.local_disk,
    pytest.mark.classic(because="starts classic sessions of its own"),
]

PARTITIONS = 60


@dataclass(frozen=True)
class Watched:
    """What was seen of the write that ``programs/watched.py`` made."""

    files: int
    answer: dict[str, Any]
    terminal: str
    events: list[dict[str, Any]]
    metrics: dict[str, list[float]]
    report: str


@pytest.fixture(scope="module", params=["builder", pytest.param("add-jar", marks=pytest.mark.once)])
def watched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """With our jar from the start, and in a session that gets it while it runs."""
    return watch(tmp_path_factory.mktemp("watched"), request.param)


def watch(scratch: Path, *arguments: str) -> Watched:
    """The write, in a process whose standard error is a terminal."""
    terminal, program_side = pty.openpty()
    shown: list[bytes] = []
    program = subprocess.Popen(
        [
            *(sys.executable, str(PROGRAMS / "watched.py")),
            *(str(scratch / "table"), str(scratch), str(scratch / "reports")),
            *arguments,
        ],
        env={**environment(), "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=program_side,
        text=True,
    )
    os.close(program_side)
    reader = threading.Thread(target=_read_all, args=(terminal, shown))
    reader.start()
    output, _ = program.communicate(timeout=480)
    reader.join()
    os.close(terminal)
    screen = b"".join(shown).decode("utf-8", "replace")
    assert program.returncode == 0, screen
    (log,) = [
        path
        for path in (scratch / "events").rglob("*")
        if path.stat().st_size > 1000 and path.is_file()
    ]
    answer = json.loads(output.splitlines()[-1])
    return Watched(
        files=answer["files"],
        answer=answer,
        terminal=screen,
        events=[json.loads(line) for line in log.read_text("utf-8").splitlines()],
        metrics={
            path.name.partition("ManifestCommitter.")[2].removesuffix(".csv"): _values(path)
            for path in (scratch / "metrics").glob("*.ManifestCommitter.*.csv")
        },
        report="".join(
            path.read_text("utf-8") for path in (scratch / "reports").glob("summary-*.json")
        ),
    )


def _read_all(terminal: int, shown: list[bytes]) -> None:
    while True:
        try:
            read = os.read(terminal, 4096)
        except OSError:
            return
        if not read:
            return
        shown.append(read)


def _values(path: Path) -> list[float]:
    with path.open(encoding="utf-8") as lines:
        return [float(row.get("count") or row["value"]) for row in csv.DictReader(lines)]


def goes_up(values: list[float], most: int) -> bool:
    return len(set(values)) > 2 and 0 < max(values) <= most


def check_values(watched: Watched) -> None:
    renames = watched.answer["renames"]
    assert renames == sorted(renames)
    assert goes_up(renames, watched.files)
    assert not any(line.endswith(": ") for line in watched.answer["lines"]), "each has a step"
    assert any(
        f" / {watched.files:,}) " in line and " s left" in line for line in watched.answer["lines"]
    )
    assert watched.answer["state"] == "committed"
    assert watched.answer["requests"] > watched.files


def check_terminal(watched: Watched) -> None:
    """Beside Spark's own, and nothing of it is left."""
    drawn = watched.terminal.split("\r")
    bars = [text for text in drawn if text.startswith("[Commit: rename files ")]
    assert any(f" / {watched.files:,}) " in bar and "=>" in bar for bar in bars)
    assert all(len(bar.rstrip()) < 100 for bar in bars)
    assert not any("[Stage" in bar for bar in bars)
    last = max(index for index, text in enumerate(drawn) if text.startswith("[Commit"))
    assert drawn[last + 1 :][0].strip() == "", "it is wiped"


def check_event(watched: Watched) -> None:
    name = "io.manifestcommitter.watch.CommitEvent"
    (event,) = [event for event in watched.events if event["Event"] == name]
    assert event["kind"] == "commit"
    assert event["state"] == "committed"
    assert event["files"] == watched.files
    assert event["requests"] == watched.answer["requests"]
    assert event["counters"]["op_rename"] >= watched.files


def check_metrics(watched: Watched) -> None:
    assert goes_up(watched.metrics["files.done"], watched.files)
    assert max(watched.metrics["files.total"]) == watched.files
    assert watched.metrics["commits"][-1] == 1
    assert watched.metrics["files"][-1] == watched.files
    assert watched.metrics["requests"][-1] == watched.answer["requests"]
    assert watched.metrics["running"][-1] == 0


@pytest.mark.parametrize("check", [check_values, check_terminal, check_event, check_metrics])
def test_it_is_seen(watched: Watched, check: Callable[[Watched], None]) -> None:
    """From another thread, as a bar in the terminal, in the event log, and in a sink of Spark."""
    check(watched)


def test_it_is_told_before_where_commits_are_shown(watched: Watched) -> None:
    assert watched.answer["places"] == {
        "console": [True, "beside Spark's stage bar on the driver's standard error"],
        "metrics": [True, "the source ManifestCommitter in every sink, from the first commit on"],
        "events": [
            True,
            "io.manifestcommitter.watch.CommitEvent to Spark's listeners and in the event log",
        ],
    }


def test_the_history(watched: Watched) -> None:
    (job,) = watched.answer["jobs"]
    assert job["outcome"] == "committed"
    assert job["write"] == "append"
    assert job["partitionsCreated"] == PARTITIONS == watched.files
    assert job["applicationName"] == "watched"
    assert job["millis"] > 1000


@pytest.mark.once
@pytest.mark.parametrize("watched", ["builder"], indirect=True)
def test_a_page_of_reports(watched: Watched, tmp_path: Path) -> None:
    """By the command line, from a real report and one that is damaged."""
    reports = tmp_path / "reports"
    reports.mkdir()
    (reports / "summary-1.json").write_text(watched.report, "utf-8")
    (reports / "summary-damaged.json").write_text('{"name"', "utf-8")
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "manifest_committer", "report", str(reports)]
    subprocess.run([*command, "--html", str(page)], check=True, timeout=120)
    text = page.read_text("utf-8")
    assert f">{PARTITIONS}</td>" in text
    assert "summary-damaged.json is not a committer&#x27;s job report" in text


@pytest.mark.once
@pytest.mark.parametrize("binding", ["configure_session", "configure_builder"])
def test_a_bar_in_a_notebook(tmp_path: Path, binding: str) -> None:
    """A real kernel, whose second cell writes; it also makes the session, if by the builder."""
    table, reports = str(tmp_path / "table"), str(tmp_path / "reports")
    write = (
        f"spark.range({PARTITIONS}, numPartitions=1).selectExpr('id', 'id AS p')"
        f".write.option('mapreduce.manifest.committer.summary.report.directory', {reports!r})"
        f".partitionBy('p').parquet({table!r})"
    )
    values = {
        f"mc.read_report(spark, {table!r})": 'class="bar"',
        "mc.commits(spark)": "committed in",
        f"mc.history(spark, {reports!r})": "commit time",
        "mc.configure_session(spark)": "manifest-committer",
        f"mc.committer_info(spark, {table!r})": "Spark SQL and DataFrames",
    }
    kernel = Kernel(*beginning(binding, write), *values, "spark.stop()")
    cells = kernel.run()
    check_notebook(kernel.shown, cells, PARTITIONS)
    for cell, expected in zip(cells[2:-1], values.values(), strict=True):
        (value,) = cell.outputs
        assert expected in value["data"]["text/html"], cell.source


def check_notebook(shown: list[str], cells: list[Any], files: int) -> None:
    assert any("<progress" in page and f" / {files:,})" in page for page in shown)
    (bar,) = [one for one in cells[1].outputs if one.output_type == "display_data"]
    assert "committed in" in bar["data"]["text/html"]
