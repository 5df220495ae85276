# SPDX-License-Identifier: Apache-2.0
"""All that the package does in a Connect session, in an environment that has pyspark-client only.

Its arguments: the address of the server, and a directory. Prints what came of it as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import manifest_committer as mc

server, directory = sys.argv[1], Path(sys.argv[2])
answer: dict[str, object] = {"py4j": importlib.util.find_spec("py4j") is not None}
errors = []
for builder in (SparkSession.builder, SparkSession.builder.remote(server)):
    try:
        mc.configure_builder(builder)
    except mc.ManifestCommitterError as error:
        errors.append([type(error).__name__, str(error)])
answer["errors"] = errors

spark = SparkSession.builder.remote(server).getOrCreate()
changed = [mc.configure_session(spark).changed for _ in range(2)]
table, reports = str(directory / "table"), str(directory / "reports")
spark.conf.set("mapreduce.manifest.committer.summary.report.directory", reports)
spark.range(100).selectExpr("id", "id % 3 AS p").write.partitionBy("p").parquet(table)
report = mc.read_report(spark, table)
(commit,) = (one for one in mc.commits(spark) if one.table.endswith(table))
answer |= {
    "changed": changed,
    "rows": spark.read.parquet(table).count(),
    "files": report.files,
    "listed": report.file_list(spark).count(),
    "in pandas": len(report.file_list_pandas(spark)),
    "state": commit.state,
    "cancelled": commit.cancel(),
    "history": [row["outcome"] for row in mc.history(spark, reports).collect()],
    "recovered": mc.recover(spark, table),
    "cleaned": mc.clean(spark, table),
    "committer": mc.committer_info(spark, table).ok,
}
spark.stop()
print(json.dumps(answer))
