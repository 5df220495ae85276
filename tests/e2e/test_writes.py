# SPDX-License-Identifier: Apache-2.0
"""DataFrameWriter by path: every format, partitioned and not, every save mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from protocols import DYNAMIC
from pyspark.errors import AnalysisException
from sessions import settings
from tables import Row, Table

more = pytest.mark.more
FORMATS = ["parquet", *[pytest.param(fmt, marks=more) for fmt in ("orc", "csv", "json", "text")]]

OLD: list[Row] = [(f"old-{i}", i % 3) for i in range(30)]
NEW: list[Row] = [(f"new-{i}", i % 2 + 2) for i in range(20)]


def flat(rows: list[Row]) -> list[Row]:
    return [row[:1] for row in rows]


@pytest.fixture
def table(request: pytest.FixtureRequest, new_table: Callable[..., Table]) -> Table:
    return new_table("value string", fmt=getattr(request, "param", "parquet"))


@pytest.fixture
def partitioned(request: pytest.FixtureRequest, new_table: Callable[..., Table]) -> Table:
    return new_table(fmt=getattr(request, "param", "parquet"), partition_by=["p"])


@pytest.mark.parametrize("table", FORMATS, indirect=True)
def test_append(table: Table) -> None:
    first = table.write(flat(OLD), "append")
    second = table.write(flat(NEW), "append")
    assert len(first.sizes) == len(second.sizes) == 2
    assert table.rows() == Counter(flat(OLD + NEW))
    assert set(table.data_files()) == {*first.sizes, *second.sizes}


@pytest.mark.core
@pytest.mark.parametrize("partitioned", FORMATS, indirect=True)
def test_append_partitioned(partitioned: Table) -> None:
    first = partitioned.write(OLD, "append")
    second = partitioned.write(NEW, "append")
    assert {file.split("/")[0] for file in first.sizes} == {"p=0", "p=1", "p=2"}
    assert {file.split("/")[0] for file in second.sizes} == {"p=2", "p=3"}
    assert partitioned.rows() == Counter(OLD + NEW)


@pytest.mark.core
def test_overwrite(table: Table) -> None:
    table.write(flat(OLD), "overwrite")
    report = table.write(flat(NEW), "overwrite")
    assert table.rows() == Counter(flat(NEW))
    assert set(table.data_files()) == set(report.sizes)


@pytest.mark.core
def test_overwrite_partitioned(partitioned: Table) -> None:
    partitioned.write(OLD, "overwrite")
    report = partitioned.write(NEW, "overwrite")
    assert partitioned.rows() == Counter(NEW)
    assert set(partitioned.data_files()) == set(report.sizes)
    # Readers take a directory for a partition even when it is empty.
    assert {entry.name for entry in partitioned.path.glob("p=*")} == {"p=2", "p=3"}


@pytest.mark.core
@pytest.mark.parametrize("partitioned", FORMATS, indirect=True)
@pytest.mark.parametrize("how", ["session", pytest.param("write option", marks=more)])
def test_overwrite_dynamic(partitioned: Table, how: str) -> None:
    partitioned.write(OLD, "append")
    if how == "session":
        with settings(partitioned.spark, DYNAMIC):
            partitioned.write(NEW, "overwrite")
    else:
        partitioned.write(NEW, "overwrite", partitionOverwriteMode="dynamic")
    kept = [row for row in OLD if row[1] != 2]
    assert partitioned.rows() == Counter(kept + NEW)


@pytest.mark.core
@pytest.mark.not_on("s3a", "gs", because="no directory can be moved there, so it is refused")
def test_overwrite_of_a_file(table: Table) -> None:
    """The path is a file, as in Spark's own SaveLoadSuite."""
    table.path.write_bytes(b"what was there")
    around = {entry.name for entry in table.path.parent.iterdir()}
    report = table.write(flat(NEW), "overwrite")
    assert table.rows() == Counter(flat(NEW))
    assert set(table.data_files()) == set(report.sizes)
    assert {entry.name for entry in table.path.parent.iterdir()} == around


def test_overwrite_dynamic_of_a_new_table(partitioned: Table) -> None:
    partitioned.write(NEW, "overwrite", partitionOverwriteMode="dynamic")
    assert partitioned.rows() == Counter(NEW)


@pytest.mark.core
def test_error_if_exists_and_ignore(partitioned: Table) -> None:
    partitioned.write(OLD, "errorifexists")
    before = partitioned.snapshot()
    with pytest.raises(AnalysisException, match=r"(?i)exists"):
        partitioned.save(NEW, "errorifexists")
    partitioned.save(NEW, "ignore")
    assert partitioned.snapshot() == before
    assert partitioned.rows() == Counter(OLD)


def test_copy_and_back(partitioned: Table) -> None:
    """What a job wrote can be read by the next: from one table to another, and back."""
    partitioned.write(OLD, "append")
    copy = Table(
        partitioned.spark,
        partitioned.path.parent / "copy",
        partitioned.schema,
        fmt=partitioned.fmt,
        partition_by=["p"],
    )
    copy.write(partitioned.read(), "overwrite")
    partitioned.write(copy.read(), "overwrite")
    assert partitioned.rows() == copy.rows() == Counter(OLD)
