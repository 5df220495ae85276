# SPDX-License-Identifier: Apache-2.0
"""A session from the builder, which already has a jar: writes a table and reads its report."""

import json
import sys

from pyspark.sql import SparkSession
from sessions import BASE

import manifest_committer

path, other_jar = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.jars", other_jar)
for key, value in BASE.items():
    builder = builder.config(key, value)
spark = manifest_committer.configure_builder(builder).getOrCreate()
spark.range(0, 100, 1, 2).write.parquet(path)
report = manifest_committer.read_report(spark, path)
answer = {
    "jars": spark.sparkContext.getConf().get("spark.jars").split(","),
    "rows": spark.read.parquet(path).distinct().count(),
    "files": report.files,
    "bytes": report.bytes,
}
spark.stop()
print(json.dumps(answer))
