# SPDX-License-Identifier: Apache-2.0
"""The jobs of many tables, as the reports in one directory tell."""

import html
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from manifest_committer import _jvm
from manifest_committer._figures import NAMES, count, duration, in_units, moment, words
from manifest_committer.errors import ManifestCommitterError
from manifest_committer.info import printable
from manifest_committer.pictures import RED, block, cell, element, table

if TYPE_CHECKING:
    import pandas
    from pyspark.sql import DataFrame

    from manifest_committer._jvm import SparkSession

_LOG = logging.getLogger(__name__)
_ROW = "{:<23}  {:<11} {:>12} {:>9} {:>10}  {:<22} {}"
_SHOWN = ("ended", "outcome", "millis", "files", "bytes", "write", "table")
_SHOWN_JOBS = 20
_WHOLE = "white-space:nowrap"
NO_JOBS = (
    "There is no report of such a job. To have one of each job, set "
    "mapreduce.manifest.committer.summary.report.directory to this directory."
)
"""What a directory without jobs says."""

_COLUMNS = {
    "report": "string",
    "jobId": "string",
    "table": "string",
    "outcome": "string",
    "success": "boolean",
    "write": "string",
    "started": "string",
    "ended": "bigint",
    "millis": "bigint",
    "files": "bigint",
    "bytes": "bigint",
    "tasks": "bigint",
    "partitionsCreated": "bigint",
    "partitionsReplaced": "bigint",
    "partitionsAppended": "bigint",
    "requests": "bigint",
    "throttled": "bigint",
    "stage": "string",
    "error": "string",
    "host": "string",
    "user": "string",
    "applicationId": "string",
    "applicationName": "string",
    "committer": "string",
}


def history(spark: "SparkSession", directory: str | os.PathLike[str]) -> "DataFrame":
    """The jobs whose reports a directory has, as a Spark DataFrame; the oldest first.

    The directory is the one that ``mapreduce.manifest.committer.summary.report.directory`` names;
    jobs that failed or were recovered are there, too. Columns: ``report``, ``jobId``, ``table``,
    ``outcome`` (``committed``, ``skipped``, ``held``, ``failed``, ``aborted``, ``completed`` or
    ``rolled_back``), ``success``, ``write`` (such as ``append``), ``started`` (ISO 8601),
    ``ended`` (milliseconds since 1970), ``millis`` (of the commit), ``files``, ``bytes``,
    ``tasks``, ``partitionsCreated``, ``partitionsReplaced``, ``partitionsAppended``, ``requests``,
    ``throttled``, ``stage``, ``error``, ``host``, ``user``, ``applicationId``,
    ``applicationName``, ``committer``. A report that cannot be read is logged as a warning.

    Args:
        spark: a session that has our jar, classic or Connect.
        directory: on any filesystem that Hadoop knows.

    Raises:
        PathNotFoundError: the directory is not there.
        StorageError: it cannot be listed.
        JarNotLoadedError: the session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    jobs = _jobs(spark, directory)
    rows = [tuple(job[column] for column in _COLUMNS) for job in jobs]
    schema = ", ".join(f"`{name}` {kind}" for name, kind in _COLUMNS.items())
    frame = spark.createDataFrame(rows, schema)
    shown = block(f"Jobs in {os.fspath(directory)}", job_table(jobs, most=_SHOWN_JOBS))
    # A notebook shows these jobs, and not the schema. What is derived is a plain DataFrame.
    frame._repr_html_ = lambda: shown
    return frame


def history_pandas(spark: "SparkSession", directory: str | os.PathLike[str]) -> "pandas.DataFrame":
    """The same as `history`, as a pandas DataFrame."""
    try:
        import pandas
    except ImportError as error:
        raise ManifestCommitterError(
            "pandas is not installed: `pip install 'pandas>=2'`, or use "
            "history(spark, directory), a Spark DataFrame."
        ) from error
    return pandas.DataFrame(_jobs(spark, directory), columns=list(_COLUMNS))


def _jobs(spark: "SparkSession", directory: str | os.PathLike[str]) -> list[dict[str, Any]]:
    found = _jvm.open_ready(spark).history(os.fspath(directory))
    for problem in found["problems"]:
        _LOG.warning("%s", problem)
    jobs: list[dict[str, Any]] = found["jobs"]
    return jobs


def history_text(directory: str, jobs: Sequence[Mapping[str, Any]]) -> str:
    """A line for each job, and another one with the error of each that failed."""
    if not jobs:
        return f"{printable(directory)}: {NO_JOBS}"
    lines = [_ROW.format(*(NAMES[key] for key in _SHOWN))]
    for job in jobs:
        lines.append(
            _ROW.format(
                moment(job["ended"]),
                words(job["outcome"]),
                "" if job["millis"] is None else duration(job["millis"]),
                count(job["files"]),
                in_units(job["bytes"]),
                job["write"],
                job["table"] or job["description"],
            )
        )
        if not job["success"] and job["error"]:
            lines.append("    " + job["error"].split("\n", 1)[0])
    return "\n".join(printable(line) for line in lines)


def job_table(jobs: Sequence[Mapping[str, Any]], *, most: int) -> str:
    """The last jobs as HTML, the last one first."""
    if not jobs:
        return element("p", NO_JOBS)
    names = short_names(jobs)
    rows = [_job_row(job, names) for job in reversed(jobs[-most:])]
    kinds = dict.fromkeys(("millis", "files", "bytes"), "number")
    shown = [key for key in _SHOWN if key != "write"]
    note = f"The last {most:,} of {len(jobs):,}. " if len(jobs) > most else ""
    root = next((path.removesuffix(name) for path, name in names.items() if path != name), "")
    note += f"Tables are below {root}." if root else ""
    head = element("p", html.escape(note), id="jobs", style="overflow-wrap:anywhere")
    return head + table([(NAMES[key], kinds.get(key, "")) for key in shown], rows)


def _job_row(job: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    date, _, time = moment(job["ended"]).partition(" ")
    finished = " ".join(element("span", part, style=_WHOLE) for part in (date, time))
    side = "" if job["success"] else f"border-left:.3em solid {RED};padding-left:.4em"
    outcome = element("span", html.escape(words(job["outcome"])), style=side)
    return [
        cell("", "", finished),
        cell("", "", outcome),
        cell("" if job["millis"] is None else duration(job["millis"]), "number"),
        cell(count(job["files"]), "number"),
        cell(in_units(job["bytes"]), "number"),
        cell(
            names.get(job["table"], job["description"]),
            "path",
            f"<br>{html.escape(job['error'][:300])}" if job["error"] else "",
        ),
    ]


def short_names(jobs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The tables of jobs, and each without the directory that all of them are in."""
    paths = {job["table"] for job in jobs if job["table"]}
    root = os.path.commonprefix([path.rpartition("/")[0] + "/" for path in paths])
    root = root[: root.rfind("/") + 1]
    return {path: path.removeprefix(root) or path for path in paths}
