# SPDX-License-Identifier: Apache-2.0
"""What the committer asks of S3, and a driver that is killed in its job commit there."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import drivers
import pytest
import stores
from drivers import NEW
from places import Place
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from sessions import settings
from tables import Row, Table
from test_rdd import NEW_FORMAT, PAIRS, TEXT, lines

import manifest_committer as mc

pytestmark = pytest.mark.core

OLD: list[Row] = [(f"old-{i}", i % 10) for i in range(20)]
OPTION = "mapreduce.manifest.committer."
ONE_BY_ONE = {f"spark.hadoop.{OPTION}io.threads": "1"}


@pytest.fixture
def table(new_table: Callable[..., Table]) -> Table:
    table = new_table(partition_by=["p"])
    table.write(OLD, "append")
    return table


def waiting(table: Table) -> list[tuple[str, str]]:
    """The keys and ids of uploads in the table and beside it that wait to be completed."""
    own = table.path.key.rpartition("/")[0] + "/"
    return [upload for upload in stores.s3().uploads() if upload[0].startswith(own)]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_each_file_is_uploaded_and_completed_once(table: Table, mode: str) -> None:
    stores.steering().asked()
    report = table.write(NEW, mode)
    asked = Counter(line.split()[0] for line in stores.steering().asked())
    files = len(report.sizes)
    assert files > 1
    # And the mark of the journal, past which a commit only goes forward.
    assert (asked["initiate"], asked["part"], asked["complete"]) == (files + 1,) * 3
    assert asked["copy"] == asked["abort"] == 0
    assert waiting(table) == []


@pytest.mark.once
def test_requests_of_a_job_of_two_thousand_files(
    spark: SparkSession, new_table: Callable[..., Table]
) -> None:
    table = new_table("id bigint, p bigint", partition_by=["p"])
    frame = spark.range(0, 2000, 1, 40).selectExpr("id", "id % 50 AS p")
    stores.steering().asked()
    table.save(frame, "overwrite")
    log = stores.steering().asked()
    first = next(i for i, line in enumerate(log) if line.startswith("complete "))
    asked = Counter(line.split()[0] for line in log)
    assert asked["complete"] == 2001
    assert asked["copy"] == 0
    assert first <= 4400
    assert len(log) - first <= 2060 + 2 * 50
    assert table.report().counters["committer_files_committed"] == 2000


def test_appends_leave_no_directories_for_later_jobs(table: Table) -> None:
    """Some servers keep a directory whose last object was deleted. The next job removes it."""
    for number in range(4):
        table.write([(f"new-{number}", 1)], "append")
    path = str(table.path)
    left = mc.clean(table.spark, path, dry_run=True)
    # SeaweedFS removes some after a while by itself.
    assert len(left) <= (0 if stores.drops_directories() else 1)
    assert all(job.state == "abandoned" for job in left)

    assert all(job.removed for job in mc.clean(table.spark, path))

    found = mc.clean(table.spark, path, dry_run=True)
    assert {job.root for job in found}.isdisjoint(job.root for job in left)


def test_nothing_is_to_be_repaired(spark: SparkSession, table: Table) -> None:
    info = mc.committer_info(spark, str(table.path))
    assert info.problems == ()
    assert info.ok


def test_what_is_wrong_with_the_settings_of_a_bucket_is_told(spark: SparkSession) -> None:
    """By S3A itself, which knows settings of a bucket; each rule has its test in Java."""
    for key, value, code in (
        ("multipart.purge", "true", "s3-aborted-uploads"),
        ("multipart.uploads.enabled", "false", "unsupported-store"),
    ):
        setting = f"fs.s3a.bucket.never-opened.{key}"
        with settings(spark, {setting: value}):
            problem = mc.committer_info(spark, "s3a://never-opened/t").problem(code)
        assert problem is not None
        assert set(problem.repair.settings) == {setting}


MORE = [
    pytest.param(operation, marks=pytest.mark.more)
    for operation in ("put", "get", "head", "list", "delete-many")
]


@pytest.mark.parametrize("how", ["refused", "lost"])
@pytest.mark.parametrize("operation", ["initiate", "part", "complete", *MORE])
def test_one_request_that_fails_changes_nothing(table: Table, operation: str, how: str) -> None:
    bucket = stores.s3()
    failures = stores.steering().fail(operation, 1, how)
    table.write(NEW, "overwrite")
    assert failures() == 1
    assert table.rows() == Counter(NEW)
    table.check_nothing_left()
    left = waiting(table)
    # An upload whose id nobody was told stays, without a part.
    assert len(left) == (1 if (operation, how) == ("initiate", "lost") else 0)
    for key, upload in left:
        bucket.abort(key, upload)


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_refused_completions_leave_the_old_table(table: Table, mode: str) -> None:
    failures = stores.steering().fail("complete", 3, "denied", times=1000)
    with pytest.raises(Py4JJavaError, match="AccessDenied"):
        table.write(NEW, mode)
    assert failures() > 0
    assert table.rows() == Counter(OLD)
    table.check_nothing_left()
    assert waiting(table) == []


def test_uploads_that_only_the_plan_of_a_dead_job_names_are_cleaned(table: Table) -> None:
    # Right after the uploads of its 60 files, and its plan, the driver begins that of the mark.
    is_held, release = stores.steering().hold("initiate", call=61)
    drivers.kill(table, "append", ONE_BY_ONE, is_held)
    release()
    assert len(waiting(table)) in (60, 61), "the one that was held may be under way"

    (left,) = mc.clean(table.spark, str(table.path), older_than="0s")
    assert (left.state, left.removed) == ("running", False)
    assert len(waiting(table)) >= 60
    (left,) = mc.clean(table.spark, str(table.path), force=True)

    assert (left.state, left.removed) == ("running", True)
    assert (left.aborted_uploads, left.unknown_uploads) == (60, None)
    assert table.rows() == Counter(OLD)
    table.check_nothing_left()
    bucket = stores.s3()
    for key, upload in waiting(table):
        assert key.endswith("/00/journal-committed-0")
        bucket.abort(key, upload)


def test_a_held_job_is_published_as_long_as_its_uploads_wait(table: Table) -> None:
    hold = {f"{OPTION}publish": "hold"}
    table.save(NEW, "append", **hold)
    (job,) = mc.held(table.spark, str(table.path))
    assert not job.readable
    with pytest.raises(mc.ManifestCommitterError, match="wait as uploads"):
        job.read()
    assert table.rows() == Counter(OLD)
    job.publish()
    assert table.rows() == Counter(OLD + NEW)

    table.save(OLD, "append", **hold)
    (job,) = mc.held(table.spark, str(table.path))
    key, upload = next(one for one in waiting(table) if "/p=" in one[0])
    stores.s3().abort(key, upload)
    with pytest.raises(mc.HeldJobError, match="do not wait as uploads any more"):
        job.publish()
    job.discard()
    assert table.rows() == Counter(OLD + NEW)
    assert waiting(table) == []
    table.check_nothing_left()


@pytest.mark.classic(because="a Connect session has no RDDs")
@pytest.mark.parametrize("name", ["directory", pytest.param("partitioned", marks=pytest.mark.more)])
def test_another_committer_of_hadoop_may_be_named_for_rdds(
    spark: SparkSession, place: Place, tmp_path: Path, name: str
) -> None:
    path = str(place / "rdd")
    conf = {
        "fs.s3a.committer.name": name,
        "fs.s3a.committer.staging.tmp.path": f"file:{tmp_path}/staging",
    }
    rdd = spark.sparkContext.parallelize(PAIRS, 2)
    rdd.saveAsNewAPIHadoopFile(path, NEW_FORMAT, TEXT, TEXT, conf=conf)
    assert sorted(lines(spark, path).collect()) == PAIRS
    assert mc.read_report(spark, path).committer == name


def test_old_uploads_of_a_table_are_cleaned(table: Table) -> None:
    bucket = stores.s3()
    key = table.path.key
    for lost in (f"{key}/p=1/part-0", f"{key}/part-1", f"{key}2/part-2"):
        bucket.begin(lost)
    command = [sys.executable, "-m", "manifest_committer", "clean", "--uploads"]
    command += ["--older-than", "0s"]
    command += ["--class-path", stores.class_path()]
    for name, value in stores.conf().items():
        command += ["--conf", f"{name}={value}"]

    def clean(*options: str) -> str:
        done = subprocess.run(
            [*command, *options, str(table.path)],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        return done.stdout

    assert "Total 2 uploads found" in clean("--dry-run")
    assert len(waiting(table)) == 3
    assert "Total 2 uploads deleted" in clean()
    ((other, upload),) = waiting(table)
    assert other == f"{key}2/part-2"
    bucket.abort(other, upload)


@pytest.mark.parametrize(
    ("mode", "complete"),
    [
        ("append", False),
        ("overwrite", True),
        pytest.param("append", True, marks=pytest.mark.more),
        pytest.param("overwrite", False, marks=pytest.mark.more),
    ],
)
def test_a_killed_driver_is_recovered(table: Table, mode: str, complete: bool) -> None:
    stores.steering().asked()
    is_held, release = stores.steering().hold("complete", call=3)
    drivers.kill(table, mode, ONE_BY_ONE, is_held)
    done = [line for line in stores.steering().asked() if line.startswith("complete ")]
    # One that is held is in the log when it came, or when it is done.
    assert 2 <= len(done) <= 3
    assert waiting(table)

    (recovered,) = mc.recover(table.spark, str(table.path), complete=complete, force=True)
    release()

    assert recovered.outcome == ("completed" if complete else "rolled_back")
    fresh = Table(table.spark.newSession(), table.path, table.schema)
    new = NEW if mode == "overwrite" else OLD + NEW
    assert fresh.rows() == Counter(new if complete else OLD)
    table.check_nothing_left()
    assert waiting(table) == []
