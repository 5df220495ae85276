# SPDX-License-Identifier: Apache-2.0
"""A stream whose driver dies at one request after the other of the writes of its batches.

From one request on the store refuses all: to the store, that is a driver that died. Then the query
is started again from its checkpoint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import stores
from sessions import settings
from tables import Row, Table
from test_streaming import Source

import manifest_committer as mc

OPTION = "mapreduce.manifest.committer."
QUICK = {f"{OPTION}heartbeat.interval": "500ms", f"{OPTION}heartbeat.timeout": "3s"}
LEAST = 40
"""Requests of a batch, by far."""


@pytest.mark.only_on("abfs", "gs", "gs-folders", "s3a")
@pytest.mark.classic(because="a Connect server runs the function in a process of its own")
@pytest.mark.parametrize(
    "step",
    [
        pytest.param(1, marks=pytest.mark.thorough, id="every"),
        pytest.param(13, id="some"),
    ],
)
def test_each_batch_is_there_once_wherever_its_driver_dies(
    new_table: Callable[..., Table], control: stores.Control, tmp_path: Path, step: int
) -> None:
    """Each batch meets death once, ``step`` requests later than the one before, and is repeated."""
    table = new_table(partition_by=["p"])
    source = Source(table.spark, tmp_path / "source")
    path = str(table.path)
    once = mc.once_per_batch(path, lambda w: w.mode("append").partitionBy("p").parquet(path))
    query = source.read().writeStream.foreachBatch(once)
    expected: Counter[Row] = Counter()
    batches, at, is_met = 0, 1, True
    with settings(table.spark, QUICK):
        while is_met:
            rows = [(f"{batches}-{i}", i % 3) for i in range(4)]
            source.add(rows)
            expected += Counter(rows)
            applied = control.fault(
                "*", "refuse", path=table.path.key, call=at, times=100_000, status=403
            )
            try:
                source.drain(query)
            except Exception:
                assert applied() > 0
            is_met = applied() > 0
            control.repair()
            source.drain(query)
            assert table.rows() == expected
            # What a driver left that died before its commit costs later jobs a request each.
            mc.clean(table.spark, path, older_than="0s", force=True)
            batches += 1
            at += step
    print(f"{batches} batches, {at - step} requests")
    assert at > LEAST
