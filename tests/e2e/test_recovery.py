# SPDX-License-Identifier: Apache-2.0
"""A driver that is killed in the middle of a job commit, and what is done about the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import drivers
import pytest
import stores
from drivers import NEW
from tables import Row, Table

import manifest_committer as mc

OLD: list[Row] = [(f"old-{i}", i % 10) for i in range(20)]
OPTION = "mapreduce.manifest.committer."
# So that those who see whether a driver lives need not watch it for long.
OFTEN = {f"{OPTION}heartbeat.interval": "500ms"}
SOON = {f"{OPTION}heartbeat.timeout": "5s"}
# So slow that the commit takes many seconds: it is killed as soon as something of it is seen.
SLOW = {
    **{f"spark.hadoop.{name}": value for name, value in OFTEN.items()},
    f"spark.hadoop.{OPTION}io.rate": "12",
    f"spark.hadoop.{OPTION}io.threads": "1",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}

pytestmark = pytest.mark.core
thorough = pytest.mark.thorough


@pytest.fixture
def table(new_table: Callable[..., Table]) -> Table:
    table = new_table(partition_by=["p"])
    table.write(OLD, "append")
    return table


def seen(table: Table) -> set[str]:
    """The table's files as a reader finds them now; of a partition that just goes, none."""
    files = set()
    for partition in table.path.glob("p=*"):
        try:
            files.update(str(file) for file in partition.glob("part-*"))
        except FileNotFoundError:
            continue
    return files


@pytest.fixture
def watching(table: Table) -> Iterator[Callable[[dict[str, str]], None]]:
    """Sets how the session's recoveries watch heartbeats."""

    def set_all(conf: dict[str, str]) -> None:
        for name, value in conf.items():
            table.spark.conf.set(name, value)

    yield set_all
    for name in {**OFTEN, **SOON}:
        table.spark.conf.unset(name)


def kill_in_commit(
    table: Table, mode: str, while_it_lives: Callable[[], None] = lambda: None
) -> None:
    """Starts a write, and kills its driver when the table's files have begun to change.

    In lakeFS they all change at once: there it is killed while the server refuses to merge.
    """
    before = seen(table)
    merges = stores.name() == stores.LAKEFS
    if merges:
        stores.control().fault("merge", "refuse", call=1, times=1000, status=503)
        stores.control().forget()

    def begins() -> bool:
        if merges:
            begun = any(asked["operation"] == "merge" for asked in stores.control().log())
        else:
            begun = seen(table) != before
        if begun:
            while_it_lives()
        return begun

    slow = {name: value for name, value in SLOW.items() if not merges or ".io." not in name}
    drivers.kill(table, mode, slow, begins)
    if merges:
        stores.control().repair()
        assert table.rows() == Counter(OLD)
    else:
        assert table.rows() not in (Counter(OLD), Counter(OLD + NEW), Counter(NEW))


@pytest.mark.once
@pytest.mark.parametrize("mode", [pytest.param("append", marks=thorough), "overwrite"])
def test_killed_driver_is_rolled_back(
    table: Table, mode: str, watching: Callable[[dict[str, str]], None]
) -> None:
    watching(OFTEN)

    def is_left_alone() -> None:
        with pytest.raises(mc.JobAliveError, match="force"):
            mc.recover(table.spark, str(table.path))

    kill_in_commit(table, mode, is_left_alone)

    watching(SOON)
    (job,) = mc.recover(table.spark, str(table.path), rollback=True)

    assert job.outcome == "rolled_back"
    assert job.job_id in job.staging
    assert table.rows() == Counter(OLD)
    table.check_nothing_left()
    assert mc.recover(table.spark, str(table.path)) == []
    table.write(NEW, "append")
    assert table.rows() == Counter(OLD + NEW)


@thorough
@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_killed_driver_is_completed(table: Table, mode: str) -> None:
    kill_in_commit(table, mode)
    (job,) = mc.recover(table.spark, str(table.path), complete=True, force=True)
    assert job.outcome == "completed"
    assert table.rows() == Counter(NEW if mode == "overwrite" else OLD + NEW)
    assert table.check_report().job_id == job.job_id


@thorough
def test_what_a_killed_driver_left_is_cleaned(table: Table) -> None:
    kill_in_commit(table, "append")
    (left,) = mc.clean(table.spark, str(table.path), older_than="0s")
    assert (left.kind, left.state, left.removed) == ("spark_protocol", "running", False)
    assert left.age is not None
    assert left.files > 0
    (left,) = mc.clean(table.spark, str(table.path), force=True)
    assert not left.removed, "it can still be recovered"
    mc.recover(table.spark, str(table.path), force=True)
    assert mc.clean(table.spark, str(table.path)) == []
    with pytest.raises(mc.StorageError, match="no length of time"):
        mc.clean(table.spark, str(table.path), older_than="soon")
    assert table.rows() == Counter(OLD)


def test_nothing_to_recover(table: Table) -> None:
    before = table.snapshot()
    assert mc.recover(table.spark, str(table.path)) == []
    with pytest.raises(ValueError, match="rollback"):
        mc.recover(table.spark, str(table.path), rollback=True, complete=True)
    for act in (mc.recover, mc.clean, mc.history):
        with pytest.raises(mc.PathNotFoundError, match="-elsewhere: there is nothing at that path"):
            act(table.spark, f"{table.path}-elsewhere")
    assert table.snapshot() == before
