# SPDX-License-Identifier: Apache-2.0
"""A session as PySpark ships it: asked for its committers, repaired by what the answer names."""

import json
import sys
from dataclasses import asdict

from sessions import builder, quiet

import manifest_committer as mc
from manifest_committer import _jvm

paths = sys.argv[1:]
spark = quiet(builder())


def ask():
    return {path: mc.committer_info(spark, path) for path in paths}


before = ask()
answer = {
    "before": {path: asdict(info) for path, info in before.items()},
    "jar before": _jvm.open_session(spark).loaded_jar(),
}

# The problems' own repairs, one by one; those that need a connector stay.
session = _jvm.open_session(spark)
hadoop = spark.sparkContext._jsc.hadoopConfiguration()
for info in before.values():
    repairs = [problem.repair for problem in info.problems]
    for repair in repairs:
        if repair.jar is not None and repair.jar.endswith(".jar"):
            session.add_jar(repair.jar)
            session.share_jar(lambda jar=repair.jar: jar)
    for key, value in [item for repair in repairs for item in repair.settings.items()]:
        if key.startswith("spark."):
            spark.conf.set(key, value)
        else:
            hadoop.set(key, value)
after_repairs = ask()
# abfss is no part of either path: what remains of it is a warning.
answer["repaired"] = {
    path: [problem.code for problem in info.problems if problem.severity == "error"]
    for path, info in after_repairs.items()
}

mc.configure_session(spark)
after = ask()
answer["after"] = {path: asdict(info) for path, info in after.items()}
answer["text"] = {path: str(info) for path, info in after.items()}
spark.stop()
print(json.dumps(answer))
