# SPDX-License-Identifier: Apache-2.0
"""Stops Spark while an append makes its files visible; tells how the write ended.

Its argument: the table, which is there.
"""

from __future__ import annotations

import json
import sys
import threading

from cancelling import SLOW, numbers, progress
from faults import PATIENCE, wait_until
from sessions import builder, quiet

import manifest_committer as mc

(table,) = sys.argv[1:]
spark = quiet(mc.configure_builder(builder()))
process = mc._jvm.open_process()
assert process is not None
failures = []


def append() -> None:
    try:
        numbers(spark).write.options(**SLOW).mode("append").partitionBy("p").parquet(table)
    except Exception as error:
        failures.append(str(error))


writer = threading.Thread(target=append)
writer.start()
wait_until(lambda: progress(mc.commits(spark), table) >= 5)
spark.stop()
writer.join(PATIENCE)
assert not writer.is_alive()
ended = [one for one in process.commits() if one["kind"] == "commit"]
print(json.dumps({"failures": failures, "states": [one["state"] for one in ended]}))
