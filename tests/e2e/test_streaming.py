# SPDX-License-Identifier: Apache-2.0
"""Structured streaming: its file sink has a protocol of its own; ``foreachBatch`` writes use ours.

What the sink's directory is to a batch job, Spark decides: its own protocol does the same writes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from protocols import PROTOCOL, PROTOCOLS
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter
from sessions import settings
from tables import Row, Table


class Source:
    """A directory of JSON files on the local disk, which a stream reads from."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self.spark = spark
        self.directory = directory
        self.checkpoint = directory.parent / "checkpoint"
        directory.mkdir(parents=True)

    def add(self, rows: list[Row]) -> None:
        lines = [json.dumps({"value": value, "p": p}) for value, p in rows]
        number = len(list(self.directory.iterdir()))
        (self.directory / f"{number}.json").write_text("\n".join(lines))

    def read(self) -> DataFrame:
        return self.spark.readStream.schema("value string, p int").json(str(self.directory))

    def drain(self, writer: DataStreamWriter, path: str | None = None) -> None:
        """Runs the stream until it has read all that is there."""
        writer.option("checkpointLocation", str(self.checkpoint))
        query = writer.trigger(availableNow=True).start(path)
        try:
            query.awaitTermination()
        finally:
            query.stop()


@pytest.fixture
def source(spark: SparkSession, tmp_path: Path) -> Source:
    return Source(spark, tmp_path / "source")


def sink(table: Table, source: Source, *batches: list[Row]) -> None:
    """Streams the batches into the table, one run for each."""
    for rows in batches:
        source.add(rows)
        writer = source.read().writeStream.format("parquet").partitionBy(*table.partition_by)
        source.drain(writer, str(table.path))


def logged(table: Table) -> set[str]:
    """The files of which the sink's log says that they belong to the table."""
    entries = [
        json.loads(line)
        for batch in (table.path / "_spark_metadata").iterdir()
        if batch.name.isdigit()
        for line in batch.read_text().splitlines()[1:]
    ]
    return {table.below(entry["path"]) for entry in entries}


@pytest.mark.core
@pytest.mark.parametrize(
    "partition_by", [pytest.param([], marks=pytest.mark.more), ["p"]], ids=["flat", "partitioned"]
)
def test_file_sink_has_its_own_protocol(
    new_table: Callable[..., Table], source: Source, partition_by: list[str]
) -> None:
    table = new_table(partition_by=partition_by)
    setting = table.spark.conf.get("spark.sql.streaming.commitProtocolClass")
    assert setting.rpartition(".")[2] == "ManifestFileCommitProtocol"
    sink(table, source, [("a", 1), ("b", 2)], [("c", 1)])

    assert table.rows() == Counter([("a", 1), ("b", 2), ("c", 1)])
    files = set(table.data_files())
    assert logged(table) == files
    # The names that Spark gives; ours would end in the task attempt.
    names = {file.rpartition("/")[2] for file in files}
    assert all(re.fullmatch(r"part-\d{5}-[0-9a-f-]{36}[.-]c000.*", name) for name in names), names
    tops = {entry.name for entry in table.path.iterdir() if not entry.name.endswith(".crc")}
    assert {top for top in tops if top.startswith(("_", "."))} == {"_spark_metadata"}
    batches = {entry.name for entry in (table.path / "_spark_metadata").iterdir()}
    assert {"0", "1"} <= batches


def test_batch_writes_into_the_directory_of_a_file_sink(
    new_table: Callable[..., Table], source: Source, tmp_path: Path
) -> None:
    """After an append, readers go by the sink's log and miss its rows; an overwrite removes it."""
    seen = {}
    for protocol, name in PROTOCOLS.items():
        table = new_table(partition_by=["p"])
        table.path = table.path.parent / protocol
        own = Source(source.spark, tmp_path / f"of-{protocol}" / "source")
        sink(table, own, [("a", 1), ("b", 2)])
        with settings(table.spark, {PROTOCOL: name}):
            table.save([("c", 1), ("d", 3)], "append")
            appended = looked_at(table)
            table.save([("e", 1), ("f", 4)], "overwrite")
            seen[protocol] = appended, looked_at(table)
        assert not list(table.path.glob("_manifest_*"))
    assert seen["ours"] == (
        (Counter([("a", 1), ("b", 2)]), Counter({"p=1": 2, "p=2": 1, "p=3": 1}), True),
        (Counter([("e", 1), ("f", 4)]), Counter({"p=1": 1, "p=4": 1}), False),
    )
    assert seen["ours"] == seen["sparks"]


def looked_at(table: Table) -> tuple[Counter[Row], Counter[str], bool]:
    """Rows, how many files there are in which directory, and whether the sink's log is there."""
    folders = Counter(file.rpartition("/")[0] for file in table.data_files())
    return table.rows(), folders, (table.path / "_spark_metadata").exists()


@pytest.mark.core
@pytest.mark.classic(because="the server's workers do not have the modules of the tests")
def test_writes_of_foreach_batch_are_ours(new_table: Callable[..., Table], source: Source) -> None:
    appended = new_table(partition_by=["p"])
    replaced = new_table(partition_by=["p"])
    replaced.path = replaced.path.parent / "replaced"
    batches: list[list[Row]] = [[("a", 1), ("b", 2)], [("c", 1), ("d", 3)]]

    def write(frame: DataFrame, batch: int) -> None:
        appended.save(frame, "append")
        replaced.save(frame, "overwrite", partitionOverwriteMode="dynamic")

    for rows in batches:
        source.add(rows)
        source.drain(source.read().writeStream.foreachBatch(write))
        assert appended.check_report().counters["committer_files_committed"] == 2
        assert replaced.check_report().counters["committer_files_committed"] == 2
    assert appended.rows() == Counter(batches[0] + batches[1])
    assert replaced.rows() == Counter([("b", 2), ("c", 1), ("d", 3)])
    assert not (appended.path / "_spark_metadata").exists()
