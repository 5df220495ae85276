# SPDX-License-Identifier: Apache-2.0
"""Copies of our package that cannot configure a session, and what they say about it."""

import importlib
import json
import sys

from sessions import builder, quiet

scratch, spark_jars, *packages = sys.argv[1:]
spark = quiet(builder({"spark.jars": spark_jars}))

errors = []
for package in packages:
    for module in [name for name in sys.modules if name.startswith("manifest_committer")]:
        del sys.modules[module]
    sys.path.insert(0, package)
    ours = importlib.import_module("manifest_committer")
    try:
        print(ours.configure_session(spark))
    except ours.ManifestCommitterError as error:
        errors.append([type(error).__name__, str(error)])
spark.range(10).write.parquet(scratch + "/plain")
answer = {"errors": errors, "rows": spark.read.parquet(scratch + "/plain").count()}
spark.stop()
print(json.dumps(answer))
