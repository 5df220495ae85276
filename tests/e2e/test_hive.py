# SPDX-License-Identifier: Apache-2.0
"""Tables of a Hive metastore: those of Hive's formats, and Spark's own that it keeps.

Spark writes a table of Hive's Parquet format either itself, as any Parquet table, or, as it does
with all other formats, into a staging directory in the table, from which Hive moves the files on.
The committer serves both. The second way ends as under Spark's own protocol: with no report, except
where Hive takes a whole directory for a partition.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import faults
import pytest
from places import Place, path_of
from protocols import DYNAMIC, NO_FACTORY, OURS, PROTOCOL, SPARKS
from pyspark.sql import SparkSession
from sessions import settings, started
from tables import Row, Table

import manifest_committer

pytestmark = pytest.mark.classic(because="asks the JVM of a driver in this process")

PARQUET = "USING hive OPTIONS (fileFormat 'parquet')"
TEXT = "USING hive OPTIONS (fileFormat 'textfile')"


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """With a metastore in the driver's memory."""
    scratch = tmp_path_factory.mktemp("hive")
    conf = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:memory:{scratch};create=true",
        "spark.hadoop.hive.exec.scratchdir": str(scratch / "jobs"),
        "spark.hadoop.hive.exec.local.scratchdir": str(scratch / "local"),
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    }
    with started("local[2,3]", scratch, conf) as session:
        log = str(scratch / "derby.log")
        session._jvm.java.lang.System.setProperty("derby.stream.error.file", log)
        yield session


@dataclass(frozen=True)
class Way:
    """A format of Hive's, and who writes it."""

    using: str
    by_spark: bool = False

    @property
    def protocols(self) -> tuple[str, ...]:
        """Without Hive these are writes as any other; with it, it must end as it always did."""
        return (OURS,) if self.by_spark else (SPARKS, OURS)


@pytest.fixture(
    params=[
        pytest.param(Way(PARQUET, by_spark=True), marks=pytest.mark.thorough),
        Way(PARQUET),
        pytest.param(Way(TEXT), marks=[pytest.mark.lines, pytest.mark.thorough]),
    ],
    ids=["parquet-by-spark", "parquet-by-hive", "text"],
)
def way(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Way]:
    way: Way = request.param
    with settings(spark, {"spark.sql.hive.convertMetastoreParquet": str(way.by_spark).lower()}):
        yield way


def looked_at(table: Table) -> tuple[Counter[Row], Counter[str], set[str]]:
    """Rows, how many files there are in which directory, and what is hidden."""
    everything = {entry.relative_to(table.path).as_posix() for entry in table.path.rglob("*")}
    hidden = {path for path in everything if path.rpartition("/")[2].startswith(("_", "."))}
    left = {path for path in hidden if not path.endswith((".crc", "_SUCCESS.files"))}
    return table.rows(), Counter(file.rpartition("/")[0] for file in table.data_files()), left


def check_names(table: Table, protocol: str) -> None:
    """Ours, and no other, ends a file's name in the task attempt that wrote it."""
    job = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    attempt = r"-\d+" if protocol == OURS else ""
    for file in table.data_files():
        assert re.fullmatch(rf"part-\d{{5}}-{job}{attempt}[.-]c000.*", file.rpartition("/")[2])


Statements = list[tuple[str, list[Row]]]
FLAT: Statements = [
    ("INSERT INTO {t} VALUES ('a', 1), ('b', 2)", [("a", 1), ("b", 2)]),
    ("INSERT INTO {t} VALUES ('c', 2)", [("a", 1), ("b", 2), ("c", 2)]),
    ("INSERT OVERWRITE {t} VALUES ('d', 3)", [("d", 3)]),
    ("INSERT OVERWRITE {t} SELECT 'e', 4 WHERE false", []),
]
PARTITIONED: Statements = [
    ("INSERT INTO {t} VALUES ('a', 1), ('b', 2)", [("a", 1), ("b", 2)]),
    ("INSERT INTO {t} PARTITION (p = 1) VALUES ('c')", [("a", 1), ("c", 1), ("b", 2)]),
    ("INSERT INTO {t} PARTITION (p) VALUES ('d', 2)", [("a", 1), ("c", 1), ("b", 2), ("d", 2)]),
    ("INSERT OVERWRITE {t} PARTITION (p = 1) VALUES ('e')", [("e", 1), ("b", 2), ("d", 2)]),
    (
        "INSERT OVERWRITE {t} PARTITION (p) VALUES ('f', 2), ('g', 3)",
        [("e", 1), ("f", 2), ("g", 3)],
    ),
    # With tables of Hive's formats this, too, replaces the partitions that it writes to.
    ("INSERT OVERWRITE {t} VALUES ('h', 3), ('i', 4)", [("e", 1), ("f", 2), ("h", 3), ("i", 4)]),
]


