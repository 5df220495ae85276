# SPDX-License-Identifier: Apache-2.0
"""Settings by which a write gets its committer. For tests alone: the store has to be chosen."""

from __future__ import annotations

import stores

PROTOCOL = "spark.sql.sources.commitProtocolClass"
OURS = "io.manifestcommitter.spark.ManifestCommitProtocol"
SPARKS = "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
PROTOCOLS = {"ours": OURS, "sparks": SPARKS}
PARTITION_MODE = "spark.sql.sources.partitionOverwriteMode"
DYNAMIC = {PARTITION_MODE: "dynamic"}
FACTORY = f"mapreduce.outputcommitter.factory.scheme.{stores.scheme()}"
NO_FACTORY = {FACTORY: "org.apache.hadoop.mapreduce.lib.output.FileOutputCommitterFactory"}
"""For Spark's own protocol: our factory, bound for the store, would refuse to serve it."""
