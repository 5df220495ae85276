# SPDX-License-Identifier: Apache-2.0
"""Pages of jobs, and values in notebooks, in a real browser: Chromium, which ``$CHROMIUM`` names.

In light and dark, wide and narrow.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, sync_playwright

import manifest_committer as mc
from manifest_committer import job_history, watching
from manifest_committer._figures import count, duration, in_units
from manifest_committer.page import make_page
from manifest_committer.report import SuccessReport, report_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import test_info
import test_page
import test_watching

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


SCREENS = {
    "light": ("light", 1200),
    "dark": ("dark", 1200),
    "narrow": ("light", 500),
    "narrow-dark": ("dark", 500),
}
EMPTY_PAGE = {"path": "abfs://data@account/reports", "history": {"jobs": [], "problems": []}}
FAILED_PAGE = {
    "path": "abfs://data@account.dfs.core.windows.net/reports/summary-1.json",
    "report": {
        **REPORT,
        "success": False,
        "state": "failed",
        "stage": "job_stage_rename_directories",
        "diagnostics": {"exception": "java.io.IOException: abfs://data@account/sales/" + "x" * 90},
    },
    "histogram": [],
    "partitions": [],
}
PAGES = {"job": JOB_PAGE, "failed": FAILED_PAGE, "directory": HISTORY_PAGE, "empty": EMPTY_PAGE}

BROKEN_WORDS = """() => {
  const broken = [];
  for (const cell of document.querySelectorAll('td:not(.path), th')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const word of texts.currentNode.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(r => Math.round(r.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""
"""Words of cells that are on two lines; of cells that may not break anywhere."""

SEEN = """() => {
  const rgb = color => (color.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const over = (top, below) => {
    const alpha = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map(i => top[i] * alpha + below[i] * (1 - alpha));
  };
  const paper = element => {
    if (!element) return [255, 255, 255];
    return over(rgb(getComputedStyle(element).backgroundColor), paper(element.parentElement));
  };
  const luminance = color => {
    const [r, g, b] = color.map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dim, bright] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dim + 0.05);
  };
  const texts = [], marks = [];
  for (const element of document.body.querySelectorAll('*')) {
    const style = getComputedStyle(element);
    if ([...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())) {
      const below = paper(element);
      texts.push([contrast(over(rgb(style.color), below), below), element.textContent]);
    }
    if (!element.textContent.trim() && rgb(style.backgroundColor)[3] !== 0) {
      const below = paper(element.parentElement);
      marks.push([contrast(paper(element), below), element.outerHTML.slice(0, 200)]);
    }
  }
  return [texts, marks];
}"""
"""By WCAG 2: the contrast of each text, and of each mark without text, with what is below it."""

TICKS = """() => [...document.querySelectorAll('.y, .x, div:has(> .tick)')].map(axis =>
  [...axis.children].map(tick => {
    const box = tick.getBoundingClientRect();
    return [tick.innerText, box.left, box.right, box.top, box.bottom];
  }))"""
"""The texts of each axis, and where they are."""


@pytest.fixture(params=SCREENS)
def screen(request: pytest.FixtureRequest) -> str:
    """Its name."""
    name: str = request.param
    return name


@pytest.fixture
def page(browser: Any, screen: str) -> Iterator[Page]:
    """A page of the browser; what it complains of, or asks a network for, fails the test."""
    scheme, width = SCREENS[screen]
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
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


def keep(page: Page, screen: str, name: str) -> None:
    """Keeps a picture for the docs where it is asked for, as by ``make screenshots``."""
    directory = os.environ.get("SCREENSHOTS")
    if directory and screen != "narrow-dark":
        if screen != "narrow":
            page.set_viewport_size({"width": 820, "height": 900})
        suffix = "" if screen == "light" else f"-{screen}"
        page.screenshot(path=str(Path(directory, f"{name}{suffix}.png")), full_page=False)


def rows(table: Locator) -> list[list[str]]:
    """What the cells of a table say."""
    read: list[list[str]] = table.evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.innerText))"
    )
    return read


def facts(page: Page) -> dict[str, str]:
    """The names and values of the first table."""
    return dict(rows(page.locator("table").first))


def test_a_job(page: Page, screen: str, tmp_path: Path) -> None:
    """What it says is what the report says."""
    shown(page, JOB_PAGE, tmp_path)
    report = report_of(REPORT, JOB_PAGE["path"])
    assert facts(page) == {
        "job": report.job_id,
        "outcome": "committed",
        **dict(report.rows()),
    }
    steps, requests, sizes = page.locator("table:has(.bar)").all()
    assert [(name, time) for name, _, time in rows(steps)[:-1]] == [
        (name.replace("_", " "), f"{millis} ms") for name, _, millis in STEPS
    ]
    bars = steps.locator(".bar").evaluate_all("all => all.map(one => one.offsetWidth)")
    assert bars[5] == max(bars), "rename directories took longest"
    assert bars[5] / bars[7] == pytest.approx(910 / 420, rel=0.05)
    assert {name: number for name, _, number in rows(requests)[:-1]} == {
        kind.replace("_", " "): str(number) for kind, number in report.requests.items()
    }
    assert "400,000 of 1,000,000 files (40%)" in page.inner_text("body")
    assert ["16 MiB to 32 MiB", "", "400,000"] in rows(sizes)
    head, *partitions = rows(page.locator("table").last)
    assert head == ["partition", "outcome", "files", "bytes"]
    assert partitions.pop(10) == ["… 11 more …"]
    assert partitions[0] == ["day=2026-01-31", "created", "31", "266.1 MiB"]
    assert [outcome for _, outcome, *_ in partitions[1:]] == ["replaced"] * 19
    keep(page, screen, "job-report")


def test_a_directory(page: Page, screen: str, tmp_path: Path) -> None:
    file = shown(page, HISTORY_PAGE, tmp_path)
    jobs = HISTORY_PAGE["history"]["jobs"]
    failed = sum(not job["success"] for job in jobs)
    told = facts(page)
    assert (told["jobs"], told["not committed"]) == ("1,000", str(failed))
    assert told["files"] == f"{sum(job['files'] for job in jobs):,}"
    chart = page.locator(".plot").first
    assert chart.locator(".dot").count() == len(jobs)
    assert chart.locator(".dot.bad").count() == failed
    assert chart.locator(".median").count() == 6
    assert "(UTC)" in page.locator(".axis").first.inner_text()
    last = jobs[-1]
    assert rows(page.locator("table").last)[1][2:5] == [
        duration(last["millis"]),
        count(last["files"]),
        in_units(last["bytes"]),
    ]
    assert file.stat().st_size < 5_000_000
    keep(page, screen, "jobs-report")


def test_an_empty_directory_says_what_to_do(page: Page, tmp_path: Path) -> None:
    shown(page, EMPTY_PAGE, tmp_path)
    assert "mapreduce.manifest.committer.summary.report.directory" in page.inner_text("body")


def test_a_dot_says_which_job_it_is(page: Page, screen: str, tmp_path: Path) -> None:
    """On hover, by its name to a screen reader, and below the page if the keyboard reaches it."""
    shown(page, HISTORY_PAGE, tmp_path)
    job = HISTORY_PAGE["history"]["jobs"][0]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "To the table of jobs"
    page.keyboard.press("Tab")
    told, title, below, width = page.evaluate(
        """() => { const dot = document.activeElement, style = getComputedStyle(dot, '::after');
        return [dot.ariaLabel, dot.title, style.content, parseFloat(style.width)] }"""
    )
    assert told.startswith(f"{job['table'].rpartition('/')[2]}, job {job['jobId']}, 2026-01-02 ")
    assert told.endswith(f" UTC: commit time {duration(job['millis'])}, committed")
    assert title == told
    assert below == f'"{told}"'
    assert width > 0.9 * SCREENS[screen][1], "at the bottom of the window, as wide as it is"
    assert page.get_by_role("img", name=told).count() >= 1


@pytest.mark.parametrize("name", PAGES)
def test_it_can_be_read(page: Page, screen: str, tmp_path: Path, name: str) -> None:
    """No word of a cell is broken, nothing is cut off, text is large enough, colours are seen."""
    shown(page, PAGES[name], tmp_path)
    assert page.evaluate(BROKEN_WORDS) == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= SCREENS[screen][1]
    sizes = page.evaluate(
        "[...document.querySelectorAll('td, th, p, span')]"
        ".filter(one => one.innerText).map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes, default=12) >= 12
    check_contrast(page, at_least=7)


def check_contrast(page: Page, at_least: float) -> None:
    """Of text as WCAG's levels ask, and of marks 3 to 1."""
    texts, marks = page.evaluate(SEEN)
    assert [one for one in texts if one[0] < at_least] == []
    assert [one for one in marks if one[0] < 3] == []
    assert texts


@pytest.mark.parametrize("name", ["job", "directory"])
def test_axes_have_ticks_that_differ(page: Page, tmp_path: Path, name: str) -> None:
    """Three or more on each axis, none over another."""
    shown(page, PAGES[name], tmp_path)
    axes = page.evaluate(TICKS)
    assert len(axes) == (3 if name == "job" else 8)
    for ticks in axes:
        assert 3 <= len({text for text, *_ in ticks}) == len(ticks)
        for (_, l1, r1, t1, b1), (_, l2, r2, t2, b2) in itertools.combinations(ticks, 2):
            assert r1 <= l2 or r2 <= l1 or b1 <= t2 or b2 <= t1, ticks


NOTEBOOKS = {
    "plain": "body {{ background: {paper}; color: {ink} }}",
    "as-jupyterlab": """
        body {{ background: {paper}; color: {ink}; font: 13px sans-serif }}
        table {{ border-collapse: collapse; table-layout: fixed; margin: 0 auto; font-size: 12px }}
        td, th, tr {{ vertical-align: middle; padding: 0.5em; text-align: right; border: none }}
        tbody tr:nth-child(odd) {{ background: {paper} }}
        tbody tr:nth-child(even) {{ background: {stripe} }}
    """,
}
THEMES = {
    "light": {"paper": "#fff", "ink": "rgba(0, 0, 0, 0.87)", "stripe": "#f5f5f5"},
    "dark": {"paper": "#111", "ink": "rgba(255, 255, 255, 0.87)", "stripe": "#212121"},
    "grey": {"paper": "#1e1e1e", "ink": "#ccc", "stripe": "#252526"},
}


def of_history(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What ``history`` returns, of a session that asks nobody."""
    jobs = [
        {**dict.fromkeys(job_history._COLUMNS), **job}
        for job in HISTORY_PAGE["history"]["jobs"][:30]
    ]
    monkeypatch.setattr(job_history, "_jobs", lambda *_: jobs)
    return mc.history(SimpleNamespace(createDataFrame=lambda *_: SimpleNamespace()), "/reports")


def values(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a notebook may show, and a text that is in each."""
    problems = [
        {**test_info.REPORT["problems"][0], "severity": severity}
        for severity in ("error", "warning", "note")
    ]
    ended = {"state": "committed", "reportedMillis": 900, "reportedRequests": 12}
    changes = mc.SessionChanges(
        "/jars/manifest-committer-0.1.0.jar",
        (mc.SettingChange("spark.sql.sources.commitProtocolClass", None, "io.x.Protocol"),),
    )
    return {
        "commit time": report_of(REPORT, JOB_PAGE["path"]),
        "rename directories": report_of(FAILED_PAGE["report"], FAILED_PAGE["path"]),
        "12,040": watching._Commits(
            [test_watching.commit(), test_watching.commit(**ended), test_watching.commit(total=0)]
        ),
        "spark.sql.sources.commitProtocolClass": changes,
        "none is bound": mc.info.info_of({**test_info.REPORT, "problems": problems}),
        "finished": of_history(monkeypatch),
    }


@pytest.mark.parametrize("notebook", NOTEBOOKS)
@pytest.mark.parametrize("theme", THEMES)
def test_values_in_a_notebook(
    page: Page, notebook: str, theme: str, monkeypatch: pytest.MonkeyPatch, screen: str
) -> None:
    """Each is seen on light and on dark, without a style sheet of ours, also beside another's."""
    style = NOTEBOOKS[notebook].format(**THEMES[theme])
    for text, value in values(monkeypatch).items():
        page.set_content(f"<style>{style}</style>{value._repr_html_()}")
        if isinstance(value, SuccessReport) and value.success:
            assert facts(page) == dict(value.rows())
        assert text in page.inner_text("body")
        assert page.evaluate(BROKEN_WORDS) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= SCREENS[screen][1]
        check_contrast(page, at_least=4.5)
