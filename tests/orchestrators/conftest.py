# SPDX-License-Identifier: Apache-2.0
"""What the recipes call: Spark and the command line, both real, and a `load-sales` that notes it.

They run in an environment of Airflow, Dagster or dbt. Spark is in another one, whose `bin` is in
``SPARK_BIN``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "tests" / "docs"))

from pages import blocks

PAGE = REPOSITORY / "docs" / "using" / "orchestrators.md"
SPARK_BIN = Path(os.environ["SPARK_BIN"]).resolve()
JOB = """
import sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
spark.range(5).write.mode("append").parquet(sys.argv[1])
"""
SUBMITS = """\
#!/bin/sh
# Submits a job, which runs later: as on a cluster that does not say when it ends.
echo "exec '{bin}/spark-submit' $*" > '{folder}/submitted'
"""
LOOKS = """\
#!/bin/sh
# Notes how a look ends. After one that was too early, the job that was submitted runs.
code=0
'{bin}/manifest-committer' "$@" || code=$?
echo "$code" >> '{folder}/looks'
if [ "$code" = 3 ] && [ -f '{folder}/submitted' ]; then sh '{folder}/submitted' >&2; fi
exit "$code"
"""
LOADS = """\
#!/bin/sh
echo "$*" >> '{folder}/loads'
"""


@dataclass(frozen=True)
class Lake:
    """A table, and the programs of the recipes."""

    folder: Path

    @property
    def table(self) -> Path:
        return self.folder / "sales"

    def recipe(self, beginning: str, **changes: str) -> str:
        """The block of the page that holds this, with the paths of this lake."""
        (text,) = (block.text for block in blocks(PAGE) if beginning in block.text)
        instead = {"gs://bucket/sales": str(self.table), " sales.py": f" {self.folder}/sales.py"}
        for old, new in {**instead, **changes}.items():
            text = text.replace(old, new)
        return text

    def lines(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text("utf-8").splitlines() if file.exists() else []

    def write(self, *settings: str) -> None:
        """Runs the job, now."""
        job = (str(self.folder / "sales.py"), str(self.table))
        subprocess.run([str(SPARK_BIN / "spark-submit"), *settings, *job], check=True)

    def rows(self) -> int:
        """By the rows that each file of Spark's says it has: five, from one write."""
        return 5 * len({part.name.split("-")[2] for part in self.table.glob("part-*")})


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (
        ("spark-submit", SUBMITS),
        ("manifest-committer", LOOKS),
        ("load-sales", LOADS),
    ):
        (programs / name).write_text(text.format(bin=SPARK_BIN, folder=tmp_path))
        (programs / name).chmod(0o755)
    (tmp_path / "sales.py").write_text(JOB)
    shown = subprocess.run(
        [str(SPARK_BIN / "manifest-committer"), "jar"], check=True, stdout=subprocess.PIPE
    )
    bound = (REPOSITORY / "spark-conf" / "local.conf").read_text("utf-8")
    settings = {
        "spark.jars": shown.stdout.decode().strip(),
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
    }
    lines = "".join(f"{key} {value}\n" for key, value in settings.items())
    (tmp_path / "spark-defaults.conf").write_text(bound + lines)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYSPARK_PYTHON", str(SPARK_BIN / "python"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return Lake(tmp_path)
