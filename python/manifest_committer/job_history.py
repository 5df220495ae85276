# SPDX-License-Identifier: Apache-2.0
"""The jobs of many tables, as the reports in one directory tell."""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from manifest_committer import _jvm
from manifest_committer.errors import ManifestCommitterError
from manifest_committer.info import printable
from manifest_committer.report import in_units, moment

_LOG = logging.getLogger(__name__)
_ROW = "{:<20} {:<11} {:>9} {:>9} {:>10}  {:<18} {}"
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


def history(spark: Any, directory: str | os.PathLike[str]) -> Any:
    """The jobs whose reports a directory has, as a Spark DataFrame; the oldest first.

    The directory is the one that ``mapreduce.manifest.committer.summary.report.directory`` names;
    jobs that failed or were recovered are there, too. Columns: ``report``, ``jobId``, ``table``,
    ``outcome`` (``committed``, ``failed``, ``aborted``, ``completed`` or ``rolled_back``),
    ``success``, ``write`` (such as ``append``), ``started`` (ISO 8601), ``ended`` (milliseconds
    since 1970), ``millis`` (of the commit), ``files``, ``bytes``, ``tasks``,
    ``partitionsCreated``, ``partitionsReplaced``, ``partitionsAppended``, ``requests``,
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
    rows = [tuple(job[column] for column in _COLUMNS) for job in _jobs(spark, directory)]
    schema = ", ".join(f"`{name}` {kind}" for name, kind in _COLUMNS.items())
    return spark.createDataFrame(rows, schema)


def history_pandas(spark: Any, directory: str | os.PathLike[str]) -> Any:
    """The same as `history`, as a pandas DataFrame."""
    try:
        import pandas
    except ImportError as error:
        raise ManifestCommitterError(
            "pandas is not installed: `pip install 'pandas>=2'`, or use "
            "history(spark, directory), a Spark DataFrame."
        ) from error
    return pandas.DataFrame(_jobs(spark, directory), columns=list(_COLUMNS))


def _jobs(spark: Any, directory: str | os.PathLike[str]) -> list[dict[str, Any]]:
    found = _jvm.open_ready(spark).history(os.fspath(directory))
    for problem in found["problems"]:
        _LOG.warning("%s", problem)
    jobs: list[dict[str, Any]] = found["jobs"]
    return jobs


def history_text(directory: str, jobs: Sequence[Mapping[str, Any]]) -> str:
    """A line for each job, and another one with the error of each that failed."""
    if not jobs:
        return f"{printable(directory)}: no such job"
    lines = [_ROW.format("ended", "outcome", "seconds", "files", "size", "write", "table")]
    for job in jobs:
        lines.append(
            _ROW.format(
                moment(job["ended"], "%Y-%m-%dT%H:%M:%SZ"),
                job["outcome"],
                "" if job["millis"] is None else f"{job['millis'] / 1000:.1f}",
                f"{job['files']:,}",
                in_units(job["bytes"]),
                job["write"],
                job["table"] or job["description"],
            )
        )
        if not job["success"] and job["error"]:
            lines.append("    " + job["error"].split("\n", 1)[0])
    return "\n".join(printable(line) for line in lines)
