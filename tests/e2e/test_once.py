# SPDX-License-Identifier: Apache-2.0
"""Writes with an identity: a table takes the data of each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import sessions
import stores
from pyspark.sql import DataFrameWriter
from sessions import settings
from tables import Row, Table
from test_streaming import Source

import manifest_committer as mc

ID = "mapreduce.manifest.committer.commit.id"
WARN = {"mapreduce.manifest.committer.unfinished.jobs": "warn"}
ROWS: list[Row] = [("a", 1), ("b", 2)]
MORE: list[Row] = [("c", 2), ("d", 3)]
RUN = "scheduled__2026-11-28T00:00:00+00:00 *"


@pytest.mark.core
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_write_that_is_run_again_publishes_nothing(
    new_table: Callable[..., Table], mode: str
) -> None:
    table = new_table(partition_by=["p"])
    assert not mc.was_committed(table.spark, str(table.path), RUN)
    table.save(ROWS, mode, **{ID: RUN})
    assert mc.was_committed(table.spark, str(table.path), RUN)
    assert f"{mode} (commit.id {RUN})" in str(mc.read_report(table.spark, table.path)).replace(
        "overwrite (new table)", "overwrite"
    )
    table.write(MORE, "append")
    report = mc.read_report(table.spark, table.path)

    table.save([("again", 9)], mode, **{ID: RUN})

    assert table.rows() == Counter(ROWS + MORE)
    assert mc.read_report(table.spark, table.path).job_id == report.job_id
    (commit,) = (c for c in mc.commits(table.spark)[-1:])
    assert commit.state == "skipped"
    assert not list(table.path.glob("_manifest_?*"))

    if stores.name() == stores.LAKEFS:
        with pytest.raises(Exception, match="In lakeFS that takes a commit"):
            mc.forget(table.spark, str(table.path), RUN)
        return
    assert mc.forget(table.spark, str(table.path), RUN)
    assert not mc.was_committed(table.spark, str(table.path), RUN)
    table.save([("again", 9)], "append", **{ID: RUN})
    assert ("again", 9) in table.rows()


@pytest.mark.core
def test_a_sessions_identity_covers_one_write_into_each_table(
    new_table: Callable[..., Table], tmp_path: Path
) -> None:
    table = new_table(partition_by=["p"])
    with settings(table.spark, {ID: "nightly"}):
        table.write(ROWS, "append")
        table.frame(ROWS).write.parquet(str(tmp_path / "other"))
        with pytest.raises(Exception, match="covers one write into each table"):
            table.write(MORE, "append")
        assert table.rows() == Counter(ROWS)
        table.save(MORE, "append", **{ID: "nightly, second"})
    assert table.rows() == Counter(ROWS + MORE)


def test_an_identity_is_refused_where_nothing_would_keep_it(
    new_table: Callable[..., Table], tmp_path: Path
) -> None:
    table = new_table(partition_by=["p"])
    with pytest.raises(Exception, match="Set that to rollback or fail"):
        table.save(ROWS, "append", **{ID: "x", **WARN})
    with pytest.raises(Exception, match="at most 200 characters"):
        table.save(ROWS, "append", **{ID: "x" * 201})
    assert not table.path.exists()


@pytest.mark.core
def test_each_batch_of_a_stream_is_there_once(
    new_table: Callable[..., Table], tmp_path: Path
) -> None:
    table = new_table(partition_by=["p"])
    source = Source(table.spark, tmp_path / "source")
    path, dies = str(table.path), tmp_path / "dies"
    dies.touch()

    def write(writer: DataFrameWriter) -> None:
        writer.mode("append").partitionBy("p").parquet(path)
        if dies.exists():
            dies.unlink()
            raise KeyError("after the commit, and before Spark notes that the batch is done")

    # A Connect server does not tell it.
    query_id = "flights" if sessions.is_connect() else None
    once = mc.once_per_batch(path, write, query=query_id)
    query = source.read().writeStream.foreachBatch(once)
    source.add(ROWS)
    with pytest.raises(Exception, match="after the commit"):
        source.drain(query)
    source.drain(query)
    source.add(MORE)
    source.drain(query)
    assert table.rows() == Counter(ROWS + MORE)
