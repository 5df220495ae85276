# SPDX-License-Identifier: Apache-2.0
"""Tables in a branch of lakeFS, which its API commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import stores
from places import LakefsStore, Place
from pyspark.sql import SparkSession
from tables import Row, Table

import manifest_committer as mc

OLD: list[Row] = [("a", 1), ("b", 1), ("c", 2)]


@pytest.fixture
def lake(store: None) -> Iterator[LakefsStore]:
    """No job of these tests leaves a branch."""
    lake = stores.lakefs()
    before = lake.branches()
    yield lake
    assert lake.branches() == before


@pytest.mark.core
def test_what_others_committed_is_read(spark: SparkSession, place: Place) -> None:
    (place / "table" / "p=1" / "f.csv").write_text("a\n")

    rows = spark.read.schema("value string, p int").csv(str(place / "table")).collect()

    assert [tuple(row) for row in rows] == [("a", 1)]


@pytest.mark.core
def test_a_job_is_one_merge(new_table: Callable[..., Table], lake: LakefsStore) -> None:
    table = new_table(partition_by=["p"])
    before = lake.merges()
    table.write(OLD, "append")
    assert lake.merges() == before + 1
    assert lake.uncommitted(("",)) == []


@pytest.mark.core
def test_a_marker_of_a_directory_is_removed(
    new_table: Callable[..., Table], lake: LakefsStore
) -> None:
    table = new_table()
    lake.put("elsewhere/", b"")
    table.write(OLD, "append")
    assert lake.uncommitted(("",)) == []


@pytest.mark.parametrize("record", ["_delta_log/0.json", ".hoodie/x", "metadata/version-hint.text"])
def test_a_table_of_another_format_is_not_overwritten(
    new_table: Callable[..., Table], lake: LakefsStore, record: str
) -> None:
    table = new_table()
    (table.path / record).write_text("{}")
    with pytest.raises(Exception, match="Delta, Hudi or Iceberg"):
        table.save(OLD, "overwrite")
    assert (table.path / record).exists()


@pytest.mark.core
def test_a_branch_with_something_uncommitted_is_refused(
    new_table: Callable[..., Table], lake: LakefsStore
) -> None:
    table = new_table()
    table.write(OLD, "append")
    lake.put("elsewhere", b"")
    with pytest.raises(Exception, match="not committed"):
        table.save([("e", 1)], "append")
    lake.commit()
    table.write([("e", 1)], "append")
    assert table.rows() == Counter([*OLD, ("e", 1)])


@pytest.mark.core
def test_a_location_of_its_own_is_refused(
    catalog_table: Callable[..., Table], place: Place, lake: LakefsStore
) -> None:
    table = catalog_table()
    location = place / "elsewhere"
    table.spark.sql(f"ALTER TABLE {table.name} ADD PARTITION (p = 1) LOCATION '{location}'")
    lake.commit()
    with pytest.raises(Exception, match="elsewhere"):
        table.spark.sql(f"INSERT INTO {table.name} VALUES ('a', 1), ('b', 2)")
    assert table.data_files() == {}


@pytest.mark.core
def test_a_table_that_spark_drops_first_stays_in_the_last_commit(
    catalog_table: Callable[..., Table], lake: LakefsStore
) -> None:
    table = catalog_table()
    table.sql("INSERT INTO {t} VALUES ('a', 1), ('b', 2)")
    before = lake.tree(table.path.key)
    with pytest.raises(Exception, match="not committed"):
        table.frame(OLD).write.mode("overwrite").partitionBy("p").saveAsTable(table.name)
    assert table.data_files() == {}
    assert lake.at(lake.head()).tree(table.path.key) == before


@pytest.mark.core
def test_a_commit_is_a_fixed_snapshot(new_table: Callable[..., Table], lake: LakefsStore) -> None:
    table = new_table()
    table.write(OLD, "append")
    path = str(table.path).replace("/main/", f"/{lake.head()}/")
    table.write([("e", 1)], "overwrite")
    then = table.spark.read.schema(table.schema).parquet(path)
    assert Counter(map(tuple, then.collect())) == Counter(OLD)


@pytest.mark.core
def test_info_says_which_api_commits(spark: SparkSession, place: Place, lake: LakefsStore) -> None:
    path = str(place / "table")
    info = mc.committer_info(spark, path)
    assert [p for p in info.problems if p.severity == "error"] == []
    assert f"http://127.0.0.1:{lake.port}/api/v1" in [o.value for o in info.options.values()]
    lake.put("marker/", b"")
    assert "lakefs-refused" not in [p.code for p in mc.committer_info(spark, path).problems]
    assert lake.uncommitted(("",)) == ["marker/"], "only a job changes something"
    lake.put("uncommitted", b"")
    assert "lakefs-refused" in [p.code for p in mc.committer_info(spark, path).problems]


@pytest.mark.core
def test_info_names_a_branch_that_is_not_there(spark: SparkSession, place: Place) -> None:
    path = str(place / "table").replace("/main/", "/mian/")
    refused = [p for p in mc.committer_info(spark, path).problems if p.code == "lakefs-refused"]
    assert "There is no branch mian" in refused[0].text
