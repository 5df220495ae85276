# SPDX-License-Identifier: Apache-2.0
"""What cancels a commit in a Connect session, besides `Commit.cancel`, which tests/e2e tries."""

from __future__ import annotations

from pathlib import Path

from cancelling import Write, check_rolled_back
from pyspark.sql import SparkSession


def test_an_operation_that_is_interrupted(configured: SparkSession, tmp_path: Path) -> None:
    write = Write(configured, tmp_path / "table")
    write.running()
    configured.interruptAll()
    check_rolled_back(write)
