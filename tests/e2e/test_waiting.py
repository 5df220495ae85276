# SPDX-License-Identifier: Apache-2.0
"""Waits for commits, and what each command of the command line ends with."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import jvm
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from sessions import settings
from tables import Row, Table

import manifest_committer as mc
from manifest_committer import _jvm, cli, session

ID = "mapreduce.manifest.committer.commit.id"
HOLD = {"mapreduce.manifest.committer.publish": "hold"}
REPORTS = "mapreduce.manifest.committer.summary.report.directory"
ROWS: list[Row] = [("a", 1), ("b", 2)]
PAGE = Path(__file__).parents[2] / "docs" / "using" / "orchestrators.md"
COMMAND = [sys.executable, "-m", "manifest_committer", "wait"]
FAST = {"JAVA_TOOL_OPTIONS": jvm.OPTIONS}


@pytest.mark.local_disk
@pytest.mark.classic(because="the command line has a JVM of its own, and no session")
def test_a_command_that_waits_before_the_job_ends(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    command = [*COMMAND, str(table.path), "--commit-id", "day", "--interval", "100ms", "--json"]
    waits = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **FAST},
        start_new_session=True,
    )
    try:
        assert waits.stderr is not None
        for line in waits.stderr:
            if "still waiting: there is no _SUCCESS" in line:
                break
        assert waits.poll() is None
        fails = udf(lambda _: 1 // 0, "int")
        with pytest.raises(Exception, match="ZeroDivisionError"):
            table.frame(ROWS).select(fails("p").alias("p")).write.option(ID, "day").parquet(
                str(table.path)
            )
        assert waits.poll() is None
        table.save(ROWS, "append", **{ID: "day"})
        out, _ = waits.communicate(timeout=240)
    finally:
        waits.kill()
    report = mc.read_report(table.spark, table.path)
    assert waits.returncode == 0
    with pytest.raises(ProcessLookupError):  # Its JVM has ended, too.
        os.killpg(waits.pid, 0)
    assert out == f'{{"table":"{table.path}","jobId":"{report.job_id}","at":{report.timestamp}}}\n'
    late = subprocess.run(
        [*COMMAND, str(table.path), "--after", str(report.timestamp), "--timeout", "0s"],
        check=False,
        env={**os.environ, **FAST},
    )
    assert late.returncode == 3


@pytest.mark.core
def test_a_session_waits(new_table: Callable[..., Table]) -> None:
    table = new_table(partition_by=["p"])
    spark, path = table.spark, str(table.path)

    def wait(timeout: float = 0, **awaited: Any) -> mc.SuccessReport | None:
        return mc.wait_for(spark, path, timeout=timeout, interval=0.1, **awaited)

    with pytest.raises(mc.WaitTimeoutError, match="there is no _SUCCESS"):
        wait(commit_id="day")
    found: list[mc.SuccessReport | None] = []
    waits = threading.Thread(target=lambda: found.append(wait(240, commit_id="day")))
    waits.start()
    table.save(ROWS, "append", **{ID: "day"})
    waits.join(240)
    first = mc.read_report(spark, path)
    assert found == [first]
    assert wait(job=first.job_id) == first
    ended = datetime.fromtimestamp(first.timestamp / 1000, timezone.utc)
    assert wait(after=ended - timedelta(seconds=1)) == first
    with pytest.raises(mc.WaitTimeoutError, match=f"of job {first.job_id}, was made at"):
        wait(after=first.timestamp)

    # The same write again publishes nothing: its identity is there, and no newer report.
    table.save(ROWS, "append", **{ID: "day"})
    assert table.rows() == Counter(ROWS)
    assert wait(commit_id="day") == first
    with pytest.raises(mc.WaitTimeoutError):
        wait(after=first.timestamp)

    # Another job hides the report, and not the identity.
    table.save(ROWS, "append")
    second = wait(after=first.timestamp)
    assert second is not None
    assert wait(commit_id="day") is None
    with pytest.raises(mc.WaitTimeoutError, match=f"the last one is of job {second.job_id}"):
        wait(job=first.job_id)
    with pytest.raises(mc.WaitTimeoutError, match=r"does not have that commit\.id"):
        wait(commit_id="other")


@pytest.mark.local_disk
def test_a_commit_that_keeps_what_it_replaced_or_has_not_ended(
    new_table: Callable[..., Table],
) -> None:
    table = new_table(partition_by=["p"])
    spark, path = table.spark, str(table.path)
    table.save(ROWS, "append")
    keep = {"mapreduce.manifest.committer.keep.replaced": "1h"}
    table.save(ROWS, "overwrite", **{ID: "day", **keep})
    job = mc.read_report(spark, path).job_id
    table.save(ROWS, "append")
    staging = table.path / f"_manifest_{job}"
    assert staging.exists(), "it keeps what it replaced"
    os.utime(staging / "heartbeat", (1, 1))
    assert mc.wait_for(spark, path, commit_id="day", timeout=0) is None
    (ends,) = (staging / "00").glob("journal-*")
    ends.rename(staging / "00" / "journal-committed-0")
    with pytest.raises(mc.WaitTimeoutError, match=f"its job {job} has not ended its commit"):
        mc.wait_for(spark, path, commit_id="day", timeout=0)


class InJvm:
    """Runs the programs of the jar in the JVM of a session: each start of one costs a second."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.driver = _jvm.open_classic(spark)

    def run(self, main_class: str, *arguments: str) -> tuple[int, str]:
        """What it ends with, and prints."""
        jvm: Any = self._spark._jvm
        gateway: Any = self._spark.sparkContext._gateway
        out, err = (jvm.java.io.ByteArrayOutputStream() for _ in range(2))
        (maker,) = self.driver._loader().loadClass(main_class).getDeclaredConstructors()
        maker.setAccessible(True)
        streams = gateway.new_array(jvm.java.lang.Object, 2)
        for index, stream in enumerate((out, err)):
            streams[index] = jvm.java.io.PrintStream(stream, True)
        program = maker.newInstance(streams)
        given = gateway.new_array(jvm.java.lang.String, len(arguments))
        for index, argument in enumerate(arguments):
            given[index] = argument
        return int(program.run(given)), str(out.toString())

    def process(
        self, main_class: str, options: list[str], parsed: Any, _: int | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        arguments = [*options, *cli._settings(parsed), *parsed.paths]
        code, out = self.run(main_class, *arguments)
        return subprocess.CompletedProcess(arguments, code, out.encode())

    @contextmanager
    def stream(self, main_class: str, options: list[str], parsed: Any) -> Iterator[Any]:
        ran = self.process(main_class, options, parsed)
        stdout = io.BytesIO(ran.stdout)
        yield types.SimpleNamespace(stdout=stdout, returncode=ran.returncode)

    @contextmanager
    def own(self, *_: Any) -> Iterator[Any]:
        yield self.driver


def documented() -> dict[str, tuple[str, dict[int, str]]]:
    """What the page says of each command: its program, and what each code means."""
    rows = re.findall(
        r"^\| (`manifest-committer .*?) \| (\S*) ?\| (.*?) \| (.*?) \|$",
        PAGE.read_text("utf-8"),
        flags=re.MULTILINE,
    )
    return {
        command: (program.strip("`"), {0: good, 1: bad})
        for commands, program, good, bad in rows
        for command in re.findall(r"`manifest-committer (\S+)`", commands)
    }


@pytest.mark.once
@pytest.mark.local_disk
@pytest.mark.classic(because="needs a driver in this process")
def test_each_command_ends_as_the_page_says(
    new_table: Callable[..., Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(partition_by=["p"])
    path, missing, reports = str(table.path), str(tmp_path / "none"), str(tmp_path / "reports")
    with settings(table.spark, {REPORTS: reports}):
        table.save(ROWS, "append", **{ID: "day"})
    for _ in range(2):
        table.save(ROWS, "append", **HOLD)
    published, discarded = (job.job_id for job in mc.held(table.spark, path))
    in_jvm = InJvm(table.spark)
    monkeypatch.setattr(cli, "_java_process", in_jvm.process)
    monkeypatch.setattr(cli, "_java_stream", in_jvm.stream)
    monkeypatch.setattr(_jvm, "own_jvm", in_jvm.own)

    def run(line: str) -> int:
        try:
            return cli.main(line.split())
        except SystemExit as ended:  # Of wrong usage.
            return int(str(ended.code))

    lines = {
        "print": (path, missing),
        "info": (f"file:{path}", "gs://bucket/table"),
        "history": (reports, missing),
        "report": (f"{path} --html {tmp_path}/x.html", f"{missing} --html {tmp_path}/x.html"),
        "recover": (path, missing),
        "clean": (f"{path} --dry-run", missing),
        "ids": (f"{path} --id day", f"{path} --id other"),
        "held": (path, missing),
        "publish": (f"{path} {published}", f"{path} none"),
        "discard": (f"{path} {discarded}", f"{path} {published}"),
        "wait": (f"{path} --commit-id day", "nofs://host/table --commit-id day"),
        "files": (path, missing),
        "verify-store": (None, "nofs://host/table"),  # Those of the connectors have stores.
        "jar": ("", None),
        "conf": ("local", None),
        "completion": ("bash", None),
    }
    page = documented()
    assert page.keys() == lines.keys() == {command.name for command in cli._COMMANDS}
    for command, (good, bad) in lines.items():
        for code, line in ((0, good), (1, bad)):
            if line is not None:
                assert page[command][1][code], command
                assert run(f"{command} {line}") == code, f"{command} {line}"
        assert run(f"{command} --no-such") == 2, command
    assert run(f"wait {path} --commit-id other --timeout 0s") == 3
    assert run(f"clean {path} --older-than soon") == 2
    assert run(f"print {missing} {path}") == 1, "the largest counts"
    for command in ("print", "history", "recover", "clean", "ids", "held", "files"):
        assert run(f"{command} {missing} --missing-ok") == 0, command
    monkeypatch.setattr(session, "_package_directory", lambda: tmp_path / "no-package")
    assert run("jar") == 1

    programs = {
        "ManifestPrinter": (path, missing),
        "Recover": (path, missing),
        "Clean": (f"--dry-run {path}", missing),
        "Ask": (f"--question files {path}", f"--question files {missing}"),
        "CommitterInfo": (f"file:{path}", "gs://bucket/table"),
        "VerifyStore": (None, "nofs://host/table"),
    }
    assert programs.keys() == {program for program, _ in page.values() if program}
    for name, (good, bad) in programs.items():
        main_class = f"io.manifestcommitter.{'info' if name == 'CommitterInfo' else 'cli'}.{name}"
        wrong = ("--no-such", "", f"--properties-file {missing} {path}")
        for code, line in ((0, good), (1, bad), (0, "--help"), *((2, each) for each in wrong)):
            if line is not None:
                assert in_jvm.run(main_class, *line.split())[0] == code, f"{name} {line}"
