# SPDX-License-Identifier: Apache-2.0
"""Writes with an identity, whose data a table takes once."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from manifest_committer import _jvm
from manifest_committer.errors import PathNotFoundError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter

    from manifest_committer._jvm import SparkSession

COMMIT_ID = "mapreduce.manifest.committer.commit.id"
"""The option of a write that gives it an identity."""

_QUERY_ID = "sql.streaming.queryId"
"""The local property in which Spark keeps the id of the query while a batch runs."""


def was_committed(spark: "SparkSession", path: str | os.PathLike[str], commit_id: str) -> bool:
    """Whether a table remembers that the data of an identity was committed into it.

    It saves the tasks of a write that would publish nothing. The commit decides in any case, so a
    commit that runs right now need not count. One request to the store, and one more for False.

    Args:
        spark: a session, classic or Connect, that has our jar, see `configure_session`.
        path: the table's directory; False if there is none.
        commit_id: the identity, ``mapreduce.manifest.committer.commit.id`` of the write.

    Raises:
        StorageError: the table cannot be looked at.
        JarVersionError: it has another version of it.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    return bool(_found(spark, path, commit_id, forget=False))


def forget(spark: "SparkSession", path: str | os.PathLike[str], commit_id: str) -> bool:
    """Let a table forget an identity: a write that has it is committed again.

    Args:
        spark: as for `was_committed`.
        path: the table's directory.
        commit_id: the identity.

    Returns:
        Whether the table remembered it.

    Raises:
        StorageError: the table cannot be looked at.
        JarVersionError: it has another version of it.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    return bool(_found(spark, path, commit_id, forget=True))


def _found(
    spark: "SparkSession", path: str | os.PathLike[str], commit_id: str, *, forget: bool
) -> list[dict[str, Any]]:
    if not commit_id:
        raise ValueError("the identity of a commit is not empty")
    try:
        return _jvm.open_ready(spark).commit_ids(os.fspath(path), commit_id, forget=forget)
    except PathNotFoundError:
        return []


def once_per_batch(
    path: str | os.PathLike[str],
    write: "Callable[[DataFrameWriter], None]",
    *,
    query: str | None = None,
) -> "Callable[[DataFrame, int], None]":
    """A function for ``foreachBatch`` by which a table takes each batch once.

    Spark runs a batch again if it died before it noted that the batch was done. The identity of a
    batch is the id of its query, which is in the checkpoint, and the number of the batch.

    Args:
        path: the table's directory.
        write: writes to `path` with the writer that it is given, such as
            ``lambda writer: writer.mode("append").parquet(path)``.
        query: a name that the query keeps when it is started again, in place of its id. A Connect
            session does not know the id, and needs this.
    """

    def run(batch: "DataFrame", number: int) -> None:
        spark = batch.sparkSession
        commit_id = f"{query or _query_id(spark)}-{number}"
        if not was_committed(spark, path, commit_id):
            write(batch.write.option(COMMIT_ID, commit_id))

    return run


def _query_id(spark: "SparkSession") -> str:
    if not _jvm.is_connect(spark):
        found: str | None = spark.sparkContext.getLocalProperty(_QUERY_ID)
        if found:
            return found
    raise ValueError(
        "the session does not know the id of its query: give once_per_batch(..., query=name) a "
        "name that the query keeps when it is started again"
    )
