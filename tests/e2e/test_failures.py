# SPDX-License-Identifier: Apache-2.0
"""Tasks and jobs that fail: no row twice, no row lost, nothing left behind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import faults
import pytest
from places import Place
from protocols import DYNAMIC
from pyspark import SparkContext
from pyspark.sql import SparkSession
from sessions import settings
from tables import Row, Table

import manifest_committer as mc

OLD: list[Row] = [("a", 0), ("b", 1), ("c", 2), ("d", 3)]

DYNAMIC_WRITE = {"partitionOverwriteMode": "dynamic"}

more = pytest.mark.more

# A job that fails in its tasks, and one whose tasks all commit but whose commit cannot be right.
FAULTS: dict[str, tuple[Callable[..., Any], str]] = {
    "task": (lambda *_: faults.failing(), "failed on purpose"),
    "commit": (
        faults.losing_staged_files,
        "(?i)missing|not found|does not exist|somebody aborted it|objects of \\d+ that it should",
    ),
}


@pytest.fixture(params=[pytest.param("task", marks=more), "commit"])
def broken(
    request: pytest.FixtureRequest, spark: SparkSession, place: Place, warehouse: Place
) -> Any:
    """Registers the view ``broken``, and gives what the error of a job that writes it says."""
    make, message = FAULTS[request.param]
    faults.numbered(spark, make(place, warehouse)).createOrReplaceTempView("broken")
    return message


@pytest.mark.core
@pytest.mark.parametrize(
    "partition_by", [pytest.param([], marks=more), ["p"]], ids=["flat", "partitioned"]
)
def test_retried_task(new_table: Callable[..., Table], partition_by: list[str]) -> None:
    table = new_table(partition_by=partition_by)
    # Without it Spark sorts partitioned rows first, and the attempt would fail without any file.
    with settings(table.spark, {"spark.sql.maxConcurrentOutputFileWriters": "10"}):
        table.write(faults.numbered(table.spark, faults.failing(attempts=2)), "append")
    assert table.rows() == faults.numbered_rows()


@pytest.mark.core
@pytest.mark.parametrize(
    ("mode", "options", "partition_by"),
    [
        ("append", {}, ["p"]),
        pytest.param("overwrite", {}, [], marks=more),
        ("overwrite", {}, ["p"]),
        ("overwrite", {"partitionOverwriteMode": "dynamic"}, ["p"]),
    ],
    ids=["append", "static-flat", "static", "dynamic"],
)
def test_failed_write_changes_nothing(
    new_table: Callable[..., Table],
    broken: str,
    mode: str,
    options: dict[str, str],
    partition_by: list[str],
) -> None:
    table = new_table(partition_by=partition_by)
    table.write(OLD, "append")
    before = table.snapshot()
    with pytest.raises(Exception, match=broken):
        table.save(table.spark.table("broken"), mode, **options)
    assert table.snapshot() == before
    assert table.rows() == Counter(OLD)
    # And the table can be written as if nothing had happened.
    table.write([("e", 0)], "append")
    assert table.rows() == Counter([*OLD, ("e", 0)])


@pytest.mark.local_disk
def test_the_report_of_an_aborted_job_says_what_failed(
    new_table: Callable[..., Table], tmp_path: Path
) -> None:
    table = new_table(partition_by=["p"])
    reports = tmp_path / "reports"
    option = {"mapreduce.manifest.committer.summary.report.directory": reports.as_uri()}
    with pytest.raises(Exception, match="failed on purpose"):
        table.save(faults.numbered(table.spark, faults.failing()), "append", **option)
    (report,) = reports.glob("*.json")
    told = json.loads(report.read_text("utf-8"))["diagnostics"]
    assert "A job of Spark failed meanwhile: " in told["exception"]
    assert "failed on purpose" in told["exception"]
    assert "\n" not in told["exception"]
    assert "stacktrace" not in told, "it would be that of the abort"
    assert told["application.id"] == table.spark.sparkContext.applicationId


@pytest.mark.local_disk
@pytest.mark.parametrize(
    ("mode", "options", "writes"),
    [
        ("append", {}, ["append", "append"]),
        ("overwrite", {}, ["overwrite (new table)", "overwrite"]),
        ("overwrite", DYNAMIC_WRITE, ["dynamic overwrite (new table)", "dynamic overwrite"]),
    ],
)
def test_a_report_says_what_kind_of_write_it_was(
    new_table: Callable[..., Table], mode: str, options: dict[str, str], writes: list[str]
) -> None:
    table = new_table(partition_by=["p"])
    told = []
    for _ in writes:
        table.write(OLD, mode, **options)
        told.append(mc.read_report(table.spark, str(table.path)).diagnostics["write"])
    assert told == writes


@pytest.mark.core
@pytest.mark.not_on("s3a", "gs", because="no directory can be moved there, so it is refused")
def test_failed_overwrite_leaves_a_file_in_its_place(
    new_table: Callable[..., Table], broken: str
) -> None:
    table = new_table(partition_by=["p"])
    table.path.write_bytes(b"what was there")
    around = {entry.name for entry in table.path.parent.iterdir()}
    with pytest.raises(Exception, match=broken):
        table.save(table.spark.table("broken"), "overwrite")
    assert table.path.read_bytes() == b"what was there"
    assert {entry.name for entry in table.path.parent.iterdir()} == around


@pytest.mark.parametrize(
    ("statement", "conf"),
    [
        ("INTO {t} SELECT * FROM broken", {}),
        ("OVERWRITE {t} SELECT * FROM broken", {}),
        ("OVERWRITE {t} SELECT * FROM broken", DYNAMIC),
        ("OVERWRITE {t} PARTITION (p = 1) SELECT value FROM broken", {}),
        ("OVERWRITE {t} PARTITION (p = 1) SELECT value FROM broken", DYNAMIC),
    ],
    ids=["into", "static", "dynamic", "clause", "clause-dynamic"],
)
def test_failed_sql_changes_nothing(
    catalog_table: Callable[..., Table],
    broken: str,
    place: Place,
    statement: str,
    conf: dict[str, str],
) -> None:
    """Neither in the table nor at the location of one of its partitions."""
    table = catalog_table()
    table.spark.sql(f"ALTER TABLE {table.name} ADD PARTITION (p = 1) LOCATION '{place}/elsewhere'")
    table.frame(OLD).write.insertInto(table.name)
    before = table.snapshot(), table.snapshot(place)
    with settings(table.spark, conf), pytest.raises(Exception, match=broken):
        table.spark.sql(f"INSERT {statement.format(t=table.name)}")
    assert (table.snapshot(), table.snapshot(place)) == before
    assert table.rows() == Counter(OLD)


@pytest.mark.parametrize("mode", ["errorifexists", "overwrite"])
def test_first_write_can_be_repeated(
    new_table: Callable[..., Table], broken: str, mode: str
) -> None:
    table = new_table(partition_by=["p"])
    with pytest.raises(Exception, match=broken):
        table.save(table.spark.table("broken"), mode)
    assert not table.path.exists(), "ErrorIfExists would fail, and Ignore skip, on this directory"
    table.write(OLD, mode)
    assert table.rows() == Counter(OLD)


@pytest.mark.core
@pytest.mark.not_on("lakefs", because="files and directories of one name are no obstacle there")
@pytest.mark.parametrize(
    ("obstacle", "mode"),
    [
        pytest.param("file", "append", marks=more),
        ("file", "dynamic"),
        pytest.param("unwritable", "append", marks=pytest.mark.local_disk),
    ],
)
def test_job_commit_takes_back_what_it_published(
    new_table: Callable[..., Table], mode: str, obstacle: str
) -> None:
    """One partition of many cannot be written; Spark itself looks at none before the commit."""
    table = new_table(partition_by=["p"])
    table.write(OLD, "append")
    in_the_way = table.path / "p=7"
    if obstacle == "file":
        in_the_way.write_text("not a directory")
    else:
        in_the_way.symlink_to("/proc")
    before = table.snapshot()
    rows: list[Row] = [("e", p) for p in (0, 1, 2, 5, 6, 7, 8, 9)]
    save = ("append", {}) if mode == "append" else ("overwrite", {"partitionOverwriteMode": mode})
    with pytest.raises(Exception, match="p=7"):
        table.save(rows, save[0], **save[1])
    assert table.snapshot() == before


def only_one_task_runs(context: SparkContext) -> bool:
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return [(s.numCompletedTasks, s.numActiveTasks) for s in stages if s] == [(faults.TASKS - 1, 1)]


def test_overwrite_leaves_what_other_jobs_stage(new_table: Callable[..., Table]) -> None:
    table = new_table()
    table.write(OLD, "append")
    others = ["_manifest_other", "_temporary", ".spark-staging-other", ".hive-staging_other"]
    for name in others:
        (table.path / name).mkdir()
        (table.path / name / "part-0").write_text("of another job")
    before = {name: table.snapshot(table.path / name) for name in others}
    table.save([("e", 1)], "overwrite")
    assert table.rows() == Counter([("e", 1)])
    assert {name: table.snapshot(table.path / name) for name in others} == before


@pytest.mark.classic(because="cancels by the SparkContext")
def test_cancelled_query_changes_nothing(new_table: Callable[..., Table], tmp_path: Path) -> None:
    table = new_table()
    table.write(OLD, "append")
    before = table.snapshot()
    context = table.spark.sparkContext
    reached = tmp_path / "reached"
    blocked = faults.numbered(table.spark, faults.blocking(reached))

    def overwrite() -> None:
        context.setJobGroup("cancelled", "a query that somebody cancels", interruptOnCancel=True)
        table.save(blocked, "overwrite")

    with ThreadPoolExecutor(1) as pool:
        query = pool.submit(overwrite)
        faults.wait_until(lambda: reached.exists() and only_one_task_runs(context))
        context.cancelJobGroup("cancelled")
        with pytest.raises(Exception, match=r"(?i)cancel"):
            query.result()
    assert table.snapshot() == before
    assert table.rows() == Counter(OLD)


@pytest.mark.core
@pytest.mark.not_on("s3a", because="nothing is staged there")
def test_files_that_nobody_committed_are_not_published(
    new_table: Callable[..., Table], place: Place
) -> None:
    """A dead attempt may leave, or finish, a file in the staging directory at any time."""
    table = new_table()
    table.write(faults.numbered(table.spark, faults.copying_staged_files(place)), "append")
    assert table.rows() == faults.numbered_rows()


@pytest.mark.not_on("s3a", because="an upload that is gone is no file that was not made")
def test_missing_files_may_be_accepted(new_table: Callable[..., Table], place: Place) -> None:
    """With ``warn`` the rest is published: for formats that name a file and make none."""
    table = new_table()
    report = table.write(
        faults.numbered(table.spark, faults.losing_staged_files(place)),
        "append",
        **{"mapreduce.manifest.committer.missing.files": "warn"},
    )
    rows = table.rows()
    assert 0 < len(report.sizes) < faults.TASKS
    assert 0 < rows.total() < faults.ROWS
    assert rows <= faults.numbered_rows()


def test_save_as_table_with_overwrite_loses_the_old_table(
    catalog_table: Callable[..., Table],
) -> None:
    """Spark drops the table before there is a committer; insertInto keeps it (see above)."""
    table = catalog_table()
    table.frame(OLD).write.insertInto(table.name)
    source = faults.numbered(table.spark, faults.failing())
    with pytest.raises(Exception, match="failed on purpose"):
        source.write.mode("overwrite").saveAsTable(table.name)
    assert not table.spark.catalog.tableExists(table.name)
    assert not table.path.exists()
