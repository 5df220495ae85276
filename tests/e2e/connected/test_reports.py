# SPDX-License-Identifier: Apache-2.0
"""Reports, recovery and cleaning in a Connect session: the same values and errors as elsewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import manifest_committer as mc
from manifest_committer import _adding


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """A table with three partitions."""
    path = tmp_path / "a ${table} it's"
    rows = spark.range(100, numPartitions=1).selectExpr("id", "id % 3 AS p")
    rows.write.partitionBy("p").parquet(str(path))
    return path


def test_a_report_is_read(spark: SparkSession, table: Path) -> None:
    report = mc.read_report(spark, table)
    written = json.loads((table / "_SUCCESS").read_text("utf-8"))
    assert report.job_id == written["jobId"]
    assert report.files == 3
    assert report.write == "append"
    assert {one.path: one.outcome for one in report.partitions} == {
        f"p={p}": "created" for p in range(3)
    }
    assert {step.name for step in report.steps} > {"seal_output", "plan", "rename_files"}
    assert sum(report.requests.values()) > 3
    assert mc.read_report(spark, table / "_SUCCESS") == report


def test_what_was_committed_goes_on(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    report = mc.read_report(spark, table)
    spark.sql(
        "CREATE TABLE passed_on (id bigint, p bigint) USING parquet PARTITIONED BY (p) "
        f"LOCATION {_adding._literal(str(table))}"
    )
    try:
        assert [report.add_partitions(spark, "passed_on") for _ in range(2)] == [3, 0]
        assert spark.table("passed_on").count() == 100
    finally:
        spark.sql("DROP TABLE passed_on")
    links = tmp_path / "links"
    assert report.write_manifest(spark, f"file:{links}", format="symlink") == 3
    lines = [file.read_text("utf-8").strip() for file in links.glob("p=*/manifest")]
    assert sorted(lines) == sorted(report.paths(spark))
    assert all(Path(line.removeprefix("file:")).is_file() for line in lines)


def test_a_long_file_comes_in_pieces(
    spark: SparkSession, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mc._jvm, "_CHUNK", 100)
    assert mc.read_report(spark, table).files == 3


def test_what_is_missing_is_told(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(mc.ReportNotFoundError, match="There is nothing at"):
        mc.read_report(spark, tmp_path / "nothing")
    with pytest.raises(mc.ReportNotFoundError, match="has no _SUCCESS"):
        mc.read_report(spark, tmp_path)
    with pytest.raises(mc.StorageError, match='No FileSystem for scheme "nowhere"'):
        mc.read_report(spark, "nowhere://a/b")
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(mc.EmptyReportError, match="another committer"):
        mc.read_report(spark, tmp_path)
    (tmp_path / "_SUCCESS").write_text("nonsense", "utf-8")
    with pytest.raises(mc.InvalidReportError, match="it is not JSON"):
        mc.read_report(spark, tmp_path)


def test_recovery_tells_of_a_damaged_journal(spark: SparkSession, table: Path) -> None:
    """What a driver left whose journal is damaged, and with it gone: nothing."""
    assert mc.recover(spark, table) == []
    staging = table / "_manifest_11111111-2222-4333-8444-555555555555" / "00"
    staging.mkdir(parents=True)
    (staging / "journal-planned-0").write_text("nonsense", "utf-8")
    with pytest.raises(mc.RecoveryError, match="journal-planned-0"):
        mc.recover(spark, table, force=True)
    shutil.rmtree(staging.parent)
    assert mc.recover(spark, table) == []


def test_leftovers_are_cleaned(spark: SparkSession, table: Path) -> None:
    staging = table / "_manifest_11111111-2222-4333-8444-555555555555" / "00" / "output"
    staging.mkdir(parents=True)
    (staging / "part-0").write_text("rows", "utf-8")
    (dry,) = mc.clean(spark, table, older_than="0s", dry_run=True, force=True)
    assert not dry.removed
    (job,) = mc.clean(spark, table, older_than="0s", force=True)
    assert job.removed
    assert job.files == dry.files == 1
    assert not staging.parent.parent.exists()
    with pytest.raises(mc.PathNotFoundError, match="there is nothing at that path"):
        mc.clean(spark, table / "nothing")
    with pytest.raises(mc.StorageError, match="is no length of time"):
        mc.clean(spark, table, older_than="soon")


def test_the_history_of_a_directory(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reports = tmp_path / "reports"
    key = "mapreduce.manifest.committer.summary.report.directory"
    spark.conf.set(key, str(reports))
    try:
        for _ in range(2):
            spark.range(5).write.mode("overwrite").parquet(str(tmp_path / "t"))
    finally:
        spark.conf.unset(key)
    (reports / "summary-broken.json").write_text("nonsense", "utf-8")
    listed = mc.history(spark, reports)
    assert f"Jobs in {reports}" in listed._repr_html_(), "what a notebook shows"
    jobs = listed.collect()
    assert [row["outcome"] for row in jobs] == ["committed", "committed"]
    assert jobs[0]["ended"] <= jobs[1]["ended"]
    assert [row["write"] for row in jobs] == ["overwrite (new table)", "overwrite"]
    assert list(mc.history_pandas(spark, reports)["files"]) == [row["files"] for row in jobs]
    assert "summary-broken.json" in caplog.text
    with pytest.raises(mc.PathNotFoundError):
        mc.history(spark, tmp_path / "nothing")


def test_a_server_that_asks_its_executors_is_told(spark: SparkSession, table: Path) -> None:
    key = "spark.sql.optimizer.excludedRules"
    spark.conf.set(key, "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation")
    try:
        with pytest.raises(mc.StorageError, match="ConvertToLocalRelation"):
            mc.read_report(spark, table)
    finally:
        spark.conf.unset(key)
