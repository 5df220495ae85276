# SPDX-License-Identifier: Apache-2.0
"""Pages of jobs: what is in them, and that nothing else is needed to see them."""

import json
import re
import time
import xml.etree.ElementTree as ElementTree

import pytest

import manifest_committer as mc
from manifest_committer.page import _calendar, make_page
from manifest_committer.pictures import Scale
from manifest_committer.report import parse_report

PATH = "abfs://c@a.dfs.core.windows.net/sales/_SUCCESS"


def told(names, rows):
    """A diagnostic of objects that have these names."""
    return json.dumps([dict(zip(names, row, strict=True)) for row in rows])


REPORT = {
    "name": "org.apache.hadoop.fs.s3a.commit.files.SuccessData/1",
    "timestamp": 1767323045678,
    "success": True,
    "hostname": "driver-1",
    "jobId": "4a5c<9b7e>",
    "diagnostics": {
        "write": "dynamic overwrite",
        "steps": told(
            ("name", "start", "millis"),
            [("seal_output", 0, 12), ("lock_places", 2, 30), ("rename_files", 50, 950)],
        ),
        "partitions": told(
            ("path", "outcome", "files", "bytes"),
            [("p=1", "replaced", 2, 300), ("p=2", "created", 1, 100)],
        ),
        "application.name": "nightly",
        "application.id": "app-1",
    },
    "iostatistics": {
        "counters": {
            "committer_files_committed": 1000000,
            "committer_bytes_committed": 5678901,
            "committer_partitions_created": 1,
            "committer_partitions_replaced": 1,
            "op_rename": 700,
            "op_list_status": 44,
            "store_io_throttled": 5,
        }
    },
}
JOB = {
    "report": "abfs://c@a/r/summary-1.json",
    "jobId": "1",
    "table": "abfs://c@a/sales",
    "description": "",
    "outcome": "committed",
    "success": True,
    "ended": 1767323045678,
    "millis": 2500,
    "files": 10,
    "bytes": 2048,
    "throttled": 0,
    "error": "",
}


def job_page(**changes):
    data = {
        "path": PATH,
        "report": {**REPORT, **changes},
        "histogram": [[0, 3], [10, 200000], [24, 300000], [28, 499997]],
        "partitions": [[f"p={i}", i, i * 1000] for i in range(1, 101)],
    }
    return make_page(data)


