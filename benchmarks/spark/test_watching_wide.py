# SPDX-License-Identifier: Apache-2.0
"""A commit of 100,000 files on a slow store, as all those see it who watch.

The store is simulated in the driver's memory, and the job is driven by the calls that Spark makes,
without its tasks: that many files on a disk would take many minutes. ``make test-watched`` compiles
what is needed, and runs this in classic sessions and in those of Spark Connect.
"""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sessions
from notebooks import BY_BUILDER, MADE, Kernel
from pyspark.sql import SparkSession
from sessions import started
from test_watching import (
    check_event,
    check_metrics,
    check_notebook,
    check_terminal,
    check_values,
    watch,
)

import manifest_committer as mc

CLASSES = Path(__file__).parents[2] / "benchmarks" / "target" / "classes"
WIDE = "io.manifestcommitter.bench.WideCommit"
FILES = 100_000
# Of each request to the store.
MILLIS = "5"

pytestmark = [pytest.mark.local_disk, pytest.mark.thorough]
in_this_process = pytest.mark.classic(because="looks at a driver in a process of its own")


@pytest.fixture(scope="module")
def wide_jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The simulated store, and the job."""
    assert (CLASSES / f"{WIDE.replace('.', '/')}.class").is_file(), "`make test-watched` makes it"
    jar = tmp_path_factory.mktemp("wide") / "wide.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for file in CLASSES.rglob("*.class"):
            archive.write(file, file.relative_to(CLASSES))
    return jar


@in_this_process
def test_in_a_terminal_by_a_listener_a_sink_and_another_thread(
    wide_jar: Path, tmp_path: Path
) -> None:
    watched = watch(tmp_path, "builder", str(wide_jar))
    seconds = watched.answer["seconds"]
    done = [int(value) for value in watched.metrics["files.done"]]
    bars = [text for text in watched.terminal.split("\r") if text.startswith("[Commit: rename")]
    print(f"\ncommitted in {seconds} s, {watched.answer['requests']:,} requests")
    print(f"thread: {len(watched.answer['renames'])} values, {watched.answer['lines'][-1]}")
    print(f"terminal: {len(bars)} bars, {bars[len(bars) // 2].strip()}")
    print(f"sink: files.done {done}")
    assert watched.files == FILES
    check_values(watched)
    check_terminal(watched)
    check_event(watched)
    check_metrics(watched)


@in_this_process
def test_in_a_notebook(wide_jar: Path) -> None:
    setup = f"{MADE}\nbuilder = builder.config('spark.jars', {str(wide_jar)!r})\n"
    write = f"spark._jvm.{WIDE}.run('notebook', '{MILLIS}')"
    kernel = Kernel(setup + BY_BUILDER, write, "spark.stop()")
    cells = kernel.run()
    shown = kernel.shown
    print(f"\nnotebook: {len(shown)} pages, {shown[len(shown) // 2]}, {shown[-1]}")
    check_notebook(shown, cells, FILES)
    (answer,) = [one for one in cells[1].outputs if one.output_type == "execute_result"]
    assert answer["data"]["text/plain"] == f"'{FILES}'"


@pytest.fixture(scope="module")
def client(wide_jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if not sessions.is_connect():
        pytest.skip("needs --session connect")
    with started("local[2]", tmp_path_factory.mktemp("session")) as session:
        session.addArtifact(str(wide_jar))
        yield session


def test_by_a_connect_client(client: SparkSession) -> None:
    answers: list[str] = []

    def commit() -> None:
        answers.append(mc._jvm.call_server(client, WIDE, "run", "connect", MILLIS))

    seen: list[mc.Commit] = []
    writer = threading.Thread(target=commit)
    writer.start()
    while writer.is_alive():
        seen.extend(one for one in mc.commits(client) if one.step == "rename_files" and one.total)
        writer.join(0.3)
    (ended,) = mc.commits(client)
    done = [one.done for one in seen]
    print(f"\nclient: {len(done)} values, {seen[len(seen) // 2]}, {ended}")
    assert answers == [str(FILES)]
    assert done == sorted(done)
    assert len(set(done)) > 2
    assert {one.total for one in seen} == {FILES}
    assert ended.state == "committed"
    assert ended.counters["committer_files_committed"] == FILES
