# SPDX-License-Identifier: Apache-2.0
"""The figures of jobs: what each is called, and its form, wherever people see it."""

from datetime import datetime, timezone
from typing import Final

NAMES: Final = {
    "table": "table",
    "report": "report",
    "jobId": "job",
    "outcome": "outcome",
    "write": "write",
    "files": "files",
    "bytes": "bytes",
    "partitions": "partitions",
    "tasks": "tasks",
    "millis": "commit time",
    "requests": "requests",
    "throttled": "throttled",
    "ended": "finished",
    "application": "application",
    "committer": "committer",
    "stage": "stage",
    "error": "cause",
}
"""By the keys of a history's columns. Requests and commit time end with the report."""


def words(name: str) -> str:
    """The name of a step, a request or an outcome, as people read it."""
    return name.replace("_", " ")


def count(number: float) -> str:
    """A number of things, with its thousands set apart."""
    return f"{number:,.0f}"


def in_units(size: float) -> str:
    """A number of bytes for people."""
    amount = float(size)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1023.95:
            return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} PiB"


def duration(millis: float) -> str:
    """A number of milliseconds for people."""
    if millis < 1000:
        return f"{millis:.0f} ms"
    if millis < 59_995:
        return f"{millis / 1000:.2f} s"
    minutes, seconds = divmod(round(millis / 1000), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def moment(millis: int, form: str = "%Y-%m-%d %H:%M:%S UTC") -> str:
    """A time in UTC; the number, if a damaged report says one that no calendar has."""
    try:
        return datetime.fromtimestamp(millis / 1000, tz=timezone.utc).strftime(form)
    except (ValueError, OverflowError, OSError):
        return str(millis)
