# SPDX-License-Identifier: Apache-2.0
"""Waits until a job has committed: for schedulers, whose next step needs its data."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from manifest_committer import _jvm
from manifest_committer._figures import moment
from manifest_committer.errors import (
    InvalidReportError,
    PathNotFoundError,
    StorageError,
    WaitTimeoutError,
)
from manifest_committer.report import _MAX_BYTES, SUCCESS_MARKER, SuccessReport, parse_report

if TYPE_CHECKING:
    from manifest_committer._jvm import SparkSession

LIMIT = 3600.0
"""How long is waited by default, in seconds."""

INTERVAL = 30.0
"""How long it is by default from one look to the next, in seconds."""

_READS = 3
"""How often a report is opened at one look: another job may replace it each time."""

_GOING_ON = ("running", "unfinished")
"""States of what a job has staged, in which its commit has not ended."""

_Store: TypeAlias = _jvm.Session | _jvm.OwnJvm


@dataclass(frozen=True)
class Awaited:
    """The commit that is waited for: all that is given has to be so."""

    after: int | None = None
    """When its report was made, at the earliest one millisecond later; since 1970 UTC."""
    job: str | None = None
    commit_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse what each old report would answer, such as variables of a shell that are empty."""
        if self.after is None and self.job is None and self.commit_id is None:
            raise ValueError(
                "say which commit to wait for, by commit_id, job or after: a report of an earlier "
                "job may be there already"
            )
        if self.job == "" or self.commit_id == "":
            raise ValueError("the job or commit_id to wait for is empty")

    def __str__(self) -> str:
        """What is said in messages after "report"."""
        told = [] if self.job is None else [f"of job {self.job}"]
        told += [] if self.commit_id is None else [f"with commit.id {self.commit_id}"]
        told += [] if self.after is None else [f"made after {moment(self.after)}"]
        return ", ".join(told)

    def why_not(self, job: str, at: int) -> str:
        """Why a commit is another one; empty if it is this one."""
        if self.job is not None and self.job != job:
            return f"the last one is of job {job}"
        if self.after is not None and at <= self.after:
            return f"the last one, of job {job}, was made at {moment(at)}"
        return ""


@dataclass(frozen=True)
class Arrival:
    """The commit that was waited for."""

    job_id: str
    at: int
    """When its report was made, by the driver's clock, in milliseconds since 1970 UTC; where
    another job has replaced it, when the table noted the identity."""
    report: SuccessReport | None
    """None if another job has replaced it."""


