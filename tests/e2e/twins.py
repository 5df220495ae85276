# SPDX-License-Identifier: Apache-2.0
"""Two tables that get the same writes: one under this committer, one under Spark's own protocol."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from protocols import PARTITION_MODE, PROTOCOL
from pyspark.sql import DataFrame, SparkSession
from sessions import settings
from tables import Row, digest

DIRECTORY_RENAME = "mapreduce.manifest.committer.directory.rename"

REPORTS = ("_SUCCESS", "_SUCCESS.files")
LOCATIONS = re.compile("(^|/)location [0-9]/$")
"""Directories that partitions of the catalog may have as locations of their own."""

BUCKET = re.compile(r"_(\d{5})(?:\.|$)")


@dataclass(frozen=True)
class Layout:
    """What a table is like. Its one column of data is ``v``."""

    kind: str
    """``managed`` or ``external``, both in the catalog, or ``path``."""
    columns: tuple[str, ...] = ()
    """Those it is partitioned by."""
    buckets: int = 0
    fmt: str = "parquet"

    @property
    def all_columns(self) -> tuple[str, ...]:
        return ("v", *self.columns)

    @property
    def by(self) -> str:
        """The clauses of CREATE TABLE."""
        clauses = f"USING {self.fmt}"
        if self.columns:
            clauses += f" PARTITIONED BY ({', '.join(self.columns)})"
        if self.buckets:
            clauses += f" CLUSTERED BY (v) INTO {self.buckets} BUCKETS"
        return clauses + (" LOCATION '{path}'" if self.kind == "external" else "")

    @property
    def schema(self) -> str:
        return ", ".join(["v INT", *(f"{column} STRING" for column in self.columns)])


@dataclass(frozen=True)
class Statement:
    """Something to do to each of the two."""

    text: str
    run: Callable[[Twin], object]
    dynamic: bool = False
    """The mode of overwrites."""
    by_directory: bool = True
    """Whether our committer may rename directories."""
    fails: bool = False
    """It fails after it has written some rows."""
    replaces: bool = False
    """Spark's own protocol deletes what it replaces before it has the new rows."""
    drops: bool = False
    """Spark drops the table first, and a managed table's data with it, whatever the protocol."""

    def __str__(self) -> str:
        mode = "dynamic" if self.dynamic else "static"
        rename = "directories" if self.by_directory else "files"
        return f"{self.text}  -- {mode}, by {rename}{', fails' if self.fails else ''}"


