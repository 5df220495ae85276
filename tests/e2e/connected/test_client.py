# SPDX-License-Identifier: Apache-2.0
"""The package pyspark-client, which has neither Spark nor py4j, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession
from sessions import PROGRAMS, environment

CLIENT = "MANIFEST_COMMITTER_CLIENT"
"""Where the environment names the Python that has that package."""


@pytest.mark.skipif(
    pyspark.__version__.startswith("3."), reason="there is no such package of Spark 3.5"
)
def test_all_works_that_works_in_a_connect_session(spark: SparkSession, tmp_path: Path) -> None:
    server = f"sc://{spark.client._builder.endpoint}"
    kept = {name: text for name, text in environment().items() if name != "PYTHONPATH"}
    kept.pop("SPARK_HOME", None)
    done = subprocess.run(
        [os.environ[CLIENT], str(PROGRAMS / "connect_client.py"), server, str(tmp_path)],
        env=kept,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    (alone, alone_says), (remote, remote_says) = answer.pop("errors")
    assert alone == remote == "ConnectSessionError"
    assert "pyspark-client" in alone_says
    assert "SparkSession.builder.remote(" in alone_says
    assert "configure_session(spark)" in alone_says
    assert "configure_session(spark)" in remote_says
    assert answer.pop("files") == answer["listed"] == answer["in pandas"]
    assert answer.pop("listed") >= 3
    assert answer.pop("in pandas") >= 3
    assert answer == {
        "py4j": False,
        "changed": [True, False],
        "rows": 100,
        "state": "committed",
        "cancelled": False,
        "history": ["committed"],
        "recovered": [],
        "cleaned": [],
        "committer": True,
    }
