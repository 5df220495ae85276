# SPDX-License-Identifier: Apache-2.0
"""A stream of ten batches whose driver dies at one request after the other of its writes.

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
BATCHES = 10
QUICK = {f"{OPTION}heartbeat.interval": "500ms", f"{OPTION}heartbeat.timeout": "1s"}


@pytest.mark.only_on("abfs", "gs", "gs-folders", "s3a")
@pytest.mark.classic(because="a Connect server runs the function in a process of its own")
@pytest.mark.parametrize(
    "step",
    [pytest.param(1, marks=pytest.mark.thorough, id="every-request"), pytest.param(BATCHES, id="")],
)
def test_each_batch_is_there_once_wherever_its_driver_dies(
    new_table: Callable[..., Table], control: stores.Control, tmp_path: Path, step: int
) -> None:
    """A batch is met by death at its first request, and ``step`` requests later, and so on.

    Where the step is the number of batches, each batch begins with another request, so that all
    batches together meet it everywhere.
    """
    table = new_table(partition_by=["p"])
    source = Source(table.spark, tmp_path / "source")
    path, deaths = str(table.path), 0
    once = mc.once_per_batch(path, lambda w: w.mode("append").partitionBy("p").parquet(path))
    query = source.read().writeStream.foreachBatch(once)
    expected: Counter[Row] = Counter()
    with settings(table.spark, QUICK):
        for batch in range(BATCHES):
            rows = [(f"{batch}-{i}", i % 3) for i in range(4)]
            source.add(rows)
            expected += Counter(rows)
            at = 1 + (0 if step == 1 else batch)
            while True:
                applied = control.fault(
                    "*", "refuse", path=table.path.key, call=at, times=100_000, status=403
                )
                try:
                    source.drain(query)
                except Exception:
                    assert applied() > 0
                    deaths += 1
                finally:
                    is_past = applied() == 0
                    control.repair()
                if is_past:
                    break
                at += step
            assert table.rows() == expected
    print(f"{deaths} deaths in {BATCHES} batches")
    assert deaths >= BATCHES * 40 // step
    table.check_nothing_left()
