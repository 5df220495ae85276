# SPDX-License-Identifier: Apache-2.0
"""Pictures of jobs: one self-contained HTML page, without network, scripts or other files."""

import html
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from manifest_committer._figures import NAMES, count, duration, in_units, moment, words
from manifest_committer.errors import InvalidReportError
from manifest_committer.job_history import NO_JOBS, job_table, short_names
from manifest_committer.pictures import (
    AMBER,
    BLUE,
    LINE,
    MOST_TICKS,
    RED,
    Scale,
    bars,
    cell,
    element,
    facts,
    legend,
    note,
    of_commit,
    section,
    table,
)
from manifest_committer.report import SuccessReport, report_of

_SMALL_FILE_BITS = 24
"""Files of fewer bits are small: below 16 MiB."""
_SHOWN_PARTITIONS = 10
_SHOWN_JOBS = 200
_JOBS_FOR_MEDIANS = 10
_FEW_DOTS = 200
_MEDIAN_COLORS = ("#9a63c9", "#1f8f9c", "#b7791f", "#3c9a5f", "#c2569b", "#7d7f8c")
_SECOND, _DAY = 1000, 86_400_000
_STEPS = (
    *(_SECOND * seconds for seconds in (1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 43200)),
    *(_DAY * days for days in (1, 2, 3, 5, 7, 10, 14, 20, 30, 60, 90, 180, 365)),
)
"""Between the ticks of a calendar, in milliseconds."""
_UNITS = (_SECOND, 60 * _SECOND, 3600 * _SECOND, _DAY)

