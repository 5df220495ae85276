# SPDX-License-Identifier: Apache-2.0
"""Manifests of a job's files: lists in the forms that other systems read.

Each is written whole to a local file first, so that its readers never see half of it.
"""

import os
import re
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

from manifest_committer._jvm import Session, encoded
from manifest_committer._listing import (
    REPLACES_NOTHING,
    REPLACES_SOMEWHERE,
    REPLACES_TABLE,
    Job,
    Listing,
    PublishedFile,
    as_others_name,
    place,
    require_kind,
    values,
)
from manifest_committer.errors import PassingOnError, StorageError

_MANIFEST = "manifest"


class Files:
    """Files that are written whole: on this machine, or by the session's Hadoop filesystems."""

    def __init__(self, session: Session, root: str) -> None:
        """Take the path of a file, or of a directory."""
        self._session = session
        self._root = root.rstrip("/")
        local = re.match(r"file:(?://(?=/))?(/.*)", self._root)
        self._local = None if local is None else Path(local[1])

    def path(self, relative: str) -> str:
        """For messages, and for the session."""
        return f"{self._root}/{relative}" if relative else self._root

    def read(self, relative: str) -> bytes | None:
        """The content of a file; None if there is none."""
        path = self.path(relative)
        if self._local is not None:
            file = self._local / relative
            return file.read_bytes() if file.is_file() else None
        if self._session.find(path) is None:
            return None
        return b"".join(self._session.chunks(path))

    @contextmanager
    def replacing(self, relative: str) -> Iterator[IO[str]]:
        """Takes the new content of a file, which is seen once it is whole."""
        descriptor, spooled = tempfile.mkstemp(prefix="manifest-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
                yield file
            if self._local is None:
                self._session.put(spooled, self.path(relative))
            else:
                _put(spooled, self._local / relative)
        finally:
            Path(spooled).unlink()

    def found(self) -> list[str]:
        """The manifests below the directory, relative to it."""
        if self._local is None:
            files = self._session.files_below(self._root)
        else:
            below = self._local.rglob(_MANIFEST)
            files = [str(file.relative_to(self._local)) for file in below if file.is_file()]
        return [file for file in files if file.rpartition("/")[2] == _MANIFEST]

    def remove(self, relative: str) -> None:
        """Delete a file; that it is gone before is no error."""
        if self._local is None:
            self._session.remove(self.path(relative))
        else:
            (self._local / relative).unlink(missing_ok=True)


def _put(spooled: str, target: Path) -> None:
    hidden = target.with_name(f"_{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(spooled, hidden)
        hidden.replace(target)
    except OSError as error:
        with suppress(OSError):
            hidden.unlink()
        raise StorageError("write", str(target), str(error)) from error


def write(files: Files, form: str, job: Job, listing: Callable[[], Listing]) -> int:
    """Write the manifest, or manifests, in one form; returns how many files of the job it names."""
    forms = {"bigquery": _bigquery, "redshift": _redshift, "symlink": _symlink}
    if form not in forms:
        raise ValueError(f"format is {form!r}; it can be {', '.join(map(repr, forms))}")
    found = listing()
    if place(files.path("")).startswith(f"{place(found.table)}/"):
        raise PassingOnError(
            f"{files.path('')} is in the table {found.table}, and an overwrite of the table would "
            "remove it. Write manifests beside the table."
        )
    return forms[form](files, job, found)


def _bigquery(files: Files, job: Job, listing: Listing) -> int:
    with files.replacing("") as out:
        named = 0
        for file in listing.files:
            _require_store(file, ("gs",), "BigQuery", "gs://")
            out.write(f"{_line(file)}\n")
            named += 1
        _require_some(named, job)
    return named


def _redshift(files: Files, job: Job, listing: Listing) -> int:
    with files.replacing("") as out:
        named = 0
        out.write('{"entries": [')
        for file in listing.files:
            _require_store(file, ("s3", "s3a", "s3n"), "Redshift", "s3://")
            entry = {
                "url": as_others_name(file.path),
                "mandatory": True,
                "meta": {"content_length": file.size},
            }
            out.write(f"{',' if named else ''}\n  {encoded(entry)}")
            named += 1
        _require_some(named, job)
        out.write("\n]}\n")
    return named


def _symlink(files: Files, job: Job, listing: Listing) -> int:
    require_kind(job)
    # Without a name SQLite keeps them in a file of its own, which goes with the connection.
    with closing(sqlite3.connect("")) as grouped:
        grouped.execute("CREATE TABLE files (directory TEXT, path TEXT)")
        grouped.executemany("INSERT INTO files VALUES (?, ?)", _in_directories(listing.files))
        grouped.execute("CREATE INDEX by_directory ON files (directory)")
        directories = [row[0] for row in grouped.execute("SELECT DISTINCT directory FROM files")]
        _require_extent(job, directories)
        if job.write in REPLACES_NOTHING:
            for directory in directories:
                _require_known(files, job, directory)
        named = 0
        for directory in directories:
            relative = f"{directory}/{_MANIFEST}" if directory else _MANIFEST
            rows = grouped.execute("SELECT path FROM files WHERE directory = ?", (directory,))
            before = files.read(relative) if job.write in REPLACES_NOTHING else None
            named += _write_lines(files, relative, before, (row[0] for row in rows))
        if job.write in REPLACES_TABLE:
            kept = {f"{directory}/{_MANIFEST}".lstrip("/") for directory in directories}
            for relative in files.found():
                if relative not in kept:
                    files.remove(relative)
    return named


def _in_directories(found: Iterable[PublishedFile]) -> Iterator[tuple[str, str]]:
    for file in found:
        if file.directory is None:
            raise PassingOnError(
                f"{file.path} lies outside of the table, so no partition's manifest could name it. "
                "Symlink manifests are for tables whose files are all below them."
            )
        values(file.directory, file.path)
        yield file.directory, as_others_name(_line(file))


def _write_lines(files: Files, relative: str, before: bytes | None, new: Iterable[str]) -> int:
    """Names files once, the earlier ones first; returns how many are new or named again."""
    earlier = dict.fromkeys((before or b"").decode().splitlines())
    named = 0
    with files.replacing(relative) as out:
        out.writelines(f"{line}\n" for line in earlier)
        for line in new:
            named += 1
            if line not in earlier:
                out.write(f"{line}\n")
    return named


def _require_extent(job: Job, directories: list[str]) -> None:
    """Where some partitions were overwritten, the report names those that got new files."""
    if job.write in REPLACES_SOMEWHERE and (
        not directories or any("/" in directory for directory in directories)
    ):
        raise PassingOnError(
            f"Job {job.job_id} overwrote all partitions below one, and its report does not name "
            "those that are gone. Nothing was written. Overwrite the table, or write it in "
            "dynamic mode (spark.sql.sources.partitionOverwriteMode), and pass that job on."
        )


def _require_known(files: Files, job: Job, directory: str) -> None:
    """An append to what no manifest names would hide what is there."""
    name = directory or "."
    if job.outcome_of(name) == "created":
        return
    path = f"{directory}/{_MANIFEST}" if directory else _MANIFEST
    if files.read(path) is None:
        raise PassingOnError(
            f"Job {job.job_id} appended to {name}, and there is no {files.path(path)} to add its "
            "files to: a new one would hide the files from before. Nothing was written. Begin with "
            "the report of a job that overwrote the table or the partition."
        )


def _require_store(file: PublishedFile, schemes: tuple[str, ...], system: str, form: str) -> None:
    scheme = file.path.partition(":")[0]
    if scheme not in schemes:
        raise PassingOnError(
            f"{file.path} is in a store of {scheme}://, and {system} reads files of {form} by a "
            "manifest. Nothing was written. Write the table there, or load the files by a copy."
        )


def _require_some(named: int, job: Job) -> None:
    if not named:
        raise PassingOnError(
            f"Job {job.job_id} committed no files: there is nothing to load, and a manifest "
            "without files is an error there. Nothing was written."
        )


def _line(file: PublishedFile) -> str:
    if "\n" in file.path or "\r" in file.path:
        raise PassingOnError(
            f"{file.path!r} has a line break in its path, and the manifest has a path a line. "
            "Nothing was written. Write the table to another directory."
        )
    return file.path
