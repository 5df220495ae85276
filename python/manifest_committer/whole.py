# SPDX-License-Identifier: Apache-2.0
"""Tables as they were before or after the commit of each job, and never between."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from manifest_committer import _jvm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from manifest_committer._jvm import SparkSession

_SOURCE = "io.manifestcommitter.read.WholeSource"
"""Our data source by its class, which a session finds wherever the jar came from."""

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and Spark name the partition of a null."""


@dataclass(frozen=True)
class CommittedFile:
    """A file of a table."""

    path: str
    """Where it can be read now; a job that replaces it may have moved it aside."""
    size: int
    """In bytes."""
    partition: Mapping[str, str | None]
    """The values of the partition's columns, as text; None for a null."""


def read(
    spark: "SparkSession",
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - as spark.read calls it
    schema: "StructType | str | None" = None,
    before: str | None = None,
    **options: Any,
) -> "DataFrame":
    """Read a table as it was before or after the commit of each job, and never between.

    The files are those of the moment at which Spark looks at the table: when this function is
    called, and with a Connect session when the plan is first needed. A job that replaces them may
    delete them before a query has read them, so that the query fails.

    Args:
        spark: a session, classic or Connect, that has our jar, see `configure_session`.
        path: the table's directory.
        format: of the files, such as ``parquet``; by default the session's.
        schema: of the table; by default the files tell it.
        before: the id of a job that kept what it replaced
            (``mapreduce.manifest.committer.keep.replaced``). What it replaced is read as it was
            before that job, and the rest of the table as it is, without what that job wrote.
        options: of the format, as for ``spark.read``.

    Raises:
        JarVersionError: it has another version of it.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    _jvm.open_ready(spark)
    reader = spark.read.format(_SOURCE).options(**options)
    for option, value in (("format", format), ("before", before)):
        if value is not None:
            reader = reader.option(option, value)
    if schema is not None:
        reader = reader.schema(schema)
    return reader.load(os.fspath(path))


def committed_files(spark: "SparkSession", path: str | os.PathLike[str]) -> list[CommittedFile]:
    """The files of a table as it was before or after the commit of each job, by their paths.

    Args:
        spark: as for `read`.
        path: the table's directory.

    Raises:
        PathNotFoundError: there is no table.
        StorageError: the table cannot be read as a whole; the message says why.
        JarVersionError: it has another version of it.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    return files_of(_jvm.open_ready(spark).table_files(os.fspath(path)))


def files_of(found: Iterable[Mapping[str, Any]]) -> list[CommittedFile]:
    """The files that our Java class found."""
    return [CommittedFile(one["path"], one["size"], _partition(one["place"])) for one in found]


def _partition(place: str) -> dict[str, str | None]:
    """The values in the names of a file's directories below the table, as text."""
    values: dict[str, str | None] = {}
    for directory in place.split("/")[:-1]:
        column, equals, value = map(_unescaped, directory.partition("="))
        if column and equals:
            values[column] = None if value == _NO_VALUE else value
    return values


def _unescaped(name: str) -> str:
    """A name without the escapes of Spark and Hive.

    They write a character that a path cannot hold as ``%`` and the two hexadecimal digits of its
    code. So each escape is one character, as in Latin-1, and no byte of UTF-8 as in a URL. A ``%``
    without two digits after it stands for itself.
    """
    return unquote(name, encoding="latin-1")
