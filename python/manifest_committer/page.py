# SPDX-License-Identifier: Apache-2.0
"""Pictures of jobs: one self-contained HTML page, without network, scripts or other files."""

import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from manifest_committer.errors import InvalidReportError
from manifest_committer.pictures import WIDTH, bars, of_commit, section, svg, table, text
from manifest_committer.report import PartitionTotal, SuccessReport, in_units, moment, report_of

_SMALL_FILE_BITS = 24
"""Files of fewer bits are small: below 16 MiB."""
_SHOWN_PARTITIONS = 10
_SHOWN_JOBS = 200

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#d8dde4;--fill:#2f6fb7;
--bad:#c0392b;--warn:#c77f0a;--paper:#fff}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa6b5;--line:#38414d;
--fill:#6aa7ea;--bad:#ef7d70;--warn:#e3ad55;--paper:#151a21}}
body{margin:2rem auto;max-width:760px;padding:0 1rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.35rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);
vertical-align:top;overflow-wrap:anywhere}td.n,th.n{text-align:right}
th{font-weight:600}.bad{color:var(--bad)}.soft{color:var(--soft)}
.mc svg,svg{max-width:100%;height:auto}svg text{fill:currentColor;font:12px system-ui,sans-serif}
svg .soft{fill:var(--soft,#5b6675)}svg rect,svg circle{fill:var(--fill,#2f6fb7)}
svg .bad{fill:var(--bad,#c0392b)}svg .warn{fill:var(--warn,#c77f0a)}
svg line{stroke:var(--line,#d8dde4)}
"""


def make_page(data: Mapping[str, Any]) -> str:
    """The page of what ``io.manifestcommitter.cli.ReportData`` answered.

    Raises:
        InvalidReportError: it is not that.
    """
    if "history" in data:
        return directory_page(data["path"], data["history"]["jobs"], data["history"]["problems"])
    if "report" not in data:
        raise InvalidReportError(str(data.get("path", "")), "it has no report")
    report = report_of(data["report"], data["path"])
    return job_page(report, data["histogram"], data["partitions"])


def job_page(
    report: SuccessReport,
    histogram: Sequence[Sequence[int]],
    partitions: Sequence[tuple[str, int, int]],
) -> str:
    """The page of one job.

    Args:
        report: what it reported.
        histogram: pairs of bits and files: how many files have a length of that many bits.
        partitions: name, files and bytes of each partition; empty where they are not known.
    """
    title = report.table or report.diagnostics.get("table") or report.path
    return _page(
        title,
        _facts(report)
        + of_commit(report.steps, report.requests)
        + section("File sizes", _histogram(histogram))
        + section("Partitions", _partition_table(report, partitions)),
    )


def directory_page(
    directory: str, jobs: Sequence[Mapping[str, Any]], problems: Sequence[str]
) -> str:
    """The page of the jobs whose reports a directory has, the oldest first."""
    failed = sum(not job["success"] for job in jobs)
    rows = [
        ("jobs", f"{len(jobs):,}"),
        ("not committed", f"{failed:,}"),
        ("files", f"{sum(job['files'] for job in jobs):,}"),
        ("bytes", in_units(sum(job["bytes"] for job in jobs))),
        ("throttled requests", f"{sum(job['throttled'] for job in jobs):,}"),
    ]
    if problems:
        rows.append(("reports that cannot be read", f"{len(problems):,}"))
    body = table(rows)
    for name, label, value in (
        ("Duration of the commit", _seconds, lambda job: (job["millis"] or 0) / 1000),
        ("Files", _count, lambda job: job["files"]),
        ("Bytes", lambda n: in_units(int(n)), lambda job: job["bytes"]),
        ("Throttled requests", _count, lambda job: job["throttled"]),
    ):
        body += section(name, _over_time(jobs, value, label))
    body += section("Jobs", _job_table(jobs))
    if problems:
        listed = "".join(f"<li>{html.escape(problem)}</li>" for problem in problems[:_SHOWN_JOBS])
        body += section("Reports that cannot be read", f"<ul>{listed}</ul>")
    return _page(directory, body)


def _page(title: str, body: str) -> str:
    escaped = html.escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escaped}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escaped}</h1>{body}</body></html>\n"
    )


def _facts(report: SuccessReport) -> str:
    outcome = "" if report.success else "<p class='bad'><strong>This job failed.</strong></p>"
    return outcome + table([("job", report.job_id), *report.rows()])


def _histogram(histogram: Sequence[Sequence[int]]) -> str:
    if not histogram:
        return ""
    counts = {one[0]: one[1] for one in histogram}
    low, high = min(counts), max(counts)
    rows = []
    for bits in range(low, high + 1):
        files = counts.get(bits, 0)
        name = "empty" if bits == 0 else f"{in_units(2 ** (bits - 1))} to {in_units(2**bits)}"
        rows.append((name, float(files), f"{files:,}"))
    every = sum(counts.values())
    small = sum(files for bits, files in counts.items() if bits <= _SMALL_FILE_BITS)
    marked = sum(bits <= _SMALL_FILE_BITS for bits in range(low, high + 1))
    share = f"<p>{small:,} of {every:,} files ({small / every:.0%}) are below 16 MiB.</p>"
    return share + bars(rows, marked)


def _partition_table(report: SuccessReport, partitions: Sequence[tuple[str, int, int]]) -> str:
    known = {one.path: one for one in report.partitions}
    every = sorted(
        (
            PartitionTotal(name, known[name].outcome if name in known else "", files, size)
            for name, files, size in partitions
        ),
        key=lambda one: (-one.bytes, one.path),
    ) or sorted(report.partitions, key=lambda one: (-one.bytes, one.path))
    if not every:
        return ""
    shown = every[:_SHOWN_PARTITIONS]
    smallest = every[max(_SHOWN_PARTITIONS, len(every) - _SHOWN_PARTITIONS) :]
    rows = "".join(_partition_row(one) for one in shown)
    left = len(every) - len(shown) - len(smallest)
    if left > 0:
        rows += f"<tr><td colspan='4' class='soft'>… {left:,} more …</td></tr>"
    rows += "".join(_partition_row(one) for one in smallest)
    return (
        "<table><tr><th>partition</th><th></th><th class='n'>files</th><th class='n'>size</th>"
        f"</tr>{rows}</table>"
    )


def _partition_row(one: PartitionTotal) -> str:
    return (
        f"<tr><td>{html.escape(one.path)}</td><td>{html.escape(one.outcome)}</td>"
        f"<td class='n'>{one.files:,}</td><td class='n'>{in_units(one.bytes)}</td></tr>"
    )


def _over_time(
    jobs: Sequence[Mapping[str, Any]],
    value: Callable[[Mapping[str, Any]], float],
    label: Callable[[float], str],
) -> str:
    """A point for each job: when it ended, and a value; jobs that failed in another colour."""
    most = max((value(job) for job in jobs), default=0)
    if not most:
        return ""
    first, last = jobs[0]["ended"], jobs[-1]["ended"]
    left, right, top, bottom = 80, WIDTH - 10, 10, 130
    content = f'<line x1="{left}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
    content += text(left - 6, top + 8, label(most), 'text-anchor="end" class="soft"')
    content += text(left - 6, bottom, "0", 'text-anchor="end" class="soft"')
    content += text(left, bottom + 16, _date(first), 'class="soft"')
    content += text(right, bottom + 16, _date(last), 'text-anchor="end" class="soft"')
    for job in jobs:
        x = left + (right - left) * ((job["ended"] - first) / ((last - first) or 1))
        y = bottom - (bottom - top) * value(job) / most
        mark = "" if job["success"] else ' class="bad"'
        content += f'<circle{mark} cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    return svg(bottom + 22, content, f"{len(jobs)} jobs, at most {label(most)}")


def _job_table(jobs: Sequence[Mapping[str, Any]]) -> str:
    rows = "".join(_job_row(job) for job in reversed(jobs[-_SHOWN_JOBS:]))
    left = len(jobs) - _SHOWN_JOBS
    note = f"<p class='soft'>The last {_SHOWN_JOBS:,} of {len(jobs):,}.</p>" if left > 0 else ""
    return (
        f"{note}<table><tr><th>ended</th><th>table</th><th>outcome</th><th class='n'>time</th>"
        f"<th class='n'>files</th><th class='n'>size</th></tr>{rows}</table>"
    )


def _job_row(job: Mapping[str, Any]) -> str:
    mark = "" if job["success"] else " class='bad'"
    error = f"<br><span class='soft'>{html.escape(job['error'][:300])}</span>"
    millis = "" if job["millis"] is None else _seconds(job["millis"] / 1000)
    return (
        f"<tr><td>{_date(job['ended'])}</td>"
        f"<td>{html.escape(job['table'])}{error if job['error'] else ''}</td>"
        f"<td{mark}>{html.escape(job['outcome'])}</td><td class='n'>{millis}</td>"
        f"<td class='n'>{job['files']:,}</td><td class='n'>{in_units(job['bytes'])}</td></tr>"
    )


def _date(millis: int) -> str:
    return moment(millis, "%Y-%m-%d %H:%M")


def _seconds(seconds: float) -> str:
    return f"{seconds:,.1f} s"


def _count(number: float) -> str:
    return f"{number:,.0f}"
