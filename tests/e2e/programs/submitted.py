# SPDX-License-Identifier: Apache-2.0
"""Started by spark-submit: a session that knows of the committer only by the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

table = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
spark.range(100).write.orc(table)
report = json.loads((Path(table) / "_SUCCESS").read_text("utf-8"))
print(json.dumps({"rows": spark.read.orc(table).count(), "committer": report["committer"]}))
