"""How the tests start Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import stores
from pyspark.sql import SparkSession

import manifest_committer

PROGRAMS = Path(__file__).parent / "programs"

# Whatever one session sets is named here with its default: the settings of the first session become
# system properties of the JVM that all of them share.
BASE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.pythonUDF.arrow.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.executor.memory": "1g",
    "spark.task.maxFailures": "3",
    "spark.speculation": "false",
    "spark.serializer": "org.apache.spark.serializer.JavaSerializer",
    "spark.kryo.registrationRequired": "false",
}

LOCAL_CLUSTER = "local-cluster[2,1,1024]"


@contextmanager
def started(
    master: str, scratch: Path, conf: dict[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session that is configured for our committer by the builder."""
    builder = SparkSession.builder.master(master).appName("manifest-committer-e2e")
    warehouse = stores.place(scratch) / "warehouse"
    settings = {**BASE, **stores.conf(), **(conf or {}), "spark.sql.warehouse.dir": str(warehouse)}
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = manifest_committer.configure_builder(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def settings(spark: SparkSession, conf: dict[str, str]) -> Iterator[None]:
    """Sets session options for the length of a block."""
    before = {key: spark.conf.get(key, None) for key in conf}
    for key, value in conf.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)


def run_program(name: str, *arguments: str) -> Any:
    """Runs ``programs/<name>`` in a process of its own; its last line of output is JSON."""
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / name), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROGRAMS.parent), *sys.path])},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{name} failed:\n{done.stdout}\n{done.stderr[-8000:]}"
    return json.loads(done.stdout.strip().splitlines()[-1])
