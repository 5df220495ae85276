# SPDX-License-Identifier: Apache-2.0
"""Sessions with Spark's own bindings to Hadoop's committers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import sessions
import stores
from pyspark import SparkContext
from pyspark.sql import SparkSession

import manifest_committer


@contextmanager
def with_stock_bindings(master: str, scratch: Path, conf: dict[str, str]) -> Iterator[SparkSession]:
    """A session with our jar and Spark's own bindings, in a JVM of its own.

    There from the start, the bindings are found as in an installation. Spark 4 makes them its
    default as soon as it sees them, so no other test may have them.
    """
    jar = stores.CONNECTORS / "spark-hadoop-cloud.jar"
    assert jar.is_file(), f"{jar} is missing; make test-spark-{pyspark.__version__} fetches it"
    _end_jvm()
    conf = {**conf, "spark.jars": f"{manifest_committer.jar_path()},{jar}"}
    session = sessions.quiet(sessions.builder(sessions._settings(scratch, conf), master))
    try:
        yield session
    finally:
        session.stop()
        _end_jvm()


def _end_jvm() -> None:
    """Ends the JVM that PySpark has started, if any; the next session starts another."""
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None
