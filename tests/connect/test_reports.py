# SPDX-License-Identifier: Apache-2.0
"""Reports, recovery and cleaning in a Connect session: the same values and errors as elsewhere."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

import manifest_committer as mc


def test_a_report_is_read(configured: SparkSession, table: Path) -> None:
    report = mc.read_report(configured, table)
    written = json.loads((table / "_SUCCESS").read_text("utf-8"))
    assert report.job_id == written["jobId"]
    assert report.files == 3
    assert report.write == "append"
    assert {one.path: one.outcome for one in report.partitions} == {
        f"p={p}": "created" for p in range(3)
    }
    assert {step.name for step in report.steps} > {"seal_output", "plan", "rename_files"}
    assert sum(report.requests.values()) > 3
    assert mc.read_report(configured, table / "_SUCCESS") == report


def test_a_list_of_files_is_read(configured: SparkSession, table: Path) -> None:
    with gzip.open(table / "_SUCCESS.files", "rt", encoding="utf-8") as lines:
        _, *files = [json.loads(line) for line in lines]
    report = mc.read_report(configured, table)
    listed = report.file_list(configured).orderBy(col("path")).collect()
    assert [row["path"] for row in listed] == sorted(file["path"] for file in files)
    assert set(report.file_list_pandas(configured)["size"]) == {file["size"] for file in files}


def test_a_long_file_comes_in_pieces(
    configured: SparkSession, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mc._jvm, "_CHUNK", 100)
    assert mc.read_report(configured, table).files == 3


def test_what_is_missing_is_told(configured: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(mc.ReportNotFoundError, match="There is nothing at"):
        mc.read_report(configured, tmp_path / "nothing")
    with pytest.raises(mc.ReportNotFoundError, match="has no _SUCCESS"):
        mc.read_report(configured, tmp_path)
    with pytest.raises(mc.StorageError, match='No FileSystem for scheme "nowhere"'):
        mc.read_report(configured, "nowhere://a/b")
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(mc.EmptyReportError, match="another committer"):
        mc.read_report(configured, tmp_path)
    (tmp_path / "_SUCCESS").write_text("nonsense", "utf-8")
    with pytest.raises(mc.InvalidReportError, match="it is not JSON"):
        mc.read_report(configured, tmp_path)


def test_a_killed_job_is_recovered(configured: SparkSession, tmp_path: Path) -> None:
    """A driver of its own dies while it publishes; the answer tells of it, though asked twice.

    Before that, while the driver publishes, its heartbeat moves.
    """
    table = tmp_path / "dying"
    dying = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "dying.py"), str(table)],
        env={name: text for name, text in os.environ.items() if not name.startswith("SPARK_")}
        | {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while len(list(table.glob("p=*/part-*"))) < 5:
            assert dying.poll() is None, "it ended by itself"
            time.sleep(0.01)
        with pytest.raises(mc.JobAliveError, match="sign"):
            mc.recover(configured, table)
    finally:
        os.killpg(dying.pid, signal.SIGKILL)
        dying.wait()
    (job,) = mc.recover(configured, table, force=True)
    assert job.outcome == "rolled_back"
    assert list(tmp_path.glob("dying/**/part-*")) == []
    assert mc.recover(configured, table, force=True) == []
    recoveries = [one for one in mc.commits(configured) if one.kind == "recovery"]
    assert recoveries[-1].state == "rolled_back"
    assert recoveries[-1].job_id == job.job_id
    assert recoveries[-1].requests > 0


def test_recovery_tells_of_a_damaged_journal(configured: SparkSession, table: Path) -> None:
    """What a driver left whose journal is damaged, and with it gone: nothing."""
    assert mc.recover(configured, table) == []
    staging = table / "_manifest_11111111-2222-4333-8444-555555555555" / "00"
    staging.mkdir(parents=True)
    (staging / "journal-planned-0").write_text("nonsense", "utf-8")
    with pytest.raises(mc.RecoveryError, match="journal-planned-0"):
        mc.recover(configured, table, force=True)
    shutil.rmtree(staging.parent)
    assert mc.recover(configured, table) == []


def test_leftovers_are_cleaned(configured: SparkSession, table: Path) -> None:
    staging = table / "_manifest_11111111-2222-4333-8444-555555555555" / "00" / "output"
    staging.mkdir(parents=True)
    (staging / "part-0").write_text("rows", "utf-8")
    (dry,) = mc.clean(configured, table, older_than="0s", dry_run=True, force=True)
    assert not dry.removed
    (job,) = mc.clean(configured, table, older_than="0s", force=True)
    assert job.removed
    assert job.files == dry.files == 1
    assert not staging.parent.parent.exists()
    assert mc.clean(configured, table / "nothing") == []
    with pytest.raises(mc.StorageError, match="is no length of time"):
        mc.clean(configured, table, older_than="soon")


def test_the_history_of_a_directory(
    configured: SparkSession, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    reports = tmp_path / "reports"
    key = "mapreduce.manifest.committer.summary.report.directory"
    configured.conf.set(key, str(reports))
    try:
        for _ in range(2):
            configured.range(5).write.mode("overwrite").parquet(str(tmp_path / "t"))
    finally:
        configured.conf.unset(key)
    (reports / "summary-broken.json").write_text("nonsense", "utf-8")
    jobs = mc.history(configured, reports).collect()
    assert [row["outcome"] for row in jobs] == ["committed", "committed"]
    assert jobs[0]["ended"] <= jobs[1]["ended"]
    # Of a table that is not there Spark asks nobody to replace it.
    assert [row["write"] for row in jobs] == ["append", "overwrite"]
    assert list(mc.history_pandas(configured, reports)["files"]) == [row["files"] for row in jobs]
    assert any("summary-broken.json" in str(one.message) for one in recwarn)
    with pytest.raises(mc.StorageError, match="no such directory"):
        mc.history(configured, tmp_path / "nothing")


def test_commits_are_watched_while_they_run(configured: SparkSession, tmp_path: Path) -> None:
    options = {
        "mapreduce.manifest.committer.io.rate": "20",
        "mapreduce.manifest.committer.directory.rename": "off",
    }
    path = str(tmp_path / "slow")
    over = threading.Event()
    seen: list[mc.Commit] = []

    def watch() -> None:
        while not over.wait(0.2):
            seen.extend(one for one in mc.commits(configured) if one.table.endswith(path))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        rows = configured.range(40, numPartitions=1).selectExpr("id", "id AS p")
        rows.write.options(**options).partitionBy("p").parquet(path)
    finally:
        over.set()
        watcher.join()
    renames = [one.done for one in seen if one.step == "rename_files" and one.total == 40]
    assert renames == sorted(renames)
    assert len(set(renames)) > 2
    last = [one for one in mc.commits(configured) if one.table.endswith(path)][-1]
    assert last.state == "committed"


def test_a_server_that_asks_its_executors_is_told(configured: SparkSession, table: Path) -> None:
    key = "spark.sql.optimizer.excludedRules"
    configured.conf.set(key, "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation")
    try:
        with pytest.raises(mc.StorageError, match="ConvertToLocalRelation"):
            mc.read_report(configured, table)
    finally:
        configured.conf.unset(key)
