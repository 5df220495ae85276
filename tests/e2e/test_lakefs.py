# SPDX-License-Identifier: Apache-2.0
"""Tables in a branch of lakeFS, which its API commits."""

from __future__ import annotations

import pytest
from places import Place
from pyspark.sql import SparkSession


@pytest.mark.core
def test_what_others_committed_is_read(spark: SparkSession, place: Place) -> None:
    (place / "table" / "p=1" / "f.csv").write_text("a\n")

    rows = spark.read.schema("value string, p int").csv(str(place / "table")).collect()

    assert [tuple(row) for row in rows] == [("a", 1)]