def texts(page):
    """What is read on a page, without its style."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def check_alone(page):
    """Well-formed, and nothing is fetched or run."""
    assert page.startswith("<!DOCTYPE html>")
    markup = page.removeprefix("<!DOCTYPE html>").replace('<meta charset="utf-8">', "")
    markup = re.sub(r"<meta [^>]*>|<br>", "", markup)
    ElementTree.fromstring(markup)
    assert not re.search(r"<script|<link|<img|<iframe|https?://|\burl\(|@import|\bon\w+=", page)


def test_a_page_of_a_job():
    page = job_page()
    check_alone(page)
    read = texts(page)
    assert "4a5c&lt;9b7e&gt;" in read
    assert "1,000,000" in read
    assert "dynamic overwrite" in read
    assert "1 created, 1 replaced" in read
    assert "seal output" in read
    assert "950 ms" in read
    assert "700" in read
    assert "500,003 of 1,000,000 files (50%) are below 16 MiB." in read
    assert "p=100" in read, "the largest"
    assert "p=1 replaced" in read, "the smallest, with what became of it"
    assert "… 80 more …" in read
    assert "This job failed" not in read


def test_a_timeline_is_to_scale():
    steps = re.search(r"<h2[^>]*>Steps</h2>.*?<h2", job_page(), re.S)[0]
    bars = re.findall(r"margin-left:([\d.]+)%;width:([\d.]+)%", steps)
    assert [(float(left), float(width)) for left, width in bars] == [
        (0, 1.2),
        (0.2, 3),
        (5, 95),
    ], "in percent of a second"
    assert re.findall(r'class="tick"[^>]*>([^<]*)<', steps) == [
        *("0 ms", "200 ms", "400 ms", "600 ms", "800 ms", "1,000 ms")
    ]


@pytest.mark.parametrize("state", ["failed", "aborted", "rolled_back"])
def test_a_page_of_a_job_that_did_not_commit(state):
    """Of an aborted job there are no steps and no files, only why."""
    cause = "The job was aborted before its commit. A job of Spark failed meanwhile: <full>\n\tat x"
    told = {"exception": cause, "application.name": "nightly"}
    page = make_page(
        {
            "path": "file:/r/summary-1.json",
            "report": {
                "name": REPORT["name"],
                "success": False,
                "state": state,
                "stage": "job_stage_abort",
                "diagnostics": told,
            },
            "histogram": [],
            "partitions": [],
        }
    )
    check_alone(page)
    read = texts(page)
    assert "This job did not commit." in read
    assert f"outcome {state.replace('_', ' ')}" in read
    assert "application nightly" in read
    assert "stage abort" in read
    assert "meanwhile: &lt;full&gt;" in read
    assert "at x" not in read
    assert "<h2" not in page


def test_every_partition_has_its_outcome():
    """Where the report names only some of them, and where all have the same."""
    rows = re.findall(r'<td class="path"[^>]*>(p=\d+)</td><td[^>]*>([^<]*)</td>', job_page())
    assert dict(rows)["p=1"] == "replaced"
    assert dict(rows)["p=100"] == "not reported"
    alike = {"counters": {"committer_partitions_created": 100}}
    page = job_page(iostatistics=alike, diagnostics={})
    rows = re.findall(r'<td class="path"[^>]*>(p=\d+)</td><td[^>]*>([^<]*)</td>', page)
    assert len(rows) == 20
    assert {outcome for _, outcome in rows} == {"created"}


@pytest.mark.parametrize("scale_of", [Scale.of_counts, Scale.of_bytes, Scale.of_times])
def test_the_ticks_of_an_axis_differ(scale_of):
    for most in (*range(1, 3000), *(7**power for power in range(1, 30))):
        scale = scale_of(most)
        assert 3 <= len(set(scale.labels)) == len(scale.labels) <= 6
        assert 0 < scale.percent(most) <= 100
        assert scale.percent(0) == 0


def test_the_ticks_of_a_calendar_differ():
    begin = JOB["ended"]
    for span in (0, 1, 999, 1001, *(int(1.7**power) for power in range(13, 60)), 10**15):
        start, width, ticks = _calendar(begin, begin + span)
        assert 3 <= len(set(ticks)) == len(ticks) <= 5
        assert start <= begin
        assert begin + span <= start + width


def test_a_page_of_hadoops_committer():
    """Which tells of no steps, partitions or requests."""
    bare = {key: REPORT[key] for key in ("name", "timestamp", "success", "jobId")}
    page = make_page({"path": PATH, "report": bare, "histogram": [], "partitions": []})
    check_alone(page)
    assert "Steps" not in page
    assert "Requests" not in page


def test_a_page_of_a_thousand_jobs_is_fast_and_small():
    jobs = [
        {
            **JOB,
            "jobId": str(i),
            "ended": JOB["ended"] + i * 60000,
            "success": i % 50 != 7,
            "error": "java.io.IOException: <the store> is down" if i % 50 == 7 else "",
            "outcome": "failed" if i % 50 == 7 else "committed",
            "throttled": i % 3,
            "millis": None if i == 3 else 1000 + i,
        }
        for i in range(1000)
    ]
    data = {"path": "abfs://c@a/r", "history": {"jobs": jobs, "problems": ["x is <broken>"]}}
    begun = time.monotonic()
    page = make_page(data)
    assert time.monotonic() - begun < 10
    assert len(page.encode()) < 5_000_000
    check_alone(page)
    read = texts(page)
    assert "jobs 1,000" in read
    assert "not committed 20" in read
    assert "The last 200 of 1,000." in read
    assert "&lt;the store&gt; is down" in read
    assert "x is &lt;broken&gt;" in read
    dots = re.findall(r'<span class="dot( bad)?" tabindex="0"[^>]*aria-label="([^"]*)"', page)
    assert len(dots) == 4 * 1000 - 1, "one has no time"
    assert sum(bad != "" for bad, _ in dots) == 4 * 20
    assert dots[0] == ("", "sales, job 0, 2026-01-02 03:04:05 UTC: commit time 1.00 s, committed")
    assert "median of sales: 1.50 s" in read


@pytest.mark.parametrize(("jobs", "shown"), [(9, 0), (10, 2)])
def test_medians_are_those_of_each_table(jobs, shown):
    rows = [
        {**JOB, "ended": JOB["ended"] + i, "table": f"abfs://c@a/x/t{i % 2}", "millis": i % 2 + 5}
        for i in range(jobs)
    ]
    page = make_page({"path": "/r", "history": {"jobs": rows, "problems": []}})
    commit_time = page.partition("Files</h2>")[0]
    assert commit_time.count('class="median"') == shown
    assert ("median of t1: 6 ms" in commit_time) == (shown > 0)
    assert "Tables are below abfs://c@a/x/." in page


def test_a_page_without_jobs():
    page = make_page({"path": "/r", "history": {"jobs": [], "problems": []}})
    check_alone(page)
    assert "set mapreduce.manifest.committer.summary.report.directory" in texts(page)


def test_a_report_shows_its_pictures_in_a_notebook():
    page = parse_report(json.dumps(REPORT).encode(), PATH)._repr_html_()
    assert page.count('class="bar"') == 5
    assert "seal output" in page
    assert not re.search("<style|var\\(", page), "a notebook has no style sheet of ours"


def test_what_is_no_data_is_refused():
    with pytest.raises(mc.InvalidReportError, match="it has no report"):
        make_page({"path": "x"})
