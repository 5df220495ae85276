# SPDX-License-Identifier: Apache-2.0
"""Options of a write, other writers of the session, and other schemes."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from sessions import settings
from tables import Row, Table

import manifest_committer
from manifest_committer._figures import count, duration, in_units

ROWS: list[Row] = [("a", 1), ("b", 2)]
OPTIONS = "mapreduce.manifest.committer"
UNSUPPORTED = f"{OPTIONS}.unsupported.scheme"


local_disk = pytest.mark.local_disk


@contextmanager
def mounted(spark: SparkSession, scheme: str, directory: Path) -> Iterator[str]:
    """A path on another scheme, which one of Hadoop's view filesystems maps to the directory."""
    # Filesystems are cached by their authority, so every test has its own.
    authority = re.sub(r"\W|_", "-", directory.name)
    view = "org.apache.hadoop.fs.viewfs.ViewFileSystem"
    conf = {
        f"fs.{scheme}.impl": view if scheme == "viewfs" else f"{view}OverloadScheme",
        f"fs.viewfs.mounttable.{authority}.link./data": directory.as_uri(),
    }
    with settings(spark, conf):
        yield f"{scheme}://{authority}/data"


@pytest.fixture
def s3a(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """The path on ``s3a`` of the table that ``new_table`` makes."""
    with mounted(spark, "s3a", tmp_path) as root:
        yield f"{root}/table"


def test_no_report_when_switched_off(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    option = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
    table.save(ROWS, "append", **option)
    assert table.rows() == Counter(ROWS)
    assert not list(table.path.glob("[_.]*"))
    table.write(ROWS, "append")
    table.save(ROWS, "overwrite", **option)
    assert table.rows() == Counter(ROWS)
    assert not list(table.path.glob("_SUCCESS*")), "it would name files that are gone"


@pytest.mark.parametrize("directory_rename", ["auto", "off"])
def test_conflict_mode_of_one_write(new_table: Callable[..., Table], directory_rename: str) -> None:
    table = new_table(partition_by=["p"])
    options = {"mapreduce.manifest.committer.directory.rename": directory_rename}
    mode = "mapreduce.manifest.committer.conflict.mode"
    table.write(ROWS, "append", **options)
    with pytest.raises(Exception, match=r"is fail: .*p=1"):
        table.save([("c", 1), ("d", 3)], "append", **options, **{mode: "fail"})
    assert table.rows() == Counter(ROWS)
    table.write([("c", 1), ("d", 3)], "append", **options, **{mode: "replace"})
    assert table.rows() == Counter([("b", 2), ("c", 1), ("d", 3)])
    table.write([("e", 4)], "overwrite", **options)
    assert table.rows() == Counter([("e", 4)])
    assert not list(table.path.glob("_manifest_*"))


@local_disk
@pytest.mark.parametrize("where", ["option", "session"])
@pytest.mark.parametrize(
    ("key", "meant"),
    [
        (f"{OPTIONS}.conflict.mod", f"{OPTIONS}.conflict.mode"),
        ("directory.rename", f"{OPTIONS}.directory.rename"),
        (f"spark.hadoop.{OPTIONS}.directory.rename", f"{OPTIONS}.directory.rename"),
    ],
)
def test_a_mistyped_option_is_refused_before_anything_is_touched(
    new_table: Callable[..., Table], key: str, meant: str, where: str
) -> None:
    table = new_table(partition_by=["p"])
    table.write(ROWS, "append")
    before = table.snapshot()
    in_session = {key: "off"} if where == "session" else {}
    options = {} if in_session else {key: "off"}
    with settings(table.spark, in_session):
        for mode in ("append", "overwrite"):
            with pytest.raises(Exception, match=re.escape(key)) as raised:
                table.save(ROWS, mode, **options)
            assert meant in str(raised.value)
            assert "changed nothing" in str(raised.value)
    assert table.snapshot() == before


@pytest.mark.core
def test_read_report(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    expected = table.write(ROWS, "append")
    report = manifest_committer.read_report(table.spark, str(table.path))
    assert report.job_id == expected.job_id
    assert report.files == len(expected.sizes)
    assert report.bytes == sum(expected.sizes.values())
    assert expected.job_id in str(report)
    listed = report.file_list(table.spark).collect()
    assert {row.path: row.size for row in listed} == expected.sizes


@local_disk
def test_s3a_is_refused_before_anything_is_touched(
    new_table: Callable[..., Table], s3a: str
) -> None:
    table = new_table(partition_by=["p"])
    table.write(ROWS, "append")
    before = table.snapshot()
    for mode in ("append", "overwrite"):
        with pytest.raises(Exception, match=UNSUPPORTED):
            table.frame(ROWS).write.mode(mode).partitionBy("p").parquet(s3a)
    assert table.snapshot() == before


@local_disk
@pytest.mark.parametrize("partitioning", ["static", "dynamic"])
def test_s3a_can_be_left_to_spark(
    new_table: Callable[..., Table], s3a: str, partitioning: str
) -> None:
    table = new_table(partition_by=["p"])
    with settings(table.spark, {UNSUPPORTED: "delegate"}):
        writer = table.frame(ROWS).write.mode("append").partitionBy("p")
        writer.parquet(s3a)
        assert table.rows() == Counter(ROWS)
        replacing = table.frame([("c", 2)]).write.mode("overwrite").partitionBy("p")
        replacing.option("partitionOverwriteMode", partitioning).parquet(s3a)
    kept = [("a", 1)] if partitioning == "dynamic" else []
    assert table.rows() == Counter([*kept, ("c", 2)])
    assert not (table.path / "_SUCCESS.files").exists()
    assert not list(table.path.glob("_manifest_*"))


@local_disk
def test_view_of_a_store_that_is_served(
    new_table: Callable[..., Table], tmp_path: Path, spark: SparkSession
) -> None:
    table = new_table(partition_by=["p"])
    with mounted(spark, "viewfs", tmp_path) as root:
        for rows, mode in ((ROWS, "append"), ([("c", 2)], "overwrite")):
            table.frame(rows).write.mode(mode).partitionBy("p").parquet(f"{root}/table")
            table.check_report()
            assert table.rows() == Counter(rows)


def cells(page: str) -> dict[str, str]:
    """The names and values of a page's first table."""
    table = page.partition("</table>")[0]
    found = re.findall(r"<th[^>]*>([^<]*)</th><td[^>]*>([^<]*)</td>", table)
    return {html.unescape(name): html.unescape(value) for name, value in found}


@pytest.mark.once
@local_disk
def test_a_job_has_the_same_figures_wherever_it_is_shown(
    new_table: Callable[..., Table], tmp_path: Path
) -> None:
    """By ``print``, on the command line, in a notebook, on a page, in a history, to who watches."""
    table, reports = new_table(partition_by=["p"]), tmp_path / "reports"
    key = "mapreduce.manifest.committer.summary.report.directory"
    with settings(table.spark, {key: str(reports)}):
        table.write(ROWS, "append")
    report = manifest_committer.read_report(table.spark, str(table.path))
    figures = dict(report.rows())
    assert {"table", "write", "files", "bytes", "commit time", "requests"} < set(figures)
    assert len(str(report).splitlines()) <= 15

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "manifest_committer", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert run("print", str(table.path)) == f"{report}\n"
    more = run("print", str(table.path), "--steps", "--partitions")
    assert more == f"{report.text(steps=True, partitions=True)}\n"
    assert all(f"  {step.name.replace('_', ' ')} " in more for step in report.steps)
    assert all(f"  {one.path} " in more for one in report.partitions)
    assert cells(report._repr_html_()) == figures

    page = tmp_path / "page.html"
    run("report", str(table.path), "--html", str(page))
    assert cells(page.read_text("utf-8")).items() >= figures.items()

    (job,) = manifest_committer.history(table.spark, str(reports)).collect()
    seen = {
        "table": job.table,
        "write": job.write,
        "files": count(job.files),
        "tasks": count(job.tasks),
        "commit time": duration(job.millis),
        "requests": count(job.requests),
    }
    assert seen.items() <= figures.items()
    assert figures["bytes"] in (count(job.bytes), f"{count(job.bytes)} ({in_units(job.bytes)})")
    line = run("history", str(reports)).splitlines()[1]
    for told in (figures["commit time"], in_units(job.bytes), figures["write"], figures["table"]):
        assert f" {told}" in line
    run("report", str(reports), "--html", str(page))
    assert f">{figures['commit time']}</td>" in page.read_text("utf-8")

    known = manifest_committer.commits(table.spark)
    (commit,) = [one for one in known if one.job_id == report.job_id]
    shown = f"{figures['commit time']}, {figures['requests']} requests"
    assert f"committed in {shown}; with its clean-up" in str(commit)
    assert shown in known._repr_html_()


@pytest.mark.once
@local_disk
def test_the_command_line_prints_a_report(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    report = table.write(ROWS, "append")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "manifest_committer", "print", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    text = run("--all", str(table.path)).stdout
    assert report.job_id in text
    assert "committer_files_committed" in text
    listed = run(str(table.path / "_SUCCESS.files"), str(table.path)).stdout
    assert listed.startswith("List of files ")
    assert f"\nJob {report.job_id}: committed\n" in listed
    json_line = run("--json", str(table.path / "_SUCCESS")).stdout
    assert json.loads(json_line)["content"]["jobId"] == report.job_id
    missing = run(str(table.path / "nothing"))
    assert missing.returncode == 1
    assert "nothing" in missing.stderr
    assert run().returncode == 2
