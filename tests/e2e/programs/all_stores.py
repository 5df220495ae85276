# SPDX-License-Identifier: Apache-2.0
"""One session, configured once, that writes to every store."""

import json
import sys

from sessions import builder, quiet

import manifest_committer

settings, tables = (json.loads(argument) for argument in sys.argv[1:])
spark = quiet(builder(settings))
manifest_committer.configure_session(spark)

TEXT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"


def rows(first: int, count: int):
    return spark.range(first, first + count, 1, 2).selectExpr("id", "id % 4 AS p")


def committer(path: str) -> str:
    """Who wrote the report there; a marker without content is Hadoop's own."""
    jvm = spark.sparkContext._jvm
    report = jvm.org.apache.hadoop.fs.Path(path, "_SUCCESS")
    stream = report.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).open(report)
    text = jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    return json.loads(text or "{}").get("committer", "")


answer = {}
for store, path in tables.items():
    table, by_rdd = f"{path}/table", f"{path}/rdd"
    counts = []
    for write in (
        rows(0, 8).write.mode("overwrite"),
        rows(8, 8).write.mode("append"),
        rows(100, 4)
        .where("p < 2")
        .write.option("partitionOverwriteMode", "dynamic")
        .mode("overwrite"),
    ):
        write.partitionBy("p").parquet(table)
        counts.append(manifest_committer.read_report(spark, table).files)
    spark.sparkContext.parallelize([("a", 1), ("b", 2)], 2).saveAsNewAPIHadoopFile(by_rdd, TEXT)
    found = spark.read.parquet(table).select("id", "p").collect()
    answer[store] = {
        "rows": sorted(tuple(row) for row in found),
        "files": counts,
        "rdd": committer(by_rdd),
    }
spark.stop()
print(json.dumps(answer))
