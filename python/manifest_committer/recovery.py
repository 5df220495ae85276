# SPDX-License-Identifier: Apache-2.0
"""Complete, or roll back, the jobs that died while they committed into a table."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from manifest_committer import _jvm
from manifest_committer.errors import JobAliveError, RecoveryError

if TYPE_CHECKING:
    from manifest_committer._jvm import SparkSession


@dataclass(frozen=True)
class RecoveredJob:
    """What became of a job that died in its commit."""

    job_id: str
    staging: str
    """The job's staging directory in the table, which is gone now, unless `left` says why not."""
    outcome: str
    """``rolled_back``: the table is as it was before the job. ``completed``: it has the job's data.
    ``cleaned_up``: the job was complete, only its staging directory had been left."""
    left: str = ""
    """Why the staging directory could not be removed; empty if it was. Nobody needs it any more."""


def recover(
    spark: "SparkSession",
    path: str | os.PathLike[str],
    *,
    rollback: bool = False,
    force: bool = False,
    complete: bool = False,
) -> list[RecoveredJob]:
    """Complete, or roll back, the jobs that died while they committed into a table.

    Rolls back a job that died before its point of no return, since its driver never said that it
    succeeded. Completes one that died after it. Can be repeated, also after it was cut short.

    If there are such jobs, it first watches their heartbeats, all at the same time, for 45 seconds
    (``mapreduce.manifest.committer.heartbeat.timeout``). A job whose heartbeat moves is alive.

    Args:
        spark: a session, classic or Connect, that has our jar, see `configure_session`.
        path: the table's directory.
        rollback: roll back, as by default; what is past its point of no return is completed
            all the same, since old data may be gone by then.
        force: do not watch, and recover also a job that may be alive: only if you know that it is
            dead.
        complete: complete also what is before its point of no return.

    Returns:
        The jobs that were recovered; an empty list if none had died.

    Raises:
        ValueError: both `rollback` and `complete`.
        JobAliveError: a job's driver shows signs of life; nothing of it was touched.
        RecoveryError: a job could not be recovered, or a place in the table was changed by
            another job since; the rest was done. `recovered` has the jobs that were.
        PathNotFoundError: there is no table.
        StorageError: the table cannot be looked at.
        JarVersionError: it has another version of it.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    if rollback and complete:
        raise ValueError("give rollback or complete, not both")
    jobs = _jvm.open_ready(spark).recover(os.fspath(path), complete=complete, force=force)
    recovered = [
        RecoveredJob(
            job_id=job["jobId"],
            staging=job["staging"],
            outcome=job["outcome"],
            left="\n  ".join(job["errors"]),
        )
        for job in jobs
        if job["outcome"] is not None
    ]
    failed = [job for job in jobs if job["outcome"] is None]
    if failed:
        error = JobAliveError if all(job["alive"] for job in failed) else RecoveryError
        raise error(
            "\n".join(f"{job['staging']}: " + "\n  ".join(job["errors"]) for job in failed),
            tuple(recovered),
        )
    return recovered
