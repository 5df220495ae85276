# SPDX-License-Identifier: Apache-2.0
"""Tables that are read as they were before or after the commit of each job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import stores
from drivers import NEW
from pyspark.sql import DataFrame
from tables import Row, Table
from test_recovery import OLD, kill_in_commit

import manifest_committer as mc

FORMAT = "manifest-committer"


def rows(frame: DataFrame) -> Counter[Row]:
    return Counter(tuple(row) for row in frame.collect())


@pytest.mark.core
def test_a_table_is_read_as_spark_reads_it(new_table: Callable[..., Table]) -> None:
    table = new_table("value string, p int, q string", partition_by=["p", "q"])
    data: list[Row] = [("a", 1, "x y/%"), ("b", 2, None), ("c", None, "d")]
    table.write(data, "append")
    path = str(table.path)
    theirs = table.spark.read.parquet(path)

    for ours in (
        mc.read(table.spark, path, "parquet"),
        table.spark.read.format(FORMAT).load(path),
    ):
        assert ours.schema == theirs.schema
        assert dict(ours.dtypes) == {"value": "string", "p": "int", "q": "string"}
        assert rows(ours) == Counter(data)
        assert rows(ours.where("p = 1")) == Counter(data[:1])
    typed = mc.read(table.spark, path, schema="value string, p string, q string")
    assert rows(typed.where("p = '2'")) == Counter([("b", "2", None)])

    name = f"`{FORMAT}`"
    table.spark.sql(
        f"CREATE TEMPORARY VIEW whole USING {name} OPTIONS (path '{path}', format 'parquet')"
    )
    assert table.spark.sql("SELECT count(*) FROM whole WHERE q = 'd'").first()[0] == 1
    table.write([("e", 7, "d")], "append")
    table.spark.catalog.refreshTable("whole")
    assert table.spark.sql("SELECT count(*) FROM whole WHERE q = 'd'").first()[0] == 2
    table.spark.catalog.dropTempView("whole")

    files = mc.committed_files(table.spark, path)
    assert Counter(file.size for file in files) == Counter(table.data_files().values())
    assert {tuple(file.partition.values()) for file in files} == {
        ("1", "x y/%"),
        ("2", None),
        (None, "d"),
        ("7", "d"),
    }


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_half_a_commit_is_not_seen(new_table: Callable[..., Table], mode: str) -> None:
    table = new_table(partition_by=["p"])
    table.write(OLD, "append")
    kill_in_commit(table, mode)
    path = str(table.path)

    assert rows(mc.read(table.spark, path)) == Counter(OLD)
    assert sum(file.size for file in mc.committed_files(table.spark, path)) > 0

    mc.recover(table.spark, path, complete=True, force=True)
    assert rows(mc.read(table.spark, path)) == Counter(NEW if mode == "overwrite" else OLD + NEW)


@pytest.mark.not_on("gs", "s3a", "lakefs", because="what is replaced does not move aside")
def test_a_table_is_read_as_it_was_before_a_job(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    table.write(OLD, "append")
    table.save(NEW, "overwrite", **{"mapreduce.manifest.committer.keep.replaced": "1h"})
    path = str(table.path)
    job = mc.read_report(table.spark, path).job_id

    assert rows(mc.read(table.spark, path, "parquet", before=job)) == Counter(OLD)
    assert rows(mc.read(table.spark, path)) == table.rows() == Counter(NEW)
    with pytest.raises(Exception, match="keeps no replaced data"):
        mc.read(table.spark, path, before="20260131").collect()


@pytest.mark.core
def test_what_has_no_whole_state_is_refused(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    path = str(table.path)
    with pytest.raises(mc.PathNotFoundError):
        mc.committed_files(table.spark, path)
    table.write([("a", 1)], "append")
    if stores.name() == stores.LAKEFS:
        assert rows(mc.read(table.spark, f"{path}/p=1")) == Counter([("a",)]), (
            "also a part is whole"
        )
    else:
        with pytest.raises(Exception, match="is a partition of"):
            mc.read(table.spark, f"{path}/p=1").collect()
    for wrong, why in (
        (lambda: mc.read(table.spark, f"{path}-not"), "There is nothing at"),
        (
            lambda: mc.read(table.spark, path, pathGlobFilter="*"),
            "leave a part of the table out",
        ),
        (lambda: mc.read(table.spark, path, "noop"), "is no format of files"),
        (
            lambda: table.spark.read.format(FORMAT).load([path, path]),
            "the path of one table",
        ),
    ):
        with pytest.raises(Exception, match=why):
            wrong().collect()
