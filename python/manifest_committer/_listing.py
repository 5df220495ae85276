# SPDX-License-Identifier: Apache-2.0
"""The files that a job published, by full paths and by directories, as other systems need them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from urllib.parse import unquote

from manifest_committer.errors import PassingOnError

_ABSOLUTE = re.compile(r"/|[A-Za-z][A-Za-z0-9+.-]*:/")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_NULL = "__HIVE_DEFAULT_PARTITION__"
_ALIASES = {"s3a": "s3", "s3n": "s3", "abfss": "abfs"}

REPLACES_TABLE = ("overwrite", "overwrite (new table)", "dynamic overwrite (new table)")
REPLACES_WHERE_WRITTEN = ("dynamic overwrite", "append that replaces partitions")
REPLACES_SOMEWHERE = ("overwrite of partitions",)
"""The report does not name partitions that are gone without new files in their place."""

REPLACES_NOTHING = ("append", "overwrite (new partition)")
_KINDS = (*REPLACES_TABLE, *REPLACES_WHERE_WRITTEN, *REPLACES_SOMEWHERE, *REPLACES_NOTHING)

Values = tuple[tuple[str, str | None], ...]
"""The columns of a partition's directory, in their order, with their values as text."""


class Job(Protocol):
    """What is asked of a report."""

    @property
    def job_id(self) -> str:
        """Which job."""

    @property
    def timestamp(self) -> int:
        """When it ended, in milliseconds."""

    @property
    def write(self) -> str:
        """The kind of write."""

    def outcome_of(self, partition: str) -> str:
        """What became of a partition."""


class Listed(Protocol):
    """A file as the complete list has it."""

    @property
    def path(self) -> str:
        """Relative to the table; the text of a URI if the file is outside."""

    @property
    def size(self) -> int:
        """In bytes."""


class PublishedFile(NamedTuple):
    """A file that a job published."""

    path: str
    """With its scheme; no character of it stands for another."""
    directory: str | None
    """Relative to the table, empty for the table itself; None if the file is outside."""
    size: int


@dataclass(frozen=True)
class Listing:
    """The files of one job; they can be gone through once."""

    table: str
    """The table's directory, with its scheme; no character of it stands for another."""
    files: Iterator[PublishedFile]


def published(table: str, listed: Iterable[Listed]) -> Listing:
    """The files of a list.

    Args:
        table: the table's directory, as a path or as the text of a URI.
        listed: relative to it, or as texts of URIs.
    """
    place = table.rstrip("/")
    return Listing(place, (_published(place, file) for file in listed))


def _published(table: str, file: Listed) -> PublishedFile:
    if not _ABSOLUTE.match(file.path):
        return PublishedFile(f"{table}/{file.path}", file.path.rpartition("/")[0], file.size)
    path = unquote(file.path)
    below = path.removeprefix(f"{table}/")
    return PublishedFile(path, None if below == path else below.rpartition("/")[0], file.size)


def require_kind(job: Job) -> None:
    """Refuse a job of which it is not known what it replaced.

    Raises:
        PassingOnError: its report does not say so.
    """
    if job.write not in _KINDS:
        raise PassingOnError(
            f"The report of job {job.job_id} does not say whether it appended or replaced "
            f"({job.write or 'nothing of its write'!r}). Pass on jobs of Spark SQL that the "
            "manifest committer committed."
        )


def as_others_name(path: str) -> str:
    """A path with the scheme that others than Hadoop know S3 by."""
    return re.sub("^s3[an]:", "s3:", path)


def place(location: str) -> str:
    """A location in the one form in which two names of the same place are equal."""
    scheme, colon, rest = location.partition(":")
    if not colon or "/" in scheme:
        scheme, rest = "file", location
    scheme = _ALIASES.get(scheme, scheme)
    if rest.startswith("///"):
        rest = rest[2:]
    return f"{scheme}:{rest.rstrip('/')}"


def values(directory: str, what: str) -> Values:
    """What the names of a partition's directories say.

    Args:
        directory: relative to the table.
        what: names it in the message.

    Raises:
        PassingOnError: a directory is not named after a column and its value.
    """
    found = []
    for part in directory.split("/") if directory else ():
        column, equals, value = part.partition("=")
        if not equals or not column:
            raise PassingOnError(
                f"{what} is in a directory {part!r}, which is not named column=value. Pass on jobs "
                "that write their partitions by partitionBy(…)."
            )
        found.append((_unescaped(column), None if value == _NULL else _unescaped(value)))
    return tuple(found)


def _unescaped(name: str) -> str:
    """As Hive and Spark escape what may not stand in the name of a directory."""
    return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), name)