class Twin:
    """One of the two. All that belongs to it is below ``root``, the table itself in ``root/t``."""

    def __init__(self, spark: SparkSession, root: Path, layout: Layout, protocol: str) -> None:
        self.spark = spark
        self.root = root
        self.path = root / "t"
        self.layout = layout
        self.protocol = protocol
        self.database = re.sub(r"\W", "_", f"{root.parent.name}_{root.name}").lower()
        self.name = f"{self.database}.t"
        root.mkdir(parents=True)
        spark.sql(f"CREATE DATABASE {self.database} LOCATION '{root}'")
        self.create()

    # Doing

    def sql(self, text: str) -> DataFrame:
        """Has ``{t}`` for the table, ``{path}`` for its directory, ``{root}`` for the one above."""
        values = {"{t}": self.name, "{path}": str(self.path), "{root}": str(self.root)}
        for key, value in values.items():
            text = text.replace(key, value)
        return self.spark.sql(text)

    def create(self) -> None:
        """With the partitions that its directory has."""
        if self.layout.kind != "path":
            self.sql(f"CREATE TABLE {{t}} ({self.layout.schema}) {self.layout.by}")
            if self.layout.columns and self.path.exists():
                self.sql("MSCK REPAIR TABLE {t}")

    def run(self, statement: Statement) -> Exception | None:
        """The error, if it fails."""
        conf = {
            PROTOCOL: self.protocol,
            PARTITION_MODE: "dynamic" if statement.dynamic else "static",
            DIRECTORY_RENAME: "auto" if statement.by_directory else "off",
        }
        with settings(self.spark, conf):
            try:
                statement.run(self)
            except Exception as error:
                return error
        return None

    def drop(self) -> None:
        self.spark.sql(f"DROP DATABASE IF EXISTS {self.database} CASCADE")

    # Looking

    def exists(self) -> bool:
        return self.layout.kind == "path" or self.spark.catalog.tableExists(self.name)

    def read(self) -> DataFrame:
        if self.layout.kind != "path":
            self.spark.catalog.refreshTable(self.name)
            return self.spark.table(self.name)
        reader = self.spark.read.format(self.layout.fmt).schema(self.layout.schema)
        return reader.load(str(self.path) if self.path.exists() else [])

    def partitions(self) -> list[str]:
        """Those that the catalog knows."""
        if self.layout.kind == "path" or not self.layout.columns:
            return []
        return sorted(row[0] for row in self.sql("SHOW PARTITIONS {t}").collect())

    def tree(self) -> Counter[str]:
        """All that is there, hidden or not, without names that differ from job to job."""
        return Counter(
            described
            for entry in self.root.rglob("*")
            if (described := self._describe(entry)) is not None
        )

    def contents(self) -> Counter[tuple[str, str]]:
        """The directory and digest of each data file: Spark writes the same rows as same bytes."""
        return Counter(
            (str(file.parent.relative_to(self.root)), digest(file))
            for file in self.root.rglob("*")
            if file.name[0] not in "._" and file.is_file()
        )

    def _describe(self, entry: Path) -> str | None:
        path = entry.relative_to(self.root)
        if entry.is_dir():
            return None if LOCATIONS.search(f"{path}/") else f"{path}/"
        name = entry.name
        if name.endswith(".crc"):
            name = name.removeprefix(".").removesuffix(".crc")
            if os.path.lexists(entry.with_name(name)):
                return None
            return f"{path.parent}/ checksum of nothing"
        if name in REPORTS:
            return None
        if name[0] in "._":
            return str(path)
        number = bucket(name)
        return f"{path.parent}/ file" + (f" of bucket {number}" if number else "")

    def become(self, other: Twin) -> None:
        """Takes over all that the other one has in its directories."""
        shutil.rmtree(self.root)
        shutil.copytree(other.root, self.root)


class Twins:
    """Both, and what they had when last compared."""

    def __init__(self, ours: Twin, sparks: Twin) -> None:
        self.ours = ours
        self.sparks = sparks
        self.both = (ours, sparks)
        self.compare()

    def run(self, statement: Statement) -> None:
        """Runs it on both, which then have the same."""
        errors = [twin.run(statement) for twin in self.both]
        kind = condition(errors[0])
        print(f"  {kind}" if kind else "  done")
        assert kind == condition(errors[1]), errors
        assert self.ours.exists() == self.sparks.exists()
        if statement.fails and errors[0] is not None:
            self.expect_the_old(statement)
        if not self.ours.exists():
            for twin in self.both:
                twin.create()
        self.compare()

    def expect_the_old(self, statement: Statement) -> None:
        """Ours is as it was. The other one gets the same if it is not."""
        if not statement.drops:
            assert self.ours.tree() == self.tree
            assert self.ours.contents() == self.contents
        lost = [entry for entry in self.tree - self.sparks.tree() if not entry.endswith("/")]
        assert statement.drops or statement.replaces or not lost
        if self.ours.tree() != self.sparks.tree():
            self.sparks.become(self.ours)

    def compare(self) -> None:
        """What is in their directories."""
        self.tree = self.ours.tree()
        assert self.tree == self.sparks.tree()
        self.contents = self.ours.contents()
        assert self.contents == self.sparks.contents()

    def compare_as_read(self) -> None:
        """What Spark reads from them, and the partitions that it knows."""
        assert self.ours.partitions() == self.sparks.partitions()
        ours, others = rows(*self.both)
        assert ours == others


def rows(*twins: Twin) -> list[Counter[Row]]:
    """Those of each, read in one go."""
    frames = [twin.read().selectExpr(f"{which} AS twin", "*") for which, twin in enumerate(twins)]
    found: list[Counter[Row]] = [Counter() for _ in twins]
    for which, *row in reduce(DataFrame.unionAll, frames).collect():
        found[which][tuple(row)] += 1
    return found


def bucket(name: str) -> str | None:
    """The number of the bucket in a file's name, if it has one."""
    found = BUCKET.search(name)
    return found[1] if found else None


def condition(error: Any) -> str:
    """What kind of error it is, as far as Spark says it; nothing if there is none."""
    if error is None:
        return ""
    named = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    return f"{type(error).__name__} {named() if named else ''}"
