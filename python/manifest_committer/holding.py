# SPDX-License-Identifier: Apache-2.0
"""Held jobs: writes whose data is looked at before anybody sees it in the table."""

import os
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from manifest_committer import _jvm
from manifest_committer._figures import count, in_units, moment
from manifest_committer.errors import (
    AuditError,
    HeldJobError,
    ManifestCommitterError,
    PathNotFoundError,
)
from manifest_committer.whole import read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from manifest_committer._jvm import SparkSession

PUBLISH = "mapreduce.manifest.committer.publish"
"""The option of a write; ``hold`` lets its job end with nothing visible."""

COMMIT_ID = "mapreduce.manifest.committer.commit.id"
"""The option of a write with its identity, by which its held job is found."""


@dataclass(frozen=True)
class HeldJob:
    """A job that ended with nothing visible, and waits to be published or discarded."""

    job_id: str
    path: str
    """The table."""
    files: int
    bytes: int
    partitions: tuple[str, ...]
    """Those that it writes to, such as ``p=1``; empty where it writes to the table itself."""
    since: int
    """Since when it is held, in milliseconds since 1970, by the store's clock."""
    overwrites: bool
    """Whether it is published only over the state that it saw."""
    commit_id: str | None
    """``mapreduce.manifest.committer.commit.id`` of the write."""
    readable: bool
    """Whether its data can be read; uploads that wait on S3 cannot."""
    _spark: "SparkSession" = field(repr=False, compare=False)

    def read(self, format: str | None = None, **options: str) -> "DataFrame":  # noqa: A002
        """Read exactly the files that would be published, with their partition columns.

        Args:
            format: of the files, as ``spark.read.format`` takes it; by default the session's.
            options: for Spark's reader, such as ``header="true"``.

        Raises:
            ManifestCommitterError: its files wait as uploads on S3; or it is not held any more.
            StorageError: the table cannot be looked at.
        """
        if not self.readable:
            raise ManifestCommitterError(
                f"The files of job {self.job_id} wait as uploads, which nobody can read before "
                f"they are completed. It has {self.files} files, {self.bytes} bytes."
            )
        if all(job.job_id != self.job_id for job in held(self._spark, self.path)):
            raise ManifestCommitterError(f"Job {self.job_id} is not held in {self.path} any more.")
        return read(self._spark, self.path, format, held=self.job_id, **options)

    def publish(self) -> None:
        """Make its data visible.

        Raises:
            HeldJobError: it is not held any more; or the table has changed where it overwrites, or
                a part of it is gone. Then nothing was changed, and the error says what to do.
        """
        self._end("publish")

    def discard(self) -> None:
        """Remove its data, also if its publication died.

        Raises:
            HeldJobError: it is not held any more, or could not be removed.
        """
        self._end("discard")

    def _end(self, action: str) -> None:
        (answer,) = _jvm.open_ready(self._spark).held(self.path, self.job_id, action)
        if answer["errors"]:
            raise HeldJobError("\n  ".join(answer["errors"]))


def held(spark: "SparkSession", path: str | os.PathLike[str]) -> list[HeldJob]:
    """The held jobs of a table, the first first.

    Args:
        spark: a session, classic or Connect, that has our jar, see `configure_session`.
        path: the table's directory; an empty list if there is none.

    Raises:
        StorageError: the table cannot be looked at.
        JarVersionError: it has another version of it.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    table = os.fspath(path)
    try:
        jobs = _jvm.open_ready(spark).held(table, "", "")
    except PathNotFoundError:
        return []
    return [
        HeldJob(
            job_id=job["jobId"],
            path=table,
            files=job["files"],
            bytes=job["bytes"],
            partitions=tuple(job["partitions"]),
            since=job["since"],
            overwrites=job["overwrites"],
            commit_id=job["commitId"],
            readable=job["readable"],
            _spark=spark,
        )
        for job in jobs
    ]


def audited(
    df: "DataFrame",
    path: str | os.PathLike[str],
    *,
    check: "Callable[[DataFrame], Any]",
    format: str = "parquet",  # noqa: A002
    mode: str = "append",
    partition_by: "str | list[str] | None" = None,
    **options: str,
) -> HeldJob | None:
    """Write a DataFrame, and publish it only if a check of its written data holds.

    The write gets an identity (``mapreduce.manifest.committer.commit.id``) of its own, unless the
    options or the session have one. With one that you keep, the call can be repeated. If an earlier
    run died while its data was held, this call checks and publishes that data, not its own.

    Args:
        df: what to write.
        path: the table's directory.
        check: gets the written data as `HeldJob.read` reads it. Publishes if it returns something
            true; otherwise, or if it raises, discards.
        format: as ``df.write.format`` takes it.
        mode: as ``df.write.mode`` takes it.
        partition_by: as ``df.write.partitionBy`` takes it.
        options: for Spark's writer.

    Returns:
        The job that was published; None if the table has the data of this identity already.

    Raises:
        AuditError: the check does not hold; the data was discarded.
        HeldJobError: the data could not be published: see `HeldJob.publish`.
        ManifestCommitterError: the data cannot be read before it is published; it was discarded.
    """
    commit_id = _commit_id(df.sparkSession, options)
    writer = df.write.format(format).mode(mode).options(**options)
    writer = writer.option(PUBLISH, "hold").option(COMMIT_ID, commit_id)
    if partition_by:
        writer = writer.partitionBy(partition_by)
    writer.save(os.fspath(path))
    for job in held(df.sparkSession, path):
        if job.commit_id == commit_id:
            return _checked(job, check, format, options)
    return None


def _commit_id(spark: "SparkSession", options: dict[str, str]) -> str:
    """The identity that the options or the session give; otherwise one that no other write has."""
    given = [value for key, value in options.items() if key.lower() == COMMIT_ID]
    given += [str(spark.conf.get(prefix + COMMIT_ID, "")) for prefix in ("", "spark.hadoop.")]
    return next(filter(None, given), str(uuid.uuid4()))


def _checked(
    job: HeldJob, check: "Callable[[DataFrame], Any]", fmt: str, options: dict[str, str]
) -> HeldJob:
    try:
        holds = check(job.read(fmt, **options))
    except BaseException:
        job.discard()
        raise
    if not holds:
        job.discard()
        raise AuditError(job.job_id, job.path)
    job.publish()
    return job


def held_text(job: Mapping[str, Any]) -> str:
    """A line about a job that our Java class found."""
    files = f"{count(job['files'])} file{'' if job['files'] == 1 else 's'}"
    parts = [f"job {job['jobId']}: {files}", in_units(job["bytes"])]
    if job["overwrites"]:
        parts.append("overwrites")
    if job["commitId"]:
        parts.append(f"commit.id {job['commitId']}")
    return f"{moment(job['since'])}  {', '.join(parts)}"
