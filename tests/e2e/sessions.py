# SPDX-License-Identifier: Apache-2.0
"""How the tests start Spark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jvm
import pyspark
import stores
from pyspark.sql import SparkSession

import manifest_committer

KINDS = ("classic", "connect")
"""Of sessions; the second is a client of a Spark Connect server, which is in a JVM of this run."""

CONNECT_JAR = "MANIFEST_COMMITTER_CONNECT_JAR"
"""Where the environment names the server of Spark 3.5; Spark 4 has it among its own jars."""

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
    # To compile a query takes longer than a hundred rows do.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.executor.memory": "1g",
    "spark.executor.extraJavaOptions": jvm.options(),
    "spark.task.maxFailures": "3",
    "spark.speculation": "false",
    "spark.serializer": "org.apache.spark.serializer.JavaSerializer",
    "spark.kryo.registrationRequired": "false",
}

LOCAL_CLUSTER = "local-cluster[2,1,1024]"

_OF_CONNECT = {
    "SPARK_TESTING",
    "SPARK_REMOTE",
    "SPARK_LOCAL_REMOTE",
    "SPARK_LOCAL_CONNECT",
    "SPARK_CONNECT_MODE_ENABLED",
}
"""What PySpark and `_connected` leave in the environment while a Connect session is open."""

_kind = KINDS[0]


def choose(kind: str) -> None:
    global _kind
    _kind = kind


def is_connect() -> bool:
    """Whether this run's sessions are clients of a Spark Connect server."""
    return _kind == "connect"


@contextmanager
def started(
    master: str, scratch: Path, conf: dict[str, str] | None = None
) -> Iterator[SparkSession]:
    """A session that is configured for our committer; with Connect after it was made."""
    session = (_connected if is_connect() else _classic)(master, _settings(scratch, conf or {}))
    if stores.is_one_of([stores.LAKEFS]):
        session.catalog.listDatabases()  # Makes the warehouse's directory.
        stores.settle()
    try:
        yield session
    finally:
        session.stop()


def _settings(scratch: Path, conf: dict[str, str]) -> dict[str, str]:
    warehouse = stores.place(scratch) / "warehouse"
    return {**BASE, **stores.conf(), **conf, "spark.sql.warehouse.dir": str(warehouse)}


def builder(conf: dict[str, str] | None = None, master: str = "local[2]") -> Any:
    """Of a classic session, with what all sessions of these tests set."""
    made = SparkSession.builder.master(master).appName("manifest-committer-e2e")
    for key, value in {**BASE, **(conf or {})}.items():
        made = made.config(key, value)
    return made


def quiet(builder: Any) -> SparkSession:
    """The session of a classic builder."""
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _classic(master: str, settings: dict[str, str]) -> SparkSession:
    return quiet(manifest_committer.configure_builder(builder(settings, master)))


def _connected(master: str, settings: dict[str, str]) -> SparkSession:
    """The client of a server that starts with it, on a port of its own, and ends with it."""
    os.environ["SPARK_TESTING"] = "1"  # Else the port is always the same.
    settings = {**settings, "spark.connect.grpc.binding.address": "127.0.0.1"}
    if pyspark.__version__.startswith("3."):
        settings["spark.jars"] = os.environ[CONNECT_JAR]
    builder = SparkSession.builder.remote(master)
    for key, value in settings.items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        # The client cannot set for a session what the server's start has taken.
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    manifest_committer.configure_session(session)
    return session


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


def add_stand_in(spark: SparkSession, name: str, scratch: Path) -> Path:
    """Gives a running session the classes of one of the programs in ``standin``; their jar."""
    stores.compile_stand_in(name, scratch / name)
    archive = Path(shutil.make_archive(str(scratch / name), "zip", scratch / name))
    jar = archive.rename(archive.with_suffix(".jar"))
    spark.sql(f"ADD JAR '{jar}'")
    return jar


def environment() -> dict[str, str]:
    """Of a process that starts a session of its own, a classic one; it imports what we do."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_CONNECT}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(PROGRAMS.parent), *sys.path])}


def run_program(name: str, *arguments: str) -> Any:
    """Runs ``programs/<name>`` in a process of its own; its last line of output is JSON."""
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / name), *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{name} failed:\n{done.stdout}\n{done.stderr[-8000:]}"
    return json.loads(done.stdout.strip().splitlines()[-1])
