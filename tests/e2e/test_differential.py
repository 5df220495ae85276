# SPDX-License-Identifier: Apache-2.0
"""Random sequences of writes to twin tables: one under this committer, one under Spark's own.

After each write both have the same directories, the same number of files and the same
rows in each directory, and nothing of staging. Spark reads the same rows and knows the same
partitions: it is asked twice in a sequence. Where one fails, so does the other. A failure prints
the seed and the statements so far. ``--thorough`` runs many more seeds, and asks Spark after each
write.

What differs by intent:

- If a static overwrite fails, Spark's own protocol has by then deleted what it replaces. Ours keeps
  it. If any write fails, Spark's own protocol may leave empty directories; ours leaves everything
  as it was. The table under Spark's own protocol then gets what the other one has.
- Spark's own protocol removes a partition's own location when an overwrite leaves no rows for it.
  Ours, which stages below it, leaves it empty.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from shutil import rmtree

import pytest
from protocols import PROTOCOL, SPARKS
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from sessions import started
from twins import Layout, Statement, Twin, Twins

pytestmark = [
    pytest.mark.local_disk,
    pytest.mark.classic(because="steers the log of a driver in this process"),
]

STATEMENTS = 8
SEEDS = [pytest.param(seed, marks=[] if seed < 1 else [pytest.mark.thorough]) for seed in range(24)]

LAYOUTS = {
    "flat": Layout("managed"),
    "one": Layout("managed", ("p",)),
    "two": Layout("external", ("_p", "q")),
    "bucketed": Layout("managed", ("p",), buckets=2),
    "path": Layout("path", ("_p",)),
    "path-flat": Layout("path", fmt="json"),
}

# Values that are escaped in a directory's name, look like hidden or staging names, or are no name.
NAMES = "a|A|10|_p|.h|x y|x |a=b|a/b|a:b|a'b|ü|%41|a%2Fb|#|*|[a]|.|..|_manifest_1|_temporary"
VALUES = [*NAMES.split("|"), "__HIVE_DEFAULT_PARTITION__", "", None]


def literal(value: str | None) -> str:
    return "NULL" if value is None else "'" + value.replace("'", "\\'") + "'"


class Statements:
    """Draws the statements of one sequence."""

    def __init__(self, draw: random.Random, layout: Layout) -> None:
        self.draw = draw
        self.layout = layout
        self.columns = layout.columns
        self.values = draw.sample(VALUES, 5 - len(layout.columns))
        self.numbers = count(1)

    def first(self) -> Statement:
        """Some rows to begin with."""
        query = self.query(self.layout.all_columns)
        if self.layout.kind == "path":
            return self.statement(self._save(query, "append"), f"save(append) {query}")
        return self.statement(f"INSERT INTO {{t}} {query}")

    def next(self) -> Statement:
        return self.draw.choice(self._kinds())()

    def _kinds(self) -> list[Callable[[], Statement]]:
        if self.layout.kind == "path":
            kinds = [*[self.save] * 5, self.overwrite_directory]
        else:
            kinds = [
                *[self.insert] * 2,
                *[self.overwrite] * 3,
                *[self.insert_into, self.save_as_table, self.create_as_select],
                *[self.insert_from_itself, self.truncate],
            ]
            if self.columns:
                kinds += [
                    *[self.insert_partition, self.truncate_partition],
                    *[self.drop_partition, self.rename_partition, self.repair],
                    *[self.add_partition] * 2,
                ]
        if self.columns:
            kinds += [self.remove_directory]
        return kinds

    # Parts of statements

    def query(self, columns: tuple[str, ...], *, fails: bool = False) -> str:
        """Some rows, in one or two tasks; if it fails, then after all of them."""
        rows = []
        number = self.draw.randint(0, 5)
        for _ in range(max(number, 1)):
            keys = [literal(self.draw.choice(self.values)) for _ in columns[1:]]
            rows.append("(" + ", ".join([str(self.draw.randint(0, 999)), *keys]) + ")")
        typed = ["INT(v) AS v", *(f"STRING({column}) AS {column}" for column in columns[1:])]
        query = (
            f"SELECT {', '.join(typed)} FROM VALUES {', '.join(rows)} AS s({', '.join(columns)})"
        )
        if number == 0:
            query += " WHERE v < 0"
        if fails:
            keys = [literal(self.draw.choice(self.values)) for _ in columns[1:]]
            row = ", ".join(["IF(id = 1, INT(raise_error('meant to fail')), 7)", *keys])
            query += f" UNION ALL SELECT {row} FROM range(0, 2, 1, 1)"
        return query

    def partition(self, columns: tuple[str, ...]) -> str:
        return ", ".join(f"{c} = {literal(self.draw.choice(self.values))}" for c in columns)

    def chance(self, of: float) -> bool:
        return self.draw.random() < of

    def statement(
        self, run: str | Callable[[Twin], object], text: str = "", **kind: bool
    ) -> Statement:
        mode = {
            "dynamic": bool(self.columns) and self.chance(0.5),
            "by_directory": self.chance(0.6),
        }
        if isinstance(run, str):
            sql = run
            return Statement(sql, lambda twin: twin.sql(sql), **{**mode, **kind})
        return Statement(text, run, **{**mode, **kind})

    # Statements on tables of the catalog

    def insert(self) -> Statement:
        fails = self.chance(0.15)
        return self.statement(
            f"INSERT INTO {{t}} {self.query(self.layout.all_columns, fails=fails)}", fails=fails
        )

    def insert_partition(self) -> Statement:
        return self.statement(f"INSERT INTO {{t}} {self._clause()}")

    def insert_from_itself(self) -> Statement:
        """In one task, and in order: both would else go by the names of files.

        Spark drops a SORT BY that is followed by the order of a write's partitions.
        """
        columns = ", ".join(self.layout.all_columns)
        text = f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM {{t}} ORDER BY {columns}"

        def run(twin: Twin) -> None:
            twin.sql("REFRESH TABLE {t}")
            twin.sql(text)

        return self.statement(run, text)

    def overwrite(self) -> Statement:
        fails = self.chance(0.15)
        if self.columns and self.chance(0.5):
            text = f"INSERT OVERWRITE {{t}} {self._clause(fails=fails)}"
        else:
            text = f"INSERT OVERWRITE {{t}} {self.query(self.layout.all_columns, fails=fails)}"
        return self.statement(text, fails=fails, replaces=True)

    def _clause(self, *, fails: bool = False) -> str:
        """A PARTITION clause with some or all of the columns given, and a query for the others."""
        given = self.draw.randint(1, len(self.columns))
        fixed, open_ = self.columns[:given], self.columns[given:]
        clause = ", ".join([self.partition(fixed), *open_])
        return f"PARTITION ({clause}) {self.query(('v', *open_), fails=fails)}"

    def insert_into(self) -> Statement:
        fails, overwrite = self.chance(0.15), self.chance(0.6)
        query = self.query(self.layout.all_columns, fails=fails)
        return self.statement(
            lambda twin: twin.sql(query).write.insertInto(twin.name, overwrite=overwrite),
            f"insertInto({overwrite=}) {query}",
            fails=fails,
            replaces=overwrite,
        )

    def save_as_table(self) -> Statement:
        fails = self.chance(0.15)
        mode = self.draw.choice(["append", "append", "overwrite", "ignore", "errorifexists"])
        query = self.query(self.layout.all_columns, fails=fails)

        def run(twin: Twin) -> None:
            writer = self._writer(twin.sql(query), mode)
            if self.layout.buckets:
                writer = writer.bucketBy(self.layout.buckets, "v")
            if self.layout.kind == "external":
                writer = writer.option("path", str(twin.path))
            writer.saveAsTable(twin.name)

        return self.statement(
            run,
            f"saveAsTable({mode}) {query}",
            fails=fails and mode in ("append", "overwrite"),
            replaces=mode == "overwrite",
            drops=mode == "overwrite",
        )

    def _writer(self, frame: DataFrame, mode: str) -> DataFrameWriter:
        writer = frame.write.format(self.layout.fmt).mode(mode)
        return writer.partitionBy(*self.columns) if self.columns else writer

    def create_as_select(self) -> Statement:
        fails = self.chance(0.15)
        query = self.query(self.layout.all_columns, fails=fails)
        text = f"CREATE TABLE {{t}} {self.layout.by} AS {query}"

        def run(twin: Twin) -> None:
            twin.sql("DROP TABLE {t}")
            rmtree(twin.path, ignore_errors=True)
            twin.sql(text)

        return self.statement(run, f"DROP and {text}", fails=fails, drops=True)

    def truncate(self) -> Statement:
        return self.statement("TRUNCATE TABLE {t}")

    def truncate_partition(self) -> Statement:
        return self.statement(f"TRUNCATE TABLE {{t}} PARTITION ({self.partition(self.columns)})")

    def drop_partition(self) -> Statement:
        partition = self.partition(self.columns[: self.draw.randint(1, len(self.columns))])
        return self.statement(f"ALTER TABLE {{t}} DROP IF EXISTS PARTITION ({partition})")

    def add_partition(self) -> Statement:
        location = self.draw.choice(
            ["", *["LOCATION '{root}/location %d'"] * 3, "LOCATION '{path}/location %d'"]
        )
        if location:
            location %= self.draw.randint(1, 3)
        partition = self.partition(self.columns)
        return self.statement(
            f"ALTER TABLE {{t}} ADD IF NOT EXISTS PARTITION ({partition}) {location}"
        )

    def rename_partition(self) -> Statement:
        old, new = self.partition(self.columns), self.partition(self.columns)
        return self.statement(f"ALTER TABLE {{t}} PARTITION ({old}) RENAME TO PARTITION ({new})")

    def repair(self) -> Statement:
        return self.statement("MSCK REPAIR TABLE {t}")

    # Statements on a path

    def save(self) -> Statement:
        fails = self.chance(0.15)
        mode = self.draw.choice(
            ["append", "append", "overwrite", "overwrite", "overwrite", "ignore", "errorifexists"]
        )
        query = self.query(self.layout.all_columns, fails=fails)

        return self.statement(
            self._save(query, mode),
            f"save({mode}) {query}",
            fails=fails,
            replaces=mode == "overwrite",
        )

    def _save(self, query: str, mode: str) -> Callable[[Twin], object]:
        return lambda twin: self._writer(twin.sql(query), mode).save(str(twin.path))

    def overwrite_directory(self) -> Statement:
        fails = self.chance(0.15)
        query = self.query(("v",), fails=fails)
        directory = "/".join(["{path}", *(f"{column}=a" for column in self.columns)])
        return self.statement(
            f"INSERT OVERWRITE DIRECTORY '{directory}' USING {self.layout.fmt} {query}",
            fails=fails,
            replaces=True,
        )

    # What others do

    def remove_directory(self) -> Statement:
        """One of a partition."""
        which = self.draw.random()

        def run(twin: Twin) -> None:
            directories = [d for d in sorted(twin.path.glob("**/*=*")) if d.is_dir()]
            if directories:
                rmtree(directories[int(which * len(directories))])

        return self.statement(run, f"(removes a directory, {which:.3f})")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One task after the other, one attempt for each, and no log of those that are meant to fail.

    With two at once, one may still write when the job has failed: under Spark's own protocol its
    files stay in ``_temporary``, under ours they go a moment later.
    """
    with started("local[1]", tmp_path_factory.mktemp("session")) as session:
        session.sparkContext.setLogLevel("OFF")
        yield session


@pytest.fixture
def twins(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[[Layout], Twins]]:
    made: list[Twin] = []
    protocol = spark.conf.get(PROTOCOL)
    assert protocol is not None
    assert protocol != SPARKS

    def make(layout: Layout) -> Twins:
        made.append(Twin(spark, tmp_path / "ours", layout, protocol))
        made.append(Twin(spark, tmp_path / "sparks", layout, SPARKS))
        return Twins(*made)

    yield make
    for twin in made:
        twin.drop()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_writes_are_as_under_sparks_own_protocol(
    twins: Callable[[Layout], Twins], layout: str, seed: int, request: pytest.FixtureRequest
) -> None:
    read_after = 1 if request.config.getoption("--thorough") else STATEMENTS // 2
    draw = random.Random(f"{layout} {seed}")
    statements = Statements(draw, LAYOUTS[layout])
    print(f"layout {layout}, seed {seed}")
    both = twins(LAYOUTS[layout])
    for number in range(1, STATEMENTS + 1):
        statement = statements.first() if number == 1 else statements.next()
        print(statement)
        both.run(statement)
        if number % read_after == 0:
            both.compare_as_read()
