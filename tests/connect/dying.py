# SPDX-License-Identifier: Apache-2.0
"""A classic driver that writes slowly, to be killed; arguments: the table."""

import sys

from pyspark.sql import SparkSession

import manifest_committer as mc

builder = SparkSession.builder.master("local[1]").appName("dying")
for key, value in {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.hadoop.mapreduce.manifest.committer.heartbeat.interval": "500ms",
    "spark.hadoop.mapreduce.manifest.committer.io.rate": "10",
    "spark.hadoop.mapreduce.manifest.committer.directory.rename": "off",
}.items():
    builder = builder.config(key, value)
spark = mc.configure_builder(builder).getOrCreate()
rows = spark.range(60, numPartitions=1).selectExpr("id", "id AS p")
rows.write.mode("append").partitionBy("p").parquet(sys.argv[1])
