# SPDX-License-Identifier: Apache-2.0
"""The recipe for Airflow, by Airflow: in a database of its own, each task in turn."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import Lake

pytest.importorskip("airflow", reason="runs in the environment of Airflow")

RUN = """
run = dag.test(logical_date=datetime(2026, 1, 31, tzinfo=timezone.utc))
print("ended", run.state)
"""


def test_airflow(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    dags = lake.folder / "dags"
    dags.mkdir()
    monkeypatch.setenv("AIRFLOW_HOME", str(lake.folder / "airflow"))
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(dags))
    monkeypatch.setenv("AIRFLOW__CORE__LOAD_EXAMPLES", "False")
    program = dags / "sales.py"
    program.write_text(lake.recipe("import BashSensor", **{"poke_interval=60": "poke_interval=1"}))
    (lake.folder / "run.py").write_text(f"{program.read_text()}\n{RUN}")
    subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], check=True)

    def run() -> str:
        command = [sys.executable, str(lake.folder / "run.py")]
        ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return ran.stdout.splitlines()[-1]

    assert run() == "ended success"
    assert lake.lines("looks") == ["3", "0"], "the second one, after the sensor was rescheduled"
    assert lake.lines("loads") == [f"{lake.table} 2026-01-31"]
    assert lake.rows() == 5

    # The day is run again, as somebody does who clears it.
    lake.write("--conf", "spark.hadoop.mapreduce.manifest.committer.commit.id=sales-2026-01-31")
    assert run() == "ended success"
    assert lake.lines("looks") == ["3", "0", "0"]
    assert lake.rows() == 5

    # A wrong setting is no commit that is late.
    monkeypatch.setenv("JAVA_HOME", "/no/jdk")
    assert run() == "ended failed"
    assert lake.lines("looks")[3:] == ["1"]
    assert len(lake.lines("loads")) == 2
