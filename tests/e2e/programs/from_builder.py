# SPDX-License-Identifier: Apache-2.0
"""A session from the builder, which already has a jar: writes a table and reads its report."""

import json
import sys

from sessions import builder

import manifest_committer

path, other_jar = sys.argv[1:]
made = builder({"spark.jars": other_jar})
spark = manifest_committer.configure_builder(made).getOrCreate()
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
