# SPDX-License-Identifier: Apache-2.0
"""Which committer a session's jobs get: asked in sessions as people have them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession
from sessions import run_program, settings

import manifest_committer as mc

GS = "gs://bucket/table"
ABFS = "abfs://container@account.dfs.core.windows.net/table"
FACTORY = "mapreduce.outputcommitter.factory.scheme"
HADOOP_BINDS = pyspark.__version__.startswith("4")
"""Hadoop 3.5 binds a manifest committer of its own by default; 3.3 has none."""


pytestmark = pytest.mark.local_disk
by_itself = pytest.mark.classic(because="starts classic sessions of its own")


@pytest.fixture(scope="module")
def default_session() -> dict[str, Any]:
    """A session in which nothing is set, asked before and after configure_session."""
    answer: dict[str, Any] = run_program("info.py", GS, ABFS)
    return answer


def codes(report: dict[str, Any], severity: str = "error") -> set[str]:
    return {p["code"] for p in report["problems"] if p["severity"] == severity}


@by_itself
@pytest.mark.parametrize(("path", "scheme"), [(GS, "gs"), (ABFS, "abfs")])
def test_a_session_as_shipped(default_session: dict[str, Any], path: str, scheme: str) -> None:
    report = default_session["before"][path]
    assert not report["ok"]
    assert {"spark-protocol", "jar-missing"} <= codes(report)
    (problem,) = (p for p in report["problems"] if p["code"] == "spark-protocol")
    assert report["factory_key"] == f"{FACTORY}.{scheme}"
    if HADOOP_BINDS:
        assert report["factory"].endswith("ManifestCommitterFactory")
        assert report["factory_source"] == "mapred-default.xml"
        assert "Rows are visible before the job commits" in problem["text"]
        assert "hadoop-factory" in codes(report, "warning")
    else:
        assert report["factory_source"] is None
        assert "FileOutputCommitter commits all formats" in problem["text"]
        assert "no-factory" in codes(report)


@by_itself
@pytest.mark.parametrize("path", [GS, ABFS])
def test_a_session_configured_while_it_runs(default_session: dict[str, Any], path: str) -> None:
    """There is no connector here, so the store, and nothing but the store, is missing."""
    assert default_session["jar before"] is None, "looking left the session as it was"
    report = default_session["after"][path]
    assert [p["code"] for p in report["problems"]] == ["store-not-found"]
    assert report["factory"] == "io.manifestcommitter.ManifestCommitterFactory"
    assert report["commit_protocol"]["value"] == (
        "io.manifestcommitter.spark.ManifestCommitProtocol"
    )
    assert default_session["text"][path].startswith(f"{path}: not ok, 1 error")
    assert default_session["repaired"][path] == ["store-not-found"], "by the problems' repairs"


@pytest.mark.classic(because="no builder binds a server, which opens no store for this")
def test_a_builders_session(spark: SparkSession, tmp_path: Path) -> None:
    info = mc.committer_info(spark, GS)
    assert [problem.code for problem in info.problems] == ["store-not-found"]

    table = tmp_path / "table"
    info = mc.committer_info(spark, table.as_uri())
    assert info.ok, "Spark SQL is served, and FileOutputCommitter v1 is safe on a local disk"
    assert [(p.severity, p.code) for p in info.problems] == [("note", "no-factory")]
    assert str(info).startswith(f"{table.as_uri()}: ok, the manifest committer commits Spark SQL")
    assert info.committer == "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitter"
    assert not table.exists()

    assert info.watching["console"] == mc.WatchPlace(
        False, "Spark shows no stage bar: spark.ui.showConsoleProgress is not true"
    )
    assert info.watching["metrics"].shown
    assert "Metrics        yes, the source ManifestCommitter" in info.details

    info = mc.committer_info(spark, str(table))
    assert [(p.severity, p.code) for p in info.problems] == [("note", "no-scheme")]
    assert "null" not in info.details
    assert str(info).startswith(f"{table}: ok, the manifest committer commits Spark SQL\n")
    assert info.problems[0].repair.path == f"file:{table}"


@pytest.mark.classic(because="a Connect session has no RDDs")
def test_a_factory_set_where_rdd_writers_see_it(spark: SparkSession, tmp_path: Path) -> None:
    path = (tmp_path / "table").as_uri()
    ours = "io.manifestcommitter.ManifestCommitterFactory"
    with settings(spark, {f"{FACTORY}.file": ours}):
        info = mc.committer_info(spark, path)
        assert info.problem("session-factory") is not None
        assert info.committer != "io.manifestcommitter.ManifestCommitter"

    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set(f"{FACTORY}.file", ours)
    try:
        info = mc.committer_info(spark, path)
    finally:
        hadoop.unset(f"{FACTORY}.file")
    assert info.problems == ()
    assert info.committer == "io.manifestcommitter.ManifestCommitter"
    assert info.job_directory is not None
    assert info.job_directory.startswith(f"file:{tmp_path}/table/_temporary/manifest_")
    assert not (tmp_path / "table").exists()


def test_a_setting_of_the_session_shows(spark: SparkSession) -> None:
    threads = "mapreduce.manifest.committer.io.threads"
    with settings(spark, {threads: "8"}):
        assert mc.committer_info(spark, ABFS).options[threads].value == "8"
    with settings(spark, {threads.removesuffix("s"): "8"}):
        problem = mc.committer_info(spark, ABFS).problem("unknown-option")
    assert problem is not None
    assert problem.repair.settings == {threads.removesuffix("s"): None, threads: "8"}
    with settings(spark, {threads: "none"}):
        problem = mc.committer_info(spark, ABFS).problem("bad-option")
    assert problem is not None
    assert "'none'" in problem.text
    assert problem.repair.settings == {threads: "64"}


@by_itself
def test_the_command_line(tmp_path: Path) -> None:
    defaults = Path(__file__).parents[2] / "spark-conf" / "local.conf"
    command = [sys.executable, "-m", "manifest_committer", "info", "--json"]

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        done = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, timeout=240, check=False
        )
        return done.returncode, json.loads(done.stdout)

    table = (tmp_path / "table").as_uri()
    code, report = run(table)
    assert (code, report["ok"], report["commitProtocol"]) == (1, False, None)
    assert report["watching"] == {}, "no Spark runs"

    code, report = run(
        *("--properties-file", str(defaults)),
        *("--conf", f"spark.jars={mc.jar_path()}"),
        table,
    )
    assert (code, report["ok"], report["problems"]) == (0, True, [])
    assert report["commitProtocol"]["source"] == str(defaults)
    assert report["committer"] == "io.manifestcommitter.ManifestCommitter"
    assert not (tmp_path / "table").exists()
