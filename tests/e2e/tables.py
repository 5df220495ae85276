# SPDX-License-Identifier: Apache-2.0
"""A table as the tests see it: its rows, its files, its report."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import sessions
from places import Place, path_of
from pyspark.sql import DataFrame, SparkSession

Row = tuple[Any, ...]
KEPT = ("_SUCCESS", "_SUCCESS.files", "_manifest_")
"""What is in a table beside data once its jobs have ended; the last has identities of commits."""


@dataclass(frozen=True)
class Report:
    """The parts of ``_SUCCESS`` and of the complete list beside it that the tests look at."""

    job_id: str
    success: bool
    filenames: list[str]
    counters: dict[str, int]
    sizes: dict[str, int]


class Table:
    """A table directory, partitioned by the columns of ``partition_by`` when written here."""

    def __init__(
        self,
        spark: SparkSession,
        path: Place,
        schema: str,
        *,
        fmt: str = "parquet",
        name: str | None = None,
        partition_by: Sequence[str] = (),
    ) -> None:
        self.spark = spark
        self.path = path
        self.schema = schema
        self.fmt = fmt
        self.name = name
        self.partition_by = partition_by
        self._jobs: list[str] = []

    # Writing

    def frame(self, rows: Iterable[Row]) -> DataFrame:
        """The rows as a DataFrame of this table's columns, in two tasks."""
        return self.spark.createDataFrame(list(rows), self.schema)

    def save(self, rows: Iterable[Row] | DataFrame, mode: str, **options: str) -> None:
        """Writes by path; looks at nothing afterwards."""
        frame = rows if hasattr(rows, "write") else self.frame(rows)
        if sessions.is_connect() and mode == "errorifexists":
            mode = "error"  # The only name that its client knows for the same.
        writer = frame.write.format(self.fmt).mode(mode).partitionBy(*self.partition_by)
        writer.options(**options).save(str(self.path))

    def write(self, rows: Iterable[Row] | DataFrame, mode: str, **options: str) -> Report:
        """Writes by path and checks the job's report against the directory."""
        self.save(rows, mode, **options)
        return self.check_report()

    def sql(self, statement: str) -> Report:
        """Runs a statement that writes into this table, ``{t}`` in it, and checks its report."""
        self.spark.sql(statement.format(t=self.name))
        return self.check_report()

    # Looking

    def read(self) -> DataFrame:
        if self.name is not None:
            self.spark.catalog.refreshTable(self.name)
            return self.spark.table(self.name)
        return self.spark.read.format(self.fmt).schema(self.schema).load(str(self.path))

    def rows(self) -> Counter[Row]:
        return Counter(tuple(row) for row in self.read().collect())

    def partitions(self) -> set[str]:
        """Those that the catalog knows."""
        return {row[0] for row in self.spark.sql(f"SHOW PARTITIONS {self.name}").collect()}

    def location(self, partition: str) -> str:
        """Where the catalog says that a partition is."""
        described = f"DESCRIBE EXTENDED {self.name} PARTITION ({partition})"
        rows = self.spark.sql(described).collect()
        return str(next(row.data_type for row in rows if row.col_name == "Location"))

    def data_files(self) -> dict[str, int]:
        """What a reader of the directory would open: relative path and size in bytes."""
        files = {}
        for file in self.path.rglob("*"):
            relative = file.relative_to(self.path)
            hidden = any(part[0] == "." or part.startswith("_") for part in relative.parts)
            if file.is_file() and not hidden:
                files[relative.as_posix()] = file.stat().st_size
        return files

    def snapshot(self, directory: Place | None = None) -> dict[str, str]:
        """All that is in a directory, hidden or not: directories, and files with digests."""
        root = directory or self.path
        return {
            entry.relative_to(root).as_posix(): digest(entry)
            for entry in [root, *root.rglob("*")]
            if entry.exists()
        }

    def report(self) -> Report:
        """Reads ``_SUCCESS`` and the complete list as the plain files that they are."""
        success = json.loads((self.path / "_SUCCESS").read_text("utf-8"))
        complete = gzip.decompress((self.path / "_SUCCESS.files").read_bytes())
        header, *files = [json.loads(line) for line in complete.decode().splitlines()]
        assert success["name"].startswith("org.apache.hadoop.fs.s3a.commit.files.SuccessData/")
        assert header["jobId"] == success["jobId"]
        assert header["files"] == len(files)
        return Report(
            job_id=success["jobId"],
            success=success["success"],
            filenames=[self.below(name) for name in success["filenames"]],
            counters=success["iostatistics"]["counters"],
            sizes={self.listed(file["path"]): file["size"] for file in files},
        )

    def below(self, uri: str) -> str:
        """A path that is written as a URI; without the table's path, if it is below the table."""
        return unquote(urlsplit(uri).path).removeprefix(f"{path_of(self.path)}/")

    def listed(self, path: str) -> str:
        """A path of the complete list: as it is if below the table, otherwise as a URI."""
        return self.below(path) if re.match(r"/|[A-Za-z][A-Za-z0-9+.-]*:/", path) else path

    # Checking

    def check_report(self, elsewhere: dict[str, int] | None = None) -> Report:
        """The report is of a new job, and says what that job put into the table, no more, no less.

        ``elsewhere`` are the files (absolute path, bytes) that it put into other locations.
        """
        report = self.report()
        assert report.success
        assert report.job_id not in self._jobs, "this is the report of an earlier job"
        self._jobs.append(report.job_id)
        written = {f: size for f, size in self.data_files().items() if report.job_id in f}
        written.update(elsewhere or {})
        assert report.sizes == written
        assert len(report.filenames) == min(len(written), 100)
        assert set(report.filenames) <= set(written)
        assert report.counters.get("committer_files_committed", 0) == len(written)
        assert report.counters.get("committer_bytes_committed", 0) == sum(written.values())
        self.check_nothing_left()
        return report

    def check_nothing_left(self) -> None:
        """Beside data there is the report, and every checksum file belongs to a file."""
        everything = {e.relative_to(self.path).as_posix() for e in self.path.rglob("*")}
        for path in everything:
            folder, _, name = path.rpartition("/")
            if name.endswith(".crc"):
                owner = name.removeprefix(".").removesuffix(".crc")
                assert (f"{folder}/{owner}" if folder else owner) in everything, f"orphan: {path}"
            elif name.startswith(("_", ".")):
                assert path in KEPT, f"left behind: {path}"


def digest(entry: Place) -> str:
    return "directory" if entry.is_dir() else hashlib.sha256(entry.read_bytes()).hexdigest()
