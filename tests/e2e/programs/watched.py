# SPDX-License-Identifier: Apache-2.0
"""Writes a table slowly, by a limit on requests, and asks how far it is; in a JVM of its own.

Arguments: the table, a directory for the event log and the metrics, another one for reports, how
the session gets our jar (``builder``, or ``add-jar`` while it runs), and for a job of 100,000 files
in a simulated store the jar that has it.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import manifest_committer as mc

PARTITIONS = 60


def main(table: str, scratch: str, reports: str, binding: str, wide: str = "") -> dict[str, Any]:
    events, metrics = Path(scratch, "events"), Path(scratch, "metrics")
    events.mkdir()
    metrics.mkdir()
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "true",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.as_uri(),
        "spark.eventLog.compress": "false",
        "spark.metrics.conf.driver.sink.csv.class": "org.apache.spark.metrics.sink.CsvSink",
        "spark.metrics.conf.driver.sink.csv.directory": str(metrics),
        "spark.metrics.conf.driver.sink.csv.period": "1",
        "spark.metrics.conf.driver.sink.csv.unit": "seconds",
        "spark.hadoop.mapreduce.manifest.committer.io.rate": "20",
        "spark.hadoop.mapreduce.manifest.committer.directory.rename": "off",
        "spark.hadoop.mapreduce.manifest.committer.summary.report.directory": reports,
    }
    builder = SparkSession.builder.master("local[2]").appName("watched")
    for key, value in conf.items():
        builder = builder.config(key, value)
    if wide:
        builder = builder.config("spark.jars", wide)
    if binding == "builder":
        spark = mc.configure_builder(builder).getOrCreate()
    else:
        spark = builder.getOrCreate()
        mc.configure_session(spark)
    spark.sparkContext.setLogLevel("ERROR")
    places = mc.committer_info(spark, table).watching

    over = threading.Event()
    seen: list[mc.Commit] = []

    def watch() -> None:
        while not over.wait(0.1):
            seen.extend(one for one in mc.commits(spark) if one.state == "running")

    watcher = threading.Thread(target=watch)
    watcher.start()
    if wide:
        files = int(spark._jvm.io.manifestcommitter.bench.WideCommit.run("watched", "5"))
    else:
        rows = spark.range(PARTITIONS, numPartitions=1).selectExpr("id", "id AS p")
        rows.write.partitionBy("p").parquet(table)
        files = len(list(Path(table).glob("p=*/part-*")))
    over.set()
    watcher.join()
    (ended,) = mc.commits(spark)
    jobs = [] if wide else [row.asDict() for row in mc.history(spark, reports).collect()]
    spark.stop()
    return {
        "renames": [one.done for one in seen if one.step == "rename_files" and one.total],
        "lines": [str(one) for one in seen],
        "state": ended.state,
        "requests": ended.requests,
        "seconds": ended.millis / 1000,
        "files": files,
        "jobs": jobs,
        "places": {name: [place.shown, place.how] for name, place in places.items()},
    }


print(json.dumps(main(*sys.argv[1:])))
