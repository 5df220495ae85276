# SPDX-License-Identifier: Apache-2.0
"""What a job asks of S3 with each committer, and what a failed overwrite leaves.

In a JVM of its own, with Spark's bindings to the committers of hadoop-aws. Writes a table, with the
times of this run, to ``target``.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
import stores
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from sessions import settings, with_stock_bindings
from test_stock_bindings import BINDING, PATH_OUTPUT, PROTOCOL

pytestmark = [pytest.mark.thorough, pytest.mark.only_on("s3a")]

FILES, PARTITIONS, TASKS = 2000, 50, 40

OURS = {PROTOCOL: "io.manifestcommitter.spark.ManifestCommitProtocol"}
COMMITTERS = {
    "this one": OURS,
    "magic": {PROTOCOL: PATH_OUTPUT, "fs.s3a.committer.name": "magic"},
    "directory": {PROTOCOL: PATH_OUTPUT, "fs.s3a.committer.name": "directory"},
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    scratch = tmp_path_factory.mktemp("session")
    conf = {
        **{key: value for key, value in BINDING.items() if "factory" not in key},
        "spark.hadoop.fs.s3a.committer.staging.tmp.path": f"file:{scratch}/staging",
    }
    with with_stock_bindings("local[2,1]", scratch, conf) as session:
        yield session


def test_requests_and_a_failed_overwrite(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, FILES, 1, TASKS).selectExpr("id", f"id % {PARTITIONS} AS p")
    fails = udf(lambda value: 1 // (value - FILES // 2) and value, "long")
    logs: dict[str, list[str]] = {}
    seconds: dict[str, list[float]] = {name: [] for name in COMMITTERS}
    left: dict[str, int] = {}
    # The first round warms the JVM up.
    for number, name in itertools.product(range(3), COMMITTERS):
        path = stores.place(tmp_path) / f"{name.replace(' ', '-')}-{number}"
        with settings(spark, COMMITTERS[name]):
            stores.steering().log()
            start = time.monotonic()
            frame.write.partitionBy("p").mode("overwrite").parquet(str(path))
            seconds[name].append(time.monotonic() - start)
            logs[name] = stores.steering().log()
            assert spark.read.parquet(str(path)).count() == FILES
            if number == 0:
                failing = frame.select(fails("id").alias("id"), "p").write.partitionBy("p")
                with pytest.raises(PythonException, match="ZeroDivisionError"):
                    failing.mode("overwrite").parquet(str(path))
                left[name] = len(list(path.rglob("*.parquet")))
    rows = ["| committer | tasks | job commit | copies | s | files after a failed overwrite |"]
    rows.append("|---|--:|--:|--:|--:|--:|")
    for name, log in logs.items():
        first = next(i for i, line in enumerate(log) if line.startswith("complete "))
        copies = Counter(line.split()[0] for line in log)["copy"]
        rows.append(
            f"| {name} | {first:,} | {len(log) - first:,} | {copies} "
            f"| {min(seconds[name][1:]):.1f} | {left[name]:,} of {FILES:,} |"
        )
    text = "\n".join(rows)
    print(f"\nSpark {pyspark.__version__}\n{text}")
    target = Path(__file__).parents[2] / "target"
    (target / f"s3-committers-{pyspark.__version__}.md").write_text(text)
    assert left["this one"] == FILES
    assert len(logs["this one"]) < len(logs["magic"])
