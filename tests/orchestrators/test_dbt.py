# SPDX-License-Identifier: Apache-2.0
"""The recipe for dbt, by dbt: a model in DuckDB, which reads the table's files."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import Lake

duckdb = pytest.importorskip("duckdb", reason="runs in the environment of dbt")

FILES = {
    "dbt_project.yml": "name: lake\nprofile: lake\nmodel-paths: [models]\n",
    "profiles.yml": "lake: {{target: x, outputs: {{x: {{type: duckdb, path: '{folder}/x.db'"
    "}}}}}}\n",
    "models/sources.yml": "sources: [{{name: lake, tables: [{{name: sales, config: {{meta: "
    "{{external_location: \"read_parquet('{folder}/sales/*.parquet')\"}}}}}}]}}]\n",
    "models/sold.sql": "select '{{{{ var(\"day\") }}}}' as day, count(*) as n "
    "from {{{{ source('lake', 'sales') }}}}\n",
}


def test_dbt(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    (lake.folder / "models").mkdir()
    for name, text in FILES.items():
        (lake.folder / name).write_text(text.format(folder=lake.folder))
    monkeypatch.setenv("DBT_PROFILES_DIR", str(lake.folder))
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    own = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{own}")
    script = lake.recipe("nightly-dbt.sh", **{"--timeout 2h": "--timeout 0s"})

    def run() -> int:
        return subprocess.run(["sh", "-c", script, "nightly-dbt.sh", "2026-01-31"]).returncode

    assert run() == 3
    assert not (lake.folder / "x.db").exists(), "dbt did not run"
    lake.write("--conf", "spark.hadoop.mapreduce.manifest.committer.commit.id=sales-2026-01-31")
    assert run() == 0
    with duckdb.connect(str(lake.folder / "x.db")) as database:
        assert database.execute("select day, n from sold").fetchall() == [("2026-01-31", 5)]