_STYLE = f"""
:root{{color-scheme:light dark}}
body{{margin:2rem auto;max-width:760px;padding:0 1rem;background:Canvas;color:CanvasText;
font:15px/1.5 system-ui,sans-serif}}
h1{{font-size:1.35rem;overflow-wrap:anywhere}}
td.path{{max-width:20em}}
.chart{{display:grid;grid-template-columns:max-content 1fr;gap:0 .6em;margin-right:3em}}
.y{{display:flex;flex-direction:column-reverse;justify-content:space-between;text-align:right;
margin:-.75em 0}}
.plot{{position:relative;height:11em;border-bottom:1px solid {LINE}}}
.x{{grid-column:2;position:relative;margin-top:.7em;height:1.5em;text-align:center}}
.x.two{{height:3em}}.axis{{margin-top:0}}
.x span{{position:absolute;transform:translateX(-50%);white-space:nowrap}}
.dot{{position:absolute;width:8px;height:8px;margin:0 0 -4px -4px;border-radius:50%;
background:{BLUE}}}.many .dot{{width:5px;height:5px;margin:0 0 -2.5px -2.5px}}
.dot.bad{{background:{RED};border-radius:0}}
.dot:focus{{outline:2px solid;outline-offset:2px;z-index:1}}
.dot:focus::after{{content:attr(aria-label);position:fixed;left:0;right:0;bottom:0;padding:.6em 1em;
background:Canvas;border-top:1px solid}}
.median{{position:absolute;height:2px;min-width:6px;box-shadow:0 0 0 1px Canvas}}
.skip:not(:focus){{position:absolute;left:-99em}}
@media(max-width:600px){{body{{font-size:13px}}.chart{{margin-right:2em}}}}
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
    identity = [
        (NAMES["jobId"], report.job_id),
        (NAMES["outcome"], words(report.outcome)),
    ]
    failed = "" if report.success else note("This job did not commit.", [], RED)
    return _page(
        title,
        failed
        + facts([*identity, *report.rows()])
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
        ("jobs", count(len(jobs))),
        ("not committed", count(failed)),
        (NAMES["files"], count(sum(job["files"] for job in jobs))),
        (NAMES["bytes"], in_units(sum(job["bytes"] for job in jobs))),
        (NAMES["throttled"], count(sum(job["throttled"] for job in jobs))),
    ]
    if problems:
        rows.append(("reports that cannot be read", count(len(problems))))
    body = facts(rows) if jobs or problems else element("p", NO_JOBS)
    names = short_names(jobs)
    for key, form, scale_of in (
        ("millis", duration, Scale.of_times),
        ("files", count, Scale.of_counts),
        ("bytes", in_units, Scale.of_bytes),
        ("throttled", count, Scale.of_counts),
    ):
        body += section(NAMES[key].capitalize(), _over_time(jobs, names, key, form, scale_of))
    body += section("Jobs", job_table(jobs, most=_SHOWN_JOBS))
    if problems:
        listed = ([cell(problem, "path")] for problem in problems[:_SHOWN_JOBS])
        body += section("Reports that cannot be read", table((), listed))
    return _page(directory, body)


def _page(title: str, body: str) -> str:
    escaped = html.escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escaped}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escaped}</h1>{body}</body></html>\n"
    )


def _histogram(histogram: Sequence[Sequence[int]]) -> str:
    if not histogram:
        return ""
    counts = {one[0]: one[1] for one in histogram}
    rows = []
    for bits in range(min(counts), max(counts) + 1):
        files = counts.get(bits, 0)
        name = "empty" if bits == 0 else f"{_bound(bits - 1)} to {_bound(bits)}"
        rows.append((name, files, count(files), AMBER if bits <= _SMALL_FILE_BITS else BLUE))
    every = sum(counts.values())
    small = sum(files for bits, files in counts.items() if bits <= _SMALL_FILE_BITS)
    share = f"<p>{small:,} of {every:,} files ({small / every:.0%}) are below 16 MiB.</p>"
    colors = legend([(AMBER, "below 16 MiB", "square"), (BLUE, "16 MiB and larger", "square")])
    return share + colors + bars(rows, "files")


def _bound(bits: int) -> str:
    return in_units(2**bits).replace(".0 ", " ")


def _partition_table(report: SuccessReport, partitions: Sequence[tuple[str, int, int]]) -> str:
    every = [*partitions] or [(one.path, one.files, one.bytes) for one in report.partitions]
    every.sort(key=lambda one: (-one[2], one[0]))
    if not every:
        return ""
    left = max(0, len(every) - 2 * _SHOWN_PARTITIONS)
    ends = every[:_SHOWN_PARTITIONS] + every[_SHOWN_PARTITIONS + left :]
    rows = [
        [
            cell(path, "path"),
            cell(report.outcome_of(path) or "not reported"),
            cell(count(files), "number"),
            cell(in_units(size), "number"),
        ]
        for path, files, size in ends
    ]
    if left:
        rows.insert(_SHOWN_PARTITIONS, [element("td", f"… {left:,} more …", colspan="4")])
    columns = (
        ("partition", "path"),
        (NAMES["outcome"], ""),
        (NAMES["files"], "number"),
        (NAMES["bytes"], "number"),
    )
    return table(columns, rows)


def _over_time(
    jobs: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    key: str,
    form: Callable[[float], str],
    scale_of: Callable[[float], Scale],
) -> str:
    """A dot for each job: when it finished, and a figure; and the median of each table."""
    known = [job for job in jobs if job[key] is not None]
    most = max((job[key] for job in known), default=0)
    if not most:
        return ""
    scale = scale_of(most)
    begin, width, ticks = _calendar(jobs[0]["ended"], jobs[-1]["ended"])

    def at(ended: int) -> float:
        return 100 * (ended - begin) / width

    dots = ""
    for job in known:
        name = names.get(job["table"], job["table"])
        figure = f"{NAMES[key]} {form(job[key])}, {words(job['outcome'])}"
        told = f"{name}, job {job['jobId']}, {moment(job['ended'])}: {figure}"
        dots += element(
            "span",
            "",
            class_="dot" if job["success"] else "dot bad",
            tabindex="0",
            role="img",
            style=f"left:{at(job['ended']):.2f}%;bottom:{scale.percent(job[key]):.2f}%",
            title=told,
            aria_label=told,
        )
    colors = [(BLUE, "committed", "dot"), (RED, "not committed", "square")]
    tables = [*_tables(known)]
    for (path, own), color in zip(tables, _MEDIAN_COLORS, strict=False):
        median = statistics.median(job[key] for job in own)
        label = f"median of {names.get(path, path)}: {form(median)}"
        colors.append((color, label, "line"))
        left, right = at(own[0]["ended"]), at(own[-1]["ended"])
        place = f"left:{left:.2f}%;width:{right - left:.2f}%;bottom:{scale.percent(median):.2f}%"
        line = f"{place};background:{color}"
        dots += element("span", "", class_="median", title=label, style=line)
    columns = 100 / (len(ticks) - 1)
    below = "".join(
        element("span", label, style=f"left:{columns * tick:.2f}%")
        for tick, label in enumerate(ticks)
    )
    grid = (
        f"background:linear-gradient({LINE} 1px,transparent 1px) 0 0/100% {100 / scale.ticks:.4f}%,"
        f"linear-gradient(90deg,{LINE} 1px,transparent 1px) 0 0/{columns:.4f}% 100%"
    )
    beside = "".join(element("span", html.escape(label)) for label in scale.labels)
    chart = (
        element("div", beside, class_="y")
        + element("div", dots, class_="plot many" if len(known) > _FEW_DOTS else "plot", style=grid)
        + element("div", below, class_="x two" if "<br>" in ticks[0] else "x")
    )
    axis = f"{NAMES[key]}, by the time when jobs finished (UTC)"
    if len(tables) > len(_MEDIAN_COLORS):
        axis += f"; medians of the {len(_MEDIAN_COLORS)} tables with most jobs"
    return (
        legend(colors)
        + element("a", "To the table of jobs", class_="skip", href="#jobs")
        + element("div", chart, class_="chart")
        + element("p", axis, class_="axis")
    )


def _tables(
    jobs: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """The jobs of each table, those of the most jobs first; nothing where jobs are few."""
    if len(jobs) < _JOBS_FOR_MEDIANS:
        return
    by_table: dict[str, list[Mapping[str, Any]]] = {}
    for job in jobs:
        by_table.setdefault(job["table"], []).append(job)
    for path, own in sorted(by_table.items(), key=lambda one: (-len(one[1]), one[0])):
        if len(own) > 1:
            yield path, own


def _calendar(first: int, last: int) -> tuple[float, float, list[str]]:
    """Where an axis of time begins, how long it is, and its ticks: three to five, as HTML."""
    for step in (*_STEPS, *(2**power * _STEPS[-1] for power in range(1, 60))):
        whole = max(unit for unit in _UNITS if unit <= step)
        begin = first // whole * whole
        ticks = max(2, math.ceil((last - begin) / step))
        if ticks < MOST_TICKS:
            break
    form = "%Y-%m-%d" if step >= _DAY else "%H:%M:%S<br>%Y-%m-%d"
    return begin, ticks * step, [moment(begin + tick * step, form) for tick in range(ticks + 1)]
