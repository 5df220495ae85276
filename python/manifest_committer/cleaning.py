# SPDX-License-Identifier: Apache-2.0
"""List, and remove, what jobs that died have left in a table's staging directories."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manifest_committer import _jvm
from manifest_committer.errors import CleaningError

if TYPE_CHECKING:
    from manifest_committer._jvm import SparkSession


@dataclass(frozen=True)
class StagedJob:
    """What a job keeps in a table while it runs, or has left there."""

    root: str
    """The staging directory."""
    kind: str
    """``spark_protocol`` or ``hadoop_protocol`` (ours), ``temporary`` (another committer's, below
    ``_temporary``), ``spark_staging`` (a dynamic overwrite by Spark's own protocol)."""
    job_id: str | None
    """None where the directory's name does not tell."""
    age: float | None
    """Seconds since the last heartbeat, or where there is none since the last write, by the
    store's clock; None if the store cannot tell."""
    files: int
    bytes: int
    state: str
    """``running``: there are signs of life. ``abandoned``: nothing of it is visible, and nobody
    works on it. ``unfinished``: its commit was begun; see `recover`. ``held``: it waits to be
    published or discarded; see `held`."""
    removed: bool
    aborted_uploads: int = 0
    """How many uploads on S3 its plan named, which were aborted before it was removed."""
    unknown_uploads: str | None = None
    """Why such uploads may still wait: its plan could not be read. ``manifest-committer clean
    --uploads`` aborts them by age."""


def clean(
    spark: "SparkSession",
    path: str | os.PathLike[str],
    *,
    older_than: str = "24h",
    dry_run: bool = False,
    discard_unfinished: bool = False,
    force: bool = False,
) -> list[StagedJob]:
    """Remove the staging directories of dead jobs from a table; readers see no difference.

    On S3, uploads that a removed directory names are aborted first: nobody completes them any more.
    Before it removes anything, it watches the heartbeats there for 45 seconds
    (``mapreduce.manifest.committer.heartbeat.timeout``): their times alone do not show that a job
    is dead.

    Args:
        spark: a session, classic or Connect, that has our jar, see `configure_session`.
        path: the table's directory.
        older_than: how long there was no sign of life: a number and ``ms``, ``s``, ``m`` or ``h``.
        dry_run: only list.
        discard_unfinished: also those of jobs that died in their commit, which can then neither be
            finished nor rolled back; data that an overwrite moved aside is lost. See `recover`.
        force: whatever the age, without watching, and also of a job that may be alive: only if you
            know that it is dead.

    Returns:
        All staging directories that were there, with what became of them.

    Raises:
        CleaningError: some could not be removed; `jobs` has all of them.
        PathNotFoundError: there is no table.
        StorageError: the table cannot be listed, or `older_than` is no length of time.
        JarVersionError: it has another version of it.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    answer = _jvm.open_ready(spark).clean(
        os.fspath(path),
        older_than=older_than,
        dry_run=dry_run,
        discard_unfinished=discard_unfinished,
        force=force,
    )
    jobs = [
        StagedJob(
            root=job["root"],
            kind=job["kind"],
            job_id=job["jobId"],
            age=None if job["ageMillis"] is None else job["ageMillis"] / 1000,
            files=job["files"],
            bytes=job["bytes"],
            state=job["state"],
            removed=job["removed"],
            aborted_uploads=job["abortedUploads"],
            unknown_uploads=job["unknownUploads"],
        )
        for job in answer
    ]
    errors = [f"{job['root']}: {job['error']}" for job in answer if job["error"] is not None]
    if errors:
        raise CleaningError("\n".join(errors), tuple(jobs))
    return jobs
