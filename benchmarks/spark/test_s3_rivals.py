# SPDX-License-Identifier: Apache-2.0
"""What a job asks of S3 with each committer, and what failures and overwrites leave of a table.

In a JVM of its own, with Spark's bindings to the committers of hadoop-aws. Writes its tables, with
the times of this run, to ``target``.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import drivers
import pyspark
import pytest
import stores
from bindings import with_stock_bindings
from drivers import Output
from py4j.protocol import Py4JJavaError
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from sessions import settings
from tables import Row, Table
from test_s3 import waiting
from test_stock_bindings import BINDING, PATH_OUTPUT, PROTOCOL

import manifest_committer as mc

pytestmark = [pytest.mark.thorough, pytest.mark.only_on("s3a")]

FILES, PARTITIONS, TASKS = 2000, 50, 40

OURS = {PROTOCOL: "io.manifestcommitter.spark.ManifestCommitProtocol"}
COMMITTERS = {
    "this one": OURS,
    "magic": {PROTOCOL: PATH_OUTPUT, "fs.s3a.committer.name": "magic"},
    "directory": {PROTOCOL: PATH_OUTPUT, "fs.s3a.committer.name": "directory"},
}


# The requests of a job commit come one after the other.
ONE_BY_ONE = {
    "spark.hadoop.mapreduce.manifest.committer.io.threads": "1",
    "spark.hadoop.fs.s3a.committer.threads": "1",
}
OLD: list[Row] = [(f"old-{i}", i % 10) for i in range(20)]


def binding(scratch: Path) -> dict[str, str]:
    return {
        **{key: value for key, value in BINDING.items() if "factory" not in key},
        "spark.hadoop.fs.s3a.committer.staging.tmp.path": f"file:{scratch}/staging",
    }


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    scratch = tmp_path_factory.mktemp("session")
    with with_stock_bindings("local[2,1]", scratch, binding(scratch)) as session:
        yield session


def by_kind(log: list[str]) -> str:
    kinds = Counter(line.split()[0] for line in log)
    each = ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))
    return f"{len(log):,}: {each}"


def keep(name: str, rows: list[str]) -> None:
    text = "\n".join(rows)
    print(f"\nSpark {pyspark.__version__}\n{text}")
    target = Path(__file__).parents[2] / "target"
    (target / f"s3-{name}-{pyspark.__version__}.md").write_text(text)


def test_requests_and_a_failed_overwrite(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, FILES, 1, TASKS).selectExpr("id", f"id % {PARTITIONS} AS p")
    fails = udf(lambda value: 1 // (value - FILES // 2) and value, "long")
    logs: dict[str, list[str]] = {}
    seconds: dict[str, list[float]] = {name: [] for name in COMMITTERS}
    left: dict[str, int] = {}
    # The first round warms the JVM up.
    for number, name in itertools.product(range(4), COMMITTERS):
        path = stores.place(tmp_path) / f"{name.replace(' ', '-')}-{number}"
        with settings(spark, COMMITTERS[name]):
            stores.steering().asked()
            start = time.monotonic()
            frame.write.partitionBy("p").mode("overwrite").parquet(str(path))
            seconds[name].append(time.monotonic() - start)
            logs[name] = stores.steering().asked()
            assert spark.read.parquet(str(path)).count() == FILES
            if number == 0:
                failing = frame.select(fails("id").alias("id"), "p").write.partitionBy("p")
                with pytest.raises(PythonException, match="ZeroDivisionError"):
                    failing.mode("overwrite").parquet(str(path))
                left[name] = len(list(path.rglob("*.parquet")))
    ours = seconds["this one"]
    rows = [
        "| committer | tasks | job commit | copies | s | time, to ours | files after a failed |"
    ]
    rows.append("|---|--:|--:|--:|--:|--:|--:|")
    kinds = ["| committer | tasks | job commit |", "|---|---|---|"]
    slower = {}
    for name, log in logs.items():
        first = next(i for i, line in enumerate(log) if line.startswith("complete "))
        copies = Counter(line.split()[0] for line in log)["copy"]
        # Within a round, so that a machine that is busy for a while is busy for all.
        ratios = [time / own for time, own in zip(seconds[name][1:], ours[1:], strict=True)]
        slower[name] = sorted(ratios)[1]
        between = f"{min(ratios):.2f}-{max(ratios):.2f}"
        least = min(seconds[name][1:])
        rows.append(
            f"| {name} | {first:,} | {len(log) - first:,} | {copies} | {least:.1f} "
            f"| {slower[name]:.2f} ({between}) | {left[name]:,} of {FILES:,} |"
        )
        kinds.append(f"| {name} | {by_kind(log[:first])} | {by_kind(log[first:])} |")
        if name == "this one":
            assert copies == 0
            assert first <= 4400
            assert len(log) - first <= 2060 + 2 * PARTITIONS
    keep("committers", rows)
    keep("requests", kinds)
    assert left["this one"] == FILES
    assert len(logs["this one"]) < len(logs["magic"])
    # No more time: on a machine with other work, rounds differ by a tenth.
    assert slower["magic"] >= 0.9


def test_a_dynamic_overwrite_is_refused_or_right(new_table: Callable[..., Table]) -> None:
    new: list[Row] = [("new", 3)]
    table = new_table(partition_by=["p"])
    for name, committer in COMMITTERS.items():
        with settings(table.spark, OURS):
            table.save(OLD, "overwrite")
        with settings(table.spark, committer):
            if name == "this one":
                table.save(new, "overwrite", partitionOverwriteMode="dynamic")
                assert table.rows() == Counter([row for row in OLD if row[1] != 3] + new)
            else:
                with pytest.raises(Py4JJavaError, match="dynamic"):
                    table.save(new, "overwrite", partitionOverwriteMode="dynamic")
                assert table.rows() == Counter(OLD)


@pytest.mark.parametrize("committer", COMMITTERS)
def test_a_killed_driver(new_table: Callable[..., Table], tmp_path: Path, committer: str) -> None:
    table, output = new_table(partition_by=["p"]), Output(FILES, PARTITIONS)
    with settings(table.spark, OURS):
        table.save(OLD, "append")
    old = len(table.data_files())
    jars = table.spark.sparkContext.getConf().get("spark.jars")
    conf = {**binding(tmp_path), **ONE_BY_ONE, "spark.jars": jars}
    for key, value in COMMITTERS[committer].items():
        conf[key if key.startswith("spark.") else f"spark.hadoop.{key}"] = value
    is_held, release = stores.steering().hold("complete", call=FILES // 2)
    drivers.kill(table, "append", conf, is_held, output)
    release()
    seen, waits = len(table.data_files()) - old, len(waiting(table))

    recovered = mc.recover(table.spark, str(table.path), complete=True, force=True)

    fresh = Table(table.spark.newSession(), table.path, table.schema)
    is_whole = fresh.rows() == Counter(OLD + output.rows())
    after = "the whole table" if is_whole else f"{len(table.data_files()) - old:,} files"
    keep(
        f"killed-{committer.replace(' ', '-')}",
        [
            "| committer | files to be seen | uploads that wait | after `recover --complete` |",
            "|---|--:|--:|---|",
            f"| {committer} | {seen:,} of {FILES:,} | {waits:,} | {after} |",
        ],
    )
    # Ours has one more: the mark of its journal.
    assert (seen, waits) == (FILES // 2, FILES // 2 + (committer == "this one"))
    if committer == "this one":
        assert [job.outcome for job in recovered] == ["completed"]
        assert is_whole
        assert waiting(table) == []
    else:
        assert recovered == []
        assert not is_whole
    bucket = stores.s3()
    for key, upload in waiting(table):
        bucket.abort(key, upload)
