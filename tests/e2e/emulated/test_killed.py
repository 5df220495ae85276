# SPDX-License-Identifier: Apache-2.0
"""A driver that is killed while the store holds one of its requests, and what becomes of the table.

The request may still be done afterwards, before or after the table is recovered.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import drivers
import pytest
import stores
from drivers import NEW
from faults import wait_until
from tables import Row, Table

# The command line trusts the certificates that Java does, so none of the emulator's: not on abfss.
pytestmark = [pytest.mark.core, pytest.mark.only_on("abfs")]
thorough = pytest.mark.thorough

OLD: list[Row] = [(f"old-{i}", i % 10) for i in range(20)]
OPTION = "mapreduce.manifest.committer."
# One request after the other; else more of them would be on their way.
WRITE = {
    f"spark.hadoop.{OPTION}io.threads": "1",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
}
TIMEOUT = 2


@dataclass(frozen=True)
class Held:
    """A rename of a job commit."""

    mode: str
    to: str
    """An expression for the path it leads to, below the table."""
    call: int = 1
    marks: bool = False
    """It is the commit mark itself."""
    marked: bool = False
    """The commit is past its mark."""


HELD = {
    "first-aside": Held("overwrite", r"_manifest_[^/]*/00/old/0/[^/]*"),
    "middle-publish": Held("overwrite", r"p=[0-9]", call=5),
    "mark": Held("overwrite", r"_manifest_[^/]*/00/journal-committed-0", marks=True),
    "report": Held("overwrite", r"_SUCCESS", marked=True),
    "first-file": Held("append", r"p=[0-9]/part-[^/]*"),
    "middle-file": Held("append", r"p=[0-9]/part-[^/]*", call=31),
}


@pytest.fixture
def table(new_table: Callable[..., Table]) -> Table:
    table = new_table(partition_by=["p"])
    table.write(OLD, "append")
    return table


def kill_at(table: Table, control: stores.Control, held: Held) -> Callable[[], None]:
    """Kills a driver while that request of its is held; gives what lets the request go."""
    control.forget()
    is_held, release = control.hold("rename", path=f"{table.path.key}/{held.to}$", call=held.call)
    drivers.kill(table, held.mode, WRITE, is_held)
    return release


def is_answered(control: stores.Control) -> bool:
    """Whether the request that was held has been done by now."""
    return any(entry["cause"].lower() == "fault" for entry in control.log())


def recover(table: Table, *options: str) -> str:
    """What the console script prints."""
    command = [str(Path(sys.executable).with_name("manifest-committer")), "recover", *options]
    command += ["--class-path", str(stores.connector())]
    for key, value in stores.conf().items():
        command += ["--conf", f"{key}={value}"]
    done = subprocess.run(
        [*command, str(table.path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def rows(table: Table) -> Counter[Row]:
    """As a session sees them that has not seen the table before."""
    fresh = Table(table.spark.newSession(), table.path, table.schema)
    return fresh.rows()


def wanted(held: Held) -> Counter[Row]:
    """What the job was to make of the table."""
    return Counter(NEW if held.mode == "overwrite" else OLD + NEW)


@pytest.mark.parametrize(
    ("at", "is_done", "complete"),
    [
        ("middle-publish", True, False),
        *(
            pytest.param(at, is_done, complete, marks=thorough)
            for at in HELD
            for is_done in (True, False)
            for complete in (True, False)
            if (at, is_done, complete) != ("middle-publish", True, False)
        ),
    ],
)
def test_recovered(
    table: Table, control: stores.Control, at: str, is_done: bool, complete: bool
) -> None:
    held = HELD[at]
    release = kill_at(table, control, held)
    if is_done:
        release()
        wait_until(lambda: is_answered(control))

    printed = recover(table, "--force", *(["--complete"] if complete else []))

    is_new = complete or held.marked or (held.marks and is_done)
    assert ("completed; " if is_new else "rolled back; ") in printed
    expected = wanted(held) if is_new else Counter(OLD)
    assert rows(table) == expected
    table.check_nothing_left()
    release()
    assert rows(table) == expected
    assert "no unfinished commit" in recover(table)
    table.check_nothing_left()


@thorough
@pytest.mark.parametrize("at", ["middle-publish", "middle-file"])
def test_run_again(table: Table, control: stores.Control, at: str) -> None:
    """By a job that watches the dead driver's heartbeat stand still for some seconds."""
    held = HELD[at]
    kill_at(table, control, held)
    table.write(
        NEW,
        held.mode,
        **{
            f"{OPTION}heartbeat.interval": f"{TIMEOUT // 2}s",
            f"{OPTION}heartbeat.timeout": f"{TIMEOUT}s",
            "partitionOverwriteMode": "dynamic",
        },
    )
    assert rows(table) == wanted(held)
    control.repair()
    assert rows(table) == wanted(held)
    table.check_nothing_left()
