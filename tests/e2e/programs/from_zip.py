# SPDX-License-Identifier: Apache-2.0
"""Started by spark-submit with the package in ``--py-files``: binds the committer, and writes.

Its arguments: the table, and whether it calls ``configure_session`` or ``configure_builder``.
"""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession

import manifest_committer as mc

table, how = sys.argv[1:]
added = None
if how == "configure_builder":
    spark = mc.configure_builder(SparkSession.builder).getOrCreate()
else:
    spark = SparkSession.builder.getOrCreate()
    added = mc.configure_session(spark).jar_added
spark.range(100).write.orc(table)
report = mc.read_report(spark, table)
session = mc._jvm.open_session(spark)
print(
    json.dumps(
        {
            "package": mc.__file__,
            "added": added,
            "loaded": session.loaded_jar().location,
            "ok": mc.committer_info(spark, table).ok,
            "files": report.files,
            "rows": spark.read.orc(table).count(),
        }
    )
)
