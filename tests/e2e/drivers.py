# SPDX-License-Identifier: Apache-2.0
"""Drivers in processes of their own, which are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import stores
from sessions import PROGRAMS, environment
from tables import Row, Table


class Output(NamedTuple):
    """What ``programs/write.py`` writes: one row a file."""

    files: int = 60
    partitions: int = 10

    def rows(self) -> list[Row]:
        return [(f"new-{i}", i % self.partitions) for i in range(self.files)]


SMALL = Output()
NEW = SMALL.rows()


def told(program: subprocess.Popen[str]) -> str:
    assert program.stderr is not None
    return program.stderr.read()


def kill(
    table: Table,
    mode: str,
    conf: dict[str, str],
    when: Callable[[], bool],
    output: Output = SMALL,
) -> None:
    """Starts a write, by default of ``NEW``, and kills its driver as soon as something is so."""
    program = subprocess.Popen(
        [
            *(sys.executable, str(PROGRAMS / "write.py"), str(table.path), mode),
            *map(str, output),
            json.dumps({**stores.conf(), **conf}),
        ],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while not when():
            assert program.poll() is None, f"it ended by itself:\n{told(program)}"
            time.sleep(0.01)
    finally:
        # The JVM is a child of it.
        os.killpg(program.pid, 9)
        program.communicate()
