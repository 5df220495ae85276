# SPDX-License-Identifier: Apache-2.0
"""The recipe for Dagster, by Dagster: its sensor is evaluated, and what it asks for is run."""

from __future__ import annotations

import runpy
import subprocess
from typing import Any

import pytest
from conftest import Lake

dg = pytest.importorskip("dagster", reason="runs in the environment of Dagster")


def test_dagster(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    program = lake.folder / "definitions.py"
    program.write_text(lake.recipe("import dagster"))
    recipe = runpy.run_path(str(program))
    defs = recipe["defs"]
    sensor, job = defs.get_sensor_def("sales_committed"), defs.get_job_def("load")

    def look(cursor: str | None) -> Any:
        with dg.DagsterInstance.ephemeral() as instance:
            context = dg.build_sensor_context(instance, cursor=cursor, definitions=defs)
            return sensor.evaluate_tick(context)

    early = look(None)
    assert (early.run_requests, early.skip_message, early.cursor) == ([], "no new commit", None)

    lake.write()
    first = look(early.cursor)
    assert len(first.run_requests) == 1
    assert look(first.cursor).run_requests == []
    assert job.execute_in_process().success
    assert lake.lines("loads") == [str(lake.table)]

    lake.write()
    second = look(first.cursor)
    assert second.cursor > first.cursor
    assert {one.run_key for one in first.run_requests}.isdisjoint(
        one.run_key for one in second.run_requests
    )
    assert lake.lines("looks") == ["3", "0", "3", "0"]

    monkeypatch.setenv("JAVA_HOME", "/no/jdk")
    with pytest.raises(subprocess.CalledProcessError, match="exit status 1"):
        look(second.cursor)
