# SPDX-License-Identifier: Apache-2.0
"""Two attempts of one task at once.

Spark starts no second attempt on the host of the first, and local-cluster has one host only. Here
the cluster is Spark's standalone one, with two workers that give this machine two names.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import faults
import pytest
from pyspark.sql import SparkSession
from sessions import settings, started
from tables import Table


class Daemons:
    """Spark's master and workers, each a process with a log."""

    def __init__(self, stack: ExitStack, home: Path, scratch: Path) -> None:
        self._stack = stack
        self._home = home
        self._scratch = scratch

    def start(self, name: str, ready: str, *command: str) -> str:
        """Starts ``name``, and returns the group of ``ready`` once its log has it."""
        log = self._scratch / f"{name}.log"
        options = "-Dspark.master.rest.enabled=false"
        with log.open("w") as sink:
            process = subprocess.Popen(
                [str(self._home / "bin" / "spark-class"), *command],
                env={**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_MASTER_OPTS": options},
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        deadline = time.monotonic() + 60
        while not (found := re.search(ready, log.read_text("utf-8"))):
            assert process.poll() is None, f"{name} ended:\n{log.read_text('utf-8')}"
            assert time.monotonic() < deadline, f"{name} hangs:\n{log.read_text('utf-8')}"
            time.sleep(0.05)
        return found.group(1)

    def master(self) -> str:
        main = "org.apache.spark.deploy.master.Master"
        arguments = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        return self.start("master", r"Starting Spark master at (spark://\S+)", main, *arguments)

    def worker(self, host: str, master: str) -> None:
        main = "org.apache.spark.deploy.worker.Worker"
        arguments = ("--host", host, "--port", "0", "--webui-port", "0", "--cores", "1")
        room = ("--memory", "1g", "--work-dir", str(self._scratch / f"work-{host}"))
        self.start(f"worker-{host}", r"(Successfully registered)", main, *arguments, *room, master)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, spark_home: Path) -> Iterator[SparkSession]:
    scratch = tmp_path_factory.mktemp("standalone")
    with ExitStack() as stack:
        daemons = Daemons(stack, spark_home, scratch)
        master = daemons.master()
        daemons.worker("127.0.0.1", master)
        daemons.worker("localhost", master)
        conf = {
            "spark.speculation": "true",
            "spark.speculation.interval": "50ms",
            "spark.speculation.quantile": "0.5",
            "spark.speculation.multiplier": "0.1",
            "spark.speculation.minTaskRuntime": "0ms",
        }
        yield stack.enter_context(started(master, scratch, conf))


def running_tasks(spark: SparkSession) -> int:
    """The attempts that no executor has reported as ended; a killed one counts until it is."""
    executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return sum(executor.numRunningTasks() for executor in executors)


@pytest.mark.once
@pytest.mark.classic(because="the driver joins a cluster that the test starts")
def test_speculation(new_table: Callable[..., Table], tmp_path: Path) -> None:
    table = new_table(partition_by=["p"])
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    with settings(table.spark, {"spark.sql.maxConcurrentOutputFileWriters": "10"}):
        table.save(faults.numbered(table.spark, faults.waiting_for_speculation(meeting)), "append")
    # The attempt that lost may notice only after the job has ended that it was killed: until then
    # it may make directories again, which it then removes.
    faults.wait_until(lambda: running_tasks(table.spark) == 0)
    table.check_report()
    assert {"attempt-0", "attempt-1"} <= {entry.name for entry in meeting.iterdir()}
    assert table.rows() == faults.numbered_rows()