@pytest.mark.parametrize(
    ("clause", "statements"),
    [
        pytest.param("", FLAT, marks=pytest.mark.once, id="flat"),
        pytest.param("PARTITIONED BY (p)", PARTITIONED, id="partitioned"),
    ],
)
def test_statements(
    catalog_table: Callable[..., Table], way: Way, clause: str, statements: Statements
) -> None:
    tables = {protocol: catalog_table(create=None) for protocol in way.protocols}
    for table in tables.values():
        table.spark.sql(f"CREATE TABLE {table.name} ({table.schema}) {way.using} {clause}")
    for statement, rows in statements:
        seen = {}
        for protocol, table in tables.items():
            with settings(table.spark, {**NO_FACTORY, PROTOCOL: protocol}):
                table.spark.sql(statement.format(t=table.name))
            seen[protocol] = looked_at(table), table.partitions() if clause else set()
            check_names(table, protocol)
        assert seen[OURS] == (seen[OURS][0], {f"p={p}" for _, p in rows} if clause else set())
        assert seen[OURS][0][0] == Counter(rows)
        if way.by_spark:
            tables[OURS].check_report()
        else:
            assert seen[OURS] == seen[SPARKS], statement


def test_create_table_as_select(catalog_table: Callable[..., Table], way: Way) -> None:
    table = catalog_table(create=None)
    table.spark.sql(f"CREATE TABLE {table.name} {way.using} AS SELECT 'a' AS value, 1 AS p")
    assert table.rows() == Counter([("a", 1)])
    check_names(table, OURS)
    assert looked_at(table)[2] == ({"_SUCCESS"} if way.by_spark else set())


def test_insert_overwrite_directory(new_table: Callable[..., Table], way: Way) -> None:
    stored = "STORED AS TEXTFILE" if way.using == TEXT else "STORED AS PARQUET"
    table = new_table("value string" if way.using == TEXT else "value string, p int")
    table.fmt = "text" if way.using == TEXT else "parquet"
    for value in ("a", "b"):
        query = f"SELECT '{value}' AS value" + ("" if way.using == TEXT else ", 1 AS p")
        table.spark.sql(f"INSERT OVERWRITE DIRECTORY '{table.path}' {stored} {query}")
        assert table.rows() == Counter([(value,) if way.using == TEXT else (value, 1)])
        check_names(table, OURS)
    assert looked_at(table)[2] == {"_SUCCESS"}


@pytest.mark.parametrize("clause", ["INTO {t}", "OVERWRITE {t} PARTITION (p = 1)"])
def test_failed_insert_changes_nothing(
    catalog_table: Callable[..., Table], way: Way, clause: str
) -> None:
    table = catalog_table(create=None)
    table.spark.sql(
        f"CREATE TABLE {table.name} (value string, p int) {way.using} PARTITIONED BY (p)"
    )
    table.spark.sql(f"INSERT INTO {table.name} VALUES ('a', 1), ('b', 2)")
    before = table.snapshot()
    faults.numbered(table.spark, faults.failing()).createOrReplaceTempView("broken")
    columns = "value" if "PARTITION" in clause else "value, p"
    with pytest.raises(Exception, match="failed on purpose"):
        table.spark.sql(f"INSERT {clause.format(t=table.name)} SELECT {columns} FROM broken")
    assert table.snapshot() == before
    assert table.partitions() == {"p=1", "p=2"}
    assert table.rows() == Counter([("a", 1), ("b", 2)])


def test_partitions_of_sparks_own_tables(catalog_table: Callable[..., Table], place: Place) -> None:
    """Kept by the metastore, of which Spark asks at each write which partitions there are."""
    table = catalog_table()
    elsewhere = place / "elsewhere"
    table.spark.sql(f"ALTER TABLE {table.name} ADD PARTITION (p = 1) LOCATION '{elsewhere}'")
    located = table.location("p = 1")
    assert located.endswith(path_of(elsewhere))
    for statement, rows in (
        ("INSERT INTO {t} VALUES ('a', 1), ('b', 2)", [("a", 1), ("b", 2)]),
        ("INSERT INTO {t} PARTITION (p = 3) VALUES ('c')", [("a", 1), ("b", 2), ("c", 3)]),
        ("INSERT OVERWRITE {t} PARTITION (p = 1) VALUES ('d')", [("d", 1), ("b", 2), ("c", 3)]),
    ):
        table.spark.sql(statement.format(t=table.name))
        assert table.rows() == Counter(rows)
        assert table.partitions() == {f"p={p}" for _, p in rows}
    with settings(table.spark, DYNAMIC):
        table.spark.sql(f"INSERT OVERWRITE {table.name} VALUES ('e', 1), ('f', 4)")
    assert table.partitions() == {"p=1", "p=2", "p=3", "p=4"}
    assert table.rows() == Counter([("e", 1), ("b", 2), ("c", 3), ("f", 4)])
    table.spark.sql(f"INSERT OVERWRITE {table.name} VALUES ('g', 1), ('h', 5)")
    assert table.partitions() == {"p=1", "p=5"}
    assert table.rows() == Counter([("g", 1), ("h", 5)])
    assert table.location("p = 1") == located
    assert table.location("p = 5").endswith(path_of(table.path / "p=5"))
    assert not (table.path / "p=1").exists()

    # What was written by path, the metastore learns from the report.
    rows = table.frame([("i", 6)])
    rows.write.mode("append").partitionBy("p").parquet(str(table.path))
    report = manifest_committer.read_report(table.spark, table.path)
    assert [report.add_partitions(table.spark, table.name) for _ in range(2)] == [1, 0]
    assert table.rows() == Counter([("g", 1), ("h", 5), ("i", 6)])
    assert table.location("p = 6").endswith(path_of(table.path / "p=6"))
