# SPDX-License-Identifier: Apache-2.0
"""SQL statements and catalog tables: inserts, overwrites by partition, CTAS, locations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
import stores
from places import Place, path_of
from protocols import DYNAMIC, PARTITION_MODE
from sessions import settings
from tables import Row, Table

OLD: list[Row] = [("a", 1), ("b", 1), ("c", 2), ("d", 3)]


def insert(table: Table, rows: list[Row]) -> None:
    table.sql("INSERT INTO {t} VALUES " + ", ".join(str(row) for row in rows))


@pytest.fixture
def table(catalog_table: Callable[..., Table]) -> Table:
    made = catalog_table()
    insert(made, OLD)
    return made


@pytest.mark.core
def test_insert_into(table: Table) -> None:
    table.sql("INSERT INTO {t} VALUES ('a', 1), ('e', 4)")
    assert table.rows() == Counter([*OLD, ("a", 1), ("e", 4)])


@pytest.mark.parametrize(
    ("statement", "mode", "after"),
    [
        ("{t} VALUES ('e', 2)", "static", [("e", 2)]),
        pytest.param(
            "{t} VALUES ('e', 2), ('f', 4)",
            "dynamic",
            [("a", 1), ("b", 1), ("d", 3), ("e", 2), ("f", 4)],
            marks=pytest.mark.core,
        ),
        ("{t} PARTITION (p = 1) VALUES ('e')", "static", [("c", 2), ("d", 3), ("e", 1)]),
        ("{t} PARTITION (p = 1) VALUES ('e')", "dynamic", [("c", 2), ("d", 3), ("e", 1)]),
        ("{t} PARTITION (p = 1) SELECT 'e' WHERE false", "static", [("c", 2), ("d", 3)]),
    ],
)
def test_insert_overwrite(table: Table, statement: str, mode: str, after: list[Row]) -> None:
    with settings(table.spark, {PARTITION_MODE: mode}):
        table.sql(f"INSERT OVERWRITE {statement}")
    assert table.rows() == Counter(after)


def test_unpartitioned(catalog_table: Callable[..., Table]) -> None:
    table = catalog_table(create="")
    insert(table, OLD)
    insert(table, OLD)
    assert table.rows() == Counter(OLD + OLD)
    table.sql("INSERT OVERWRITE {t} VALUES ('e', 4)")
    assert table.rows() == Counter([("e", 4)])


THREE_LEVELS = "value string, a int, b int, c int"
OLD_THREE_LEVELS: list[Row] = [
    (f"{a}{b}{c}", a, b, c) for a in (1, 2) for b in (1, 2) for c in (1, 2)
]


@pytest.mark.parametrize(
    ("clause", "values", "replaced"),
    [
        pytest.param(
            "a = 1, b, c",
            [("e", 1, 2), ("f", 3, 3)],
            lambda row: row[1] == 1,
            marks=pytest.mark.core,
        ),
        ("a = 1, b = 2, c", [("e", 2), ("f", 3)], lambda row: row[1:3] == (1, 2)),
        ("a = 1, b = 2, c = 1", [("e",), ("f",)], lambda row: row[1:] == (1, 2, 1)),
    ],
    ids=["one", "two", "all"],
)
@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_insert_overwrite_by_leading_levels(
    catalog_table: Callable[..., Table],
    clause: str,
    values: list[Row],
    replaced: Callable[[Row], bool],
    mode: str,
) -> None:
    table = catalog_table(THREE_LEVELS, create="PARTITIONED BY (a, b, c)")
    insert(table, OLD_THREE_LEVELS)
    given = tuple(int(part[4:]) for part in clause.split(", ") if " = " in part)
    new = [(value, *given, *rest) for value, *rest in values]
    if mode == "dynamic":
        leaves = {row[1:] for row in new}
        replaced = lambda row: row[1:] in leaves  # noqa: E731
    with settings(table.spark, {PARTITION_MODE: mode}):
        rows = ", ".join(f"({', '.join(map(repr, row))})" for row in values)
        table.sql(f"INSERT OVERWRITE {{t}} PARTITION ({clause}) VALUES {rows}")
    kept = [row for row in OLD_THREE_LEVELS if not replaced(row)]
    assert table.rows() == Counter(kept + new)
    assert len(list(table.path.rglob("c=*"))) == len({row[1:] for row in kept + new})
    assert table.partitions() == {f"a={a}/b={b}/c={c}" for _, a, b, c in kept + new}


@pytest.mark.core
def test_partitions_in_the_catalog(table: Table) -> None:
    assert table.partitions() == {"p=1", "p=2", "p=3"}
    table.sql("INSERT INTO {t} VALUES ('e', 3), ('f', 4)")
    assert table.partitions() == {"p=1", "p=2", "p=3", "p=4"}
    table.sql("INSERT INTO {t} PARTITION (p = 5) VALUES ('g')")
    assert table.partitions() == {"p=1", "p=2", "p=3", "p=4", "p=5"}
    with settings(table.spark, DYNAMIC):
        table.sql("INSERT OVERWRITE {t} VALUES ('h', 1), ('i', 6)")
    assert table.partitions() == {"p=1", "p=2", "p=3", "p=4", "p=5", "p=6"}
    table.sql("INSERT OVERWRITE {t} PARTITION (p = 2) VALUES ('j')")
    assert table.partitions() == {"p=1", "p=2", "p=3", "p=4", "p=5", "p=6"}
    table.sql("INSERT OVERWRITE {t} VALUES ('k', 2), ('l', 7)")
    assert table.partitions() == {"p=2", "p=7"}
    assert table.rows() == Counter([("k", 2), ("l", 7)])
    assert table.location("p = 7").endswith(f"/{table.name}/p=7")


@pytest.mark.core
def test_create_table_as_select(catalog_table: Callable[..., Table]) -> None:
    table = catalog_table(create=None)
    table.sql(
        "CREATE TABLE {t} USING orc PARTITIONED BY (p)"
        " AS SELECT * FROM VALUES ('a', 1), ('b', 2), ('b', 2) AS source(value, p)"
    )
    assert table.rows() == Counter([("a", 1), ("b", 2), ("b", 2)])


@pytest.mark.core
def test_insert_overwrite_directory(new_table: Callable[..., Table]) -> None:
    table = new_table()
    table.write(OLD, "append")
    table.spark.sql(
        f"INSERT OVERWRITE DIRECTORY '{table.path}' USING parquet SELECT 'e' AS value, 4 AS p"
    )
    table.check_report()
    assert table.rows() == Counter([("e", 4)])


@pytest.mark.core
@pytest.mark.not_on("lakefs", because="the drop is not committed: see test_lakefs")
def test_save_as_table_appends_and_overwrites(table: Table) -> None:
    if not stores.drops_directories():
        pytest.skip("Spark does not make a table where a directory is")
    table.frame([("e", 1)]).write.mode("append").partitionBy("p").saveAsTable(table.name)
    table.check_report()
    assert table.rows() == Counter([*OLD, ("e", 1)])
    table.frame([("f", 1)]).write.mode("overwrite").partitionBy("p").saveAsTable(table.name)
    table.check_report()
    assert table.rows() == Counter([("f", 1)])


def test_insert_into_method(table: Table) -> None:
    table.frame([("e", 2)]).write.insertInto(table.name)
    table.check_report()
    assert table.rows() == Counter([*OLD, ("e", 2)])
    with settings(table.spark, DYNAMIC):
        table.frame([("f", 2)]).write.insertInto(table.name, overwrite=True)
    table.check_report()
    assert table.rows() == Counter([("a", 1), ("b", 1), ("d", 3), ("f", 2)])


one_branch = pytest.mark.not_on("lakefs", because="one commit changes one branch: test_lakefs")


class Located:
    """A table whose partition ``p = 1`` lives in a directory of its own."""

    def __init__(self, table: Table, location: Place) -> None:
        self.table = table
        self.location = location
        table.spark.sql(f"ALTER TABLE {table.name} ADD PARTITION (p = 1) LOCATION '{location}'")
        table.spark.sql(f"INSERT INTO {table.name} VALUES ('a', 1), ('b', 1), ('c', 2), ('d', 3)")
        self.check()

    def check(self) -> None:
        """The report holds the files of both places, and nothing is left in the location."""
        job = self.table.report().job_id
        files = {path_of(f): f.stat().st_size for f in self.location.iterdir() if job in f.name}
        data = {name: size for name, size in files.items() if not name.endswith(".crc")}
        self.table.check_report(elsewhere=data)
        assert not [f for f in self.location.iterdir() if f.name.startswith("_")]
        assert not (self.table.path / "p=1").exists()


@pytest.fixture
def located(catalog_table: Callable[..., Table], place: Place) -> Located:
    return Located(catalog_table(), place / "elsewhere" / "one")


@pytest.mark.parametrize(
    ("statement", "mode", "after"),
    [
        pytest.param(
            "INTO {t} VALUES ('a', 1), ('e', 2)",
            "static",
            [*OLD, ("a", 1), ("e", 2)],
            marks=pytest.mark.core,
        ),
        ("OVERWRITE {t} PARTITION (p = 1) VALUES ('e')", "static", [("c", 2), ("d", 3), ("e", 1)]),
        ("OVERWRITE {t} VALUES ('e', 1), ('f', 2)", "static", [("e", 1), ("f", 2)]),
        pytest.param(
            "OVERWRITE {t} VALUES ('e', 1), ('f', 2)",
            "dynamic",
            [("d", 3), ("e", 1), ("f", 2)],
            marks=pytest.mark.core,
        ),
    ],
)
@one_branch
def test_custom_location(located: Located, statement: str, mode: str, after: list[Row]) -> None:
    with settings(located.table.spark, {PARTITION_MODE: mode}):
        located.table.spark.sql(f"INSERT {statement.format(t=located.table.name)}")
    located.check()
    assert located.table.rows() == Counter(after)


@one_branch
def test_custom_location_is_emptied_by_an_overwrite_without_rows_for_it(located: Located) -> None:
    located.table.spark.sql(f"INSERT OVERWRITE {located.table.name} VALUES ('f', 2)")
    assert located.table.rows() == Counter([("f", 2)])
    assert not list(located.location.glob("part-*"))


@one_branch
def test_custom_location_untouched_by_a_dynamic_overwrite_elsewhere(located: Located) -> None:
    before = located.table.snapshot(located.location)
    with settings(located.table.spark, DYNAMIC):
        located.table.spark.sql(f"INSERT OVERWRITE {located.table.name} VALUES ('f', 2)")
    located.check()
    assert located.table.rows() == Counter([("a", 1), ("b", 1), ("d", 3), ("f", 2)])
    assert located.table.snapshot(located.location) == before


@one_branch
def test_custom_location_stays_in_the_catalog(located: Located) -> None:
    table = located.table
    place = table.location("p = 1")
    assert place.endswith(path_of(located.location))
    with settings(table.spark, DYNAMIC):
        table.spark.sql(f"INSERT OVERWRITE {table.name} VALUES ('e', 1), ('f', 4)")
    located.check()
    assert table.partitions() == {"p=1", "p=2", "p=3", "p=4"}
    assert table.location("p = 1") == place
    table.spark.sql(f"INSERT OVERWRITE {table.name} PARTITION (p = 1) VALUES ('g')")
    assert table.location("p = 1") == place
    table.spark.sql(f"INSERT OVERWRITE {table.name} VALUES ('h', 1), ('i', 2)")
    located.check()
    assert table.partitions() == {"p=1", "p=2"}
    assert table.location("p = 1") == place
    assert table.rows() == Counter([("h", 1), ("i", 2)])
