# SPDX-License-Identifier: Apache-2.0
"""Pages of jobs: what is in them, and that nothing else is needed to see them."""

import json
import re
import time
import xml.etree.ElementTree as ElementTree

import pytest

import manifest_committer as mc
from manifest_committer.page import make_page
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
    page = job_page()
    svg = re.search(r"<svg[^>]*The steps of the commit.*?</svg>", page, re.S)[0]
    bars = re.findall(r'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', svg)
    (seal, _, rename) = [(float(x), float(width)) for x, width in bars]
    assert rename[1] / seal[1] == pytest.approx(950 / 12, rel=0.05)
    assert rename[0] - seal[0] == pytest.approx(rename[1] * 50 / 950, rel=0.05)


def test_a_page_of_a_failed_job():
    read = texts(job_page(success=False, stage="job_stage_plan"))
    assert "This job failed." in read


def test_a_page_of_hadoops_committer():
    """Which tells of no steps, partitions or requests."""
    bare = {key: REPORT[key] for key in ("name", "timestamp", "success", "jobId")}
    page = make_page({"path": PATH, "report": bare, "histogram": [], "partitions": []})
    check_alone(page)
    assert "<svg" not in page


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
    assert page.count("<circle") == 4 * 1000
    assert page.count('<circle class="bad"') == 4 * 20


def test_a_page_without_jobs():
    page = make_page({"path": "/r", "history": {"jobs": [], "problems": []}})
    check_alone(page)
    assert "jobs 0" in texts(page)


def test_a_report_shows_its_pictures_in_a_notebook():
    page = parse_report(json.dumps(REPORT).encode(), PATH)._repr_html_()
    assert page.count("<svg") == 2
    assert "seal output" in page


def test_what_is_no_data_is_refused():
    with pytest.raises(mc.InvalidReportError, match="it has no report"):
        make_page({"path": "x"})
