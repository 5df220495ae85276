# SPDX-License-Identifier: Apache-2.0
"""Writes numbered rows ``new-N`` into partitions, one row a file, with the settings it is given.

Its arguments: the table, the save mode, the number of files, that of partitions, Spark's settings
as JSON. It never says that it is done: it is started to be killed. With jars among the settings,
these are all that it gets.
"""

import json
import sys

from sessions import builder

import manifest_committer

path, mode, files, partitions, settings = sys.argv[1:]
made = builder(json.loads(settings))
if "spark.jars" not in json.loads(settings):
    made = manifest_committer.configure_builder(made)
spark = made.getOrCreate()
ids = spark.range(0, int(files), 1, int(files) // int(partitions))
rows = ids.selectExpr("concat('new-', id) AS value", f"cast(id % {partitions} AS int) p")
rows.write.mode(mode).partitionBy("p").parquet(path)
