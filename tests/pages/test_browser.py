# SPDX-License-Identifier: Apache-2.0
"""The pages of jobs in a real browser: Chromium, whose program ``$CHROMIUM`` names."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from manifest_committer.page import make_page

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import test_page

RANDOM = random.Random(7)
STEPS = [
    ("seal_output", 0, 48),
    ("lock_places", 3, 160),
    ("prove_output", 48, 310),
    ("plan", 365, 120),
    ("write_journal", 490, 180),
    ("rename_directories", 672, 910),
    ("create_target_dirs", 1590, 40),
    ("rename_files", 1632, 420),
    ("save_success_marker", 2060, 150),
    ("remove_old_data", 2215, 390),
]
DAYS = [(f"day=2026-01-{day:02}", day, day * 9_000_000) for day in range(1, 32)]
REPORT = {
    **test_page.REPORT,
    "committer": "io.manifestcommitter.spark.ManifestCommitProtocol",
    "jobId": "4a5c9b7e-2f1d-4c7e-9a53-0d2b6f5a1c11",
    "diagnostics": {
        "write": "dynamic overwrite",
        "application.name": "nightly sales",
        "application.id": "application_1767_0042",
        "steps": test_page.told(("name", "start", "millis"), STEPS),
        "partitions": test_page.told(
            ("path", "outcome", "files", "bytes"),
            [(day, "created" if n == 31 else "replaced", n, size) for day, n, size in DAYS],
        ),
    },
    "iostatistics": {
        "counters": {
            "committer_files_committed": 1000000,
            "committer_bytes_committed": 4464000000,
            "committer_partitions_created": 1,
            "committer_partitions_replaced": 30,
            "committer_tasks_completed": 200,
            "op_rename": 62,
            "op_list_status": 64,
            "op_get_file_status": 9,
            "op_create": 4,
            "op_delete": 2,
        },
        "meanstatistics": {"committer_commit_job.mean": {"samples": 1, "sum": 2605}},
    },
}
SIZES = {20: 3000, 21: 9000, 22: 60000, 23: 128000, 24: 200000, 25: 400000, 26: 150000, 27: 50000}
JOB_PAGE = {
    "path": "abfs://data@account.dfs.core.windows.net/sales/_SUCCESS",
    "report": REPORT,
    "histogram": [list(bucket) for bucket in SIZES.items()],
    "partitions": [list(day) for day in DAYS],
}
HISTORY_PAGE = {
    "path": "abfs://data@account.dfs.core.windows.net/reports",
    "history": {
        "jobs": [
            {
                **test_page.JOB,
                "jobId": str(i),
                "table": f"abfs://data@account.dfs.core.windows.net/table{i % 7}",
                "outcome": "failed" if i % 83 == 5 else "committed",
                "success": i % 83 != 5,
                "ended": 1767323045678 + i * 3600000,
                "millis": int(300 * (i % 7 + 1) * RANDOM.lognormvariate(0, 0.3)),
                "files": (files := int(90 * (i % 7 + 1) * RANDOM.lognormvariate(0, 0.3))),
                "bytes": files * 8000000,
                "throttled": 40 if i % 97 == 3 else 0,
                "error": "java.io.IOException: the store is down" if i % 83 == 5 else "",
            }
            for i in range(1000)
        ],
        "problems": [],
    },
}


NO_BROWSER = (
    "There is no Chromium. On Debian: apt-get install chromium. Elsewhere:"
    " .venv/pages/bin/playwright install chromium. Or name a program that is there in $CHROMIUM"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        program = (
            os.environ.get("CHROMIUM")
            or shutil.which("chromium")
            or shutil.which("google-chrome")
            or (own if Path(own).exists() else None)
        )
        assert program, NO_BROWSER
        chromium = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield chromium
        chromium.close()


@pytest.fixture(params=["light", "dark"])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of the browser; what it complains of, or asks a network for, fails the test."""
    context = browser.new_context(
        color_scheme=request.param, viewport={"width": 820, "height": 900}
    )
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda asked: asked.url.startswith("file:") or wrong.append(asked.url))
    yield opened
    context.close()
    assert wrong == []


def shown(page: Page, data: dict[str, Any], tmp_path: Path) -> Path:
    file = tmp_path / "page.html"
    file.write_text(make_page(data), "utf-8")
    page.goto(file.as_uri())
    return file


def keep(page: Page, name: str) -> None:
    """Keeps a picture for the docs where it is asked for, as by ``make screenshots``."""
    directory = os.environ.get("SCREENSHOTS")
    is_light = page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")
    if directory and is_light:
        page.screenshot(path=str(Path(directory, name)), full_page=False)


def test_a_job(page: Page, tmp_path: Path) -> None:
    shown(page, JOB_PAGE, tmp_path)
    cells = page.locator("table").first.inner_text()
    assert "1,000,000" in cells
    assert "1 created, 30 replaced" in cells
    steps = page.get_by_role("img", name="The steps of the commit in time")
    bars = steps.locator("rect").evaluate_all(
        "bars => bars.map(b => b.getBoundingClientRect().width)"
    )
    assert bars[5] == max(bars), "rename directories took longest"
    assert bars[5] / bars[7] == pytest.approx(910 / 420, rel=0.02)
    assert "400,000 of 1,000,000 files (40%)" in page.inner_text("body")
    assert page.inner_text("table >> nth=1").splitlines()[1].startswith("day=2026-01-31")
    keep(page, "job-report.png")


def test_a_directory(page: Page, tmp_path: Path) -> None:
    file = shown(page, HISTORY_PAGE, tmp_path)
    jobs = HISTORY_PAGE["history"]["jobs"]
    failed = sum(not job["success"] for job in jobs)
    cells = page.locator("table").first.inner_text()
    assert "1,000" in cells
    assert f"not committed\t{failed}" in cells
    assert page.locator("svg").first.locator("circle").count() == len(jobs)
    assert page.locator("svg").first.locator("circle.bad").count() == failed
    assert file.stat().st_size < 5_000_000
    keep(page, "jobs-report.png")


def test_text_can_be_read(page: Page, tmp_path: Path) -> None:
    """Ink against paper: a contrast of 7 to 1, as WCAG's level AAA asks, in light and dark."""
    shown(page, JOB_PAGE, tmp_path)
    ink, paper = page.evaluate(
        "() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor] }"
    )
    bright, dim = sorted((luminance(ink), luminance(paper)), reverse=True)
    assert (bright + 0.05) / (dim + 0.05) > 7


def luminance(color: str) -> float:
    """As WCAG 2 defines it, of ``rgb(r, g, b)``."""
    parts = [int(part) / 255 for part in color.removeprefix("rgb(").rstrip(")").split(",")]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
