# SPDX-License-Identifier: Apache-2.0
"""Held jobs: nobody sees their data before they are published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame
from tables import Row, Table

import manifest_committer as mc

pytestmark = pytest.mark.not_on("s3a", because="uploads that wait cannot be read: see test_s3")

PUBLISH = "mapreduce.manifest.committer.publish"
HOLD = {PUBLISH: "hold"}
ROWS: list[Row] = [("a", 1), ("b", 2)]
MORE: list[Row] = [("c", 2), ("d", 3)]


@pytest.mark.core
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_held_job_is_seen_once_it_is_published(
    new_table: Callable[..., Table], mode: str
) -> None:
    table = new_table(partition_by=["p"])
    table.write(ROWS, "append")
    report = mc.read_report(table.spark, table.path)

    table.save(MORE, mode, **HOLD)

    assert table.rows() == Counter(ROWS)
    assert mc.read_report(table.spark, table.path).job_id == report.job_id
    assert mc.commits(table.spark)[-1].state == "held"
    (job,) = mc.held(table.spark, str(table.path))
    assert job.files == 2
    assert job.partitions == ("p=2", "p=3")
    assert job.overwrites == (mode == "overwrite")
    assert Counter(map(tuple, job.read().collect())) == Counter(MORE)

    job.publish()

    assert table.rows() == Counter(MORE if mode == "overwrite" else ROWS + MORE)
    assert mc.read_report(table.spark, table.path).job_id == job.job_id
    assert mc.held(table.spark, str(table.path)) == []
    with pytest.raises(mc.HeldJobError, match="is not held in"):
        job.publish()


@pytest.mark.core
def test_a_discarded_job_leaves_the_table_as_it_was(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    table.write(ROWS, "append")
    table.save(MORE, "overwrite", **HOLD)
    (job,) = mc.held(table.spark, str(table.path))
    table.save(MORE, "append")

    with pytest.raises(mc.HeldJobError, match="did not see when it was held"):
        job.publish()
    job.discard()

    assert table.rows() == Counter(ROWS + MORE)
    assert not list(table.path.glob("_manifest_?*"))
    with pytest.raises(mc.ManifestCommitterError, match="is not held in"):
        job.read()


@pytest.mark.core
def test_an_audited_write_is_published_if_its_check_holds(
    new_table: Callable[..., Table],
) -> None:
    table = new_table(partition_by=["p"])
    seen: list[int] = []

    def check(written: DataFrame) -> bool:
        assert not table.path.exists() or not list(table.path.glob("p=*"))
        seen.append(written.count())
        return seen[-1] == 2

    path = str(table.path)
    with pytest.raises(mc.AuditError, match="does not hold"):
        mc.audited(table.frame([*ROWS, ("c", 3)]), path, check=check, partition_by="p")
    assert mc.held(table.spark, path) == []

    job = mc.audited(table.frame(ROWS), path, check=check, partition_by=["p"])

    assert job is not None
    assert seen == [3, 2]
    assert table.rows() == Counter(ROWS)


def test_an_audited_write_is_repeated_by_its_identity(new_table: Callable[..., Table]) -> None:
    """An earlier run died before its check: what that wrote is checked, and nothing doubled."""
    table = new_table()
    path = str(table.path)
    once = {"mapreduce.manifest.committer.commit.id": "run 1"}
    table.save(ROWS, "append", **HOLD, **once)
    (left,) = mc.held(table.spark, path)
    assert left.commit_id == "run 1"
    seen: list[Counter[Row]] = []

    def check(written: DataFrame) -> bool:
        seen.append(Counter(map(tuple, written.collect())))
        return True

    job = mc.audited(table.frame(ROWS), path, check=check, **once)

    assert job is not None
    assert job.job_id == left.job_id
    assert seen == [Counter(ROWS)]
    assert mc.audited(table.frame(ROWS), path, check=check, **once) is None
    assert len(seen) == 1
    assert table.rows() == Counter(ROWS)


def test_an_errorifexists_write_is_published_only_as_the_first(
    new_table: Callable[..., Table],
) -> None:
    table = new_table(partition_by=["p"])
    table.save(ROWS, "errorifexists", **HOLD)
    (job,) = mc.held(table.spark, str(table.path))
    table.save(MORE, "append")
    with pytest.raises(mc.HeldJobError, match="did not see when it was held"):
        job.publish()
    job.discard()
    assert table.rows() == Counter(MORE)


@pytest.mark.core
def test_tables_of_the_catalog_with_partitions_are_refused(
    new_table: Callable[..., Table], tmp_path: Path
) -> None:
    spark = new_table().spark
    for name in ("held_flat", "held_parts", "held_made"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    try:
        options = f"OPTIONS ('{PUBLISH}' 'hold')"
        where = f"LOCATION '{tmp_path / 'parts'}'"
        spark.sql(
            f"CREATE TABLE held_parts (v STRING, p INT) USING parquet {options} "
            f"PARTITIONED BY (p) {where}"
        )
        with pytest.raises(Exception, match="table of the catalog with partitions"):
            spark.sql("INSERT INTO held_parts VALUES ('a', 1)")

        where = f"LOCATION '{tmp_path / 'flat'}'"
        spark.sql(f"CREATE TABLE held_flat (v STRING, p INT) USING parquet {options} {where}")
        spark.sql("INSERT INTO held_flat VALUES ('a', 1)")
        assert spark.table("held_flat").count() == 0
        (job,) = mc.held(spark, str(tmp_path / "flat"))
        job.publish()
        spark.sql("REFRESH TABLE held_flat")
        assert spark.table("held_flat").count() == 1

        with pytest.raises(Exception, match="makes or changes a table of the catalog"):
            spark.table("held_flat").write.option(PUBLISH, "hold").option(
                "path", str(tmp_path / "made")
            ).saveAsTable("held_made")
    finally:
        for name in ("held_flat", "held_parts", "held_made"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")