def wait_for(
    spark: "SparkSession",
    path: str | os.PathLike[str],
    *,
    commit_id: str | None = None,
    job: str | None = None,
    after: datetime | int | None = None,
    timeout: float = LIMIT,
    interval: float = INTERVAL,
) -> SuccessReport | None:
    """Wait until a job has committed to a table.

    A commit has to fit all of `commit_id`, `job` and `after` that are given. A look costs one
    request to the store, one more where a report is, and one or two more with `commit_id`.

    Args:
        spark: a session, classic or Connect; with `commit_id` one that has our jar.
        path: the table's directory, which need not be there yet.
        commit_id: the identity, ``mapreduce.manifest.committer.commit.id`` of the write. The table
            remembers it, so other jobs may commit meanwhile, and no clock is compared.
        job: the job's id, as `SuccessReport.job_id`. The report of a later job hides it.
        after: a time with a zone, or milliseconds since 1970 as `SuccessReport.timestamp`. The
            report was made later, by the clock of the job's driver.
        timeout: how long to wait, in seconds; 0 to look once.
        interval: from one look to the next, in seconds.

    Returns:
        The report. None if the commit of `commit_id` is there, and another job's report is by now.

    Raises:
        WaitTimeoutError: it did not come in time.
        StorageError: the store failed, or the path cannot be used. That is not waited for.
        ValueError: none of the three is given, one is empty, or a time has no zone.
        JarVersionError: the session has another version of our jar.
        JarNotLoadedError: it does not have our jar, and `commit_id` or Connect needs it.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    awaited = Awaited(None if after is None else _millis(after), job, commit_id)
    session = _jvm.open_session(spark) if commit_id is None else _jvm.open_ready(spark)
    return wait_in(session, os.fspath(path), awaited, timeout, interval).report


def _millis(time: datetime | int) -> int:
    if not isinstance(time, datetime):
        return time
    if time.tzinfo is None:
        raise ValueError(f"{time} has no zone: use one, as in datetime.now(timezone.utc)")
    return int(time.timestamp() * 1000)


def wait_in(
    store: _Store,
    path: str,
    awaited: Awaited,
    limit: float,
    interval: float,
    tell: Callable[[str], None] = lambda _: None,
) -> Arrival:
    """Wait for a commit; see `wait_for`.

    Args:
        store: answers about the table.
        path: the table, or its ``_SUCCESS``.
        awaited: which commit.
        limit: in seconds.
        interval: in seconds.
        tell: is told before each pause why it is not over.
    """
    if limit < 0 or interval <= 0:
        raise ValueError("a time to wait is not negative, and an interval is longer than nothing")
    table = path.removesuffix(f"/{SUCCESS_MARKER}")
    end = time.monotonic() + limit
    while True:
        found = _look(store, table, awaited)
        if isinstance(found, Arrival):
            return found
        left = end - time.monotonic()
        if left <= 0:
            raise WaitTimeoutError(str(awaited), table, found)
        tell(found)
        time.sleep(min(interval, left))


def _look(store: _Store, table: str, awaited: Awaited) -> Arrival | str:
    """The commit, or why it is not there."""
    report = _report(store, table)
    if isinstance(report, SuccessReport):
        has_id = report.diagnostics.get("commit.id") == awaited.commit_id
        if awaited.commit_id is None or has_id:
            why = awaited.why_not(report.job_id, report.timestamp)
            return why or Arrival(report.job_id, report.timestamp, report)
        why = f"the last one is of job {report.job_id}, and the table does not have that commit.id"
    else:
        why = report
    return why if awaited.commit_id is None else _remembered(store, table, awaited, why)


def _report(store: _Store, table: str) -> SuccessReport | str:
    """The report, or why there is none.

    What is there and is no report was left by an earlier job. The next one replaces it.
    """
    marker = f"{table.rstrip('/')}/{SUCCESS_MARKER}"
    failure: StorageError | None = None
    for _ in range(_READS):
        found = store.find(marker)
        if found is None:
            return f"there is no {SUCCESS_MARKER}"
        if found.is_directory:
            return f"{found.path} is a directory; move it away, so that a job can leave a report"
        if found.length == 0:
            return (
                f"{found.path} is empty, so another committer commits there. `manifest-committer "
                "info` says how to bind this one"
            )
        if found.length > _MAX_BYTES:
            return f"{found.path} has {found.length} bytes, which are too many for a report"
        try:
            report = parse_report(b"".join(store.chunks(found.path)), found.path)
        except StorageError as error:
            failure = error  # It may have gone since, because another job commits.
            continue
        except InvalidReportError as error:
            return str(error).rstrip(".")
        return report if report.success else f"{found.path} says that its job failed"
    assert failure is not None
    raise failure


def _remembered(store: _Store, table: str, awaited: Awaited, why: str) -> Arrival | str:
    """The commit of an identity, if it has ended: the table has noted it before that."""
    assert awaited.commit_id is not None
    try:
        entries = store.commit_ids(table, awaited.commit_id, forget=False)
    except PathNotFoundError:
        return why
    for entry in entries:
        job, at = entry["jobId"], entry["at"]
        other = awaited.why_not(job, at)
        if other:
            return other
        staging = f"{table.rstrip('/')}/_manifest_{job}"
        if store.find(staging) is not None:
            # It may be kept on purpose, as by keep.replaced. What is in it tells.
            staged = store.clean(
                table, older_than="0ms", dry_run=True, discard_unfinished=False, force=False
            )
            if any(one["jobId"] == job and one["state"] in _GOING_ON for one in staged):
                return (
                    f"its job {job} has not ended its commit. If its driver died, run "
                    f"`manifest-committer recover {table}`"
                )
        # It may have come since the look at it, right before the commit ended.
        report = _report(store, table)
        if isinstance(report, SuccessReport) and report.job_id == job:
            return Arrival(job, report.timestamp, report)
        return Arrival(job, at, None)
    return why
