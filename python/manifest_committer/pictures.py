# SPDX-License-Identifier: Apache-2.0
"""Tables and bars in HTML, of plain values: nothing here knows what a report is.

Every style is inline, so that a notebook shows them as a page does. Text has the colour of what is
around it. Other colours can be seen on white and on black.
"""

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from manifest_committer._figures import NAMES, count, duration, in_units, words
from manifest_committer.watching import Step

BLUE, RED, AMBER = "#3a80c9", "#d64b3f", "#b7791f"
LINE = "rgba(128,128,128,.45)"
MOST_TICKS = 5

_TABLE = "border-collapse:collapse;table-layout:auto;margin:0;color:inherit;border:0"
_CELL = (
    f"padding:.15em 1em .15em 0;border:0;border-bottom:1px solid {LINE};vertical-align:top;"
    "color:inherit;background:none;word-break:normal;"
)
_SECTION = "color:inherit;font-size:1.1em;margin:1.6em 0 .5em"
_KINDS = {
    "": "text-align:left;overflow-wrap:normal",
    "name": "text-align:left;white-space:nowrap",
    "number": "text-align:right;white-space:nowrap",
    "path": "text-align:left;overflow-wrap:anywhere;min-width:5em",
}
_SHAPES = {
    "dot": "width:.7em;height:.7em;border-radius:50%",
    "square": "width:.7em;height:.7em",
    "line": "width:1.2em;height:2px;vertical-align:middle",
}
_PATHS = tuple(NAMES[key] for key in ("table", "report", "error"))
_BAR = "height:.8em;min-width:2px;border-radius:2px"


def of_commit(steps: Sequence[Step], requests: Mapping[str, int]) -> str:
    """What a report alone gives: its steps in time, and its requests by kind."""
    most_first = sorted(requests.items(), key=lambda one: -one[1])
    in_time = [(words(s.name), s.start, s.millis, duration(s.millis), BLUE) for s in steps]
    by_kind = [(words(kind), 0, number, count(number), BLUE) for kind, number in most_first]
    return section("Steps", _bars(in_time, Scale.of_times, "since the commit began")) + section(
        "Requests", _bars(by_kind, Scale.of_counts, "requests")
    )


def element(name: str, content: str, **attributes: str) -> str:
    """An element of HTML with its content, which is HTML, too; ``class_`` stands for ``class``."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
        if value
    )
    return f"<{name}{told}>{content}</{name}>"


def section(title: str, content: str) -> str:
    """Content below its title; nothing without content."""
    return element("h2", html.escape(title), style=_SECTION) + content if content else ""


def block(title: str, *parts: str) -> str:
    """A value of a notebook: parts below a title."""
    head = element("div", html.escape(title), style="font-weight:600;overflow-wrap:anywhere")
    return element("div", head + "".join(parts))


def note(text: str, more: Iterable[str], color: str) -> str:
    """A text that stands out by a colour at its side, and lines that belong to it."""
    side = f"border-left:.3em solid {color};padding:.1em .6em;margin:.4em 0"
    lines = "".join(element("div", html.escape(line)) for line in (text, *more))
    return element("div", lines, style=f"{side};overflow-wrap:anywhere")


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values; of these, paths and errors may break anywhere."""
    return table(
        (),
        [
            (heading(name, "name"), cell(value, "path" if name in _PATHS else ""))
            for name, value in rows
        ],
    )


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells below the names of the columns, each with its kind."""
    head = [heading(name, kind) for name, kind in columns]
    body = "".join(element("tr", "".join(row)) for row in (head, *rows) if row)
    return element("div", element("table", body, style=_TABLE), style="overflow-x:auto")


def heading(name: str, kind: str = "") -> str:
    """The name of a row or a column."""
    return element("th", html.escape(name), style=f"{_CELL}{_KINDS[kind]};font-weight:600")


def cell(value: str, kind: str = "", more: str = "") -> str:
    """A value: ``number``, ``path`` or any other; and HTML that follows it."""
    return element("td", html.escape(value) + more, class_=kind, style=_CELL + _KINDS[kind])


def legend(entries: Iterable[tuple[str, str, str]]) -> str:
    """What colours mean: each with its meaning, and a ``dot``, ``square`` or ``line`` of it."""
    shown = ""
    for color, name, shape in entries:
        style = f"display:inline-block;{_SHAPES[shape]};background:{color}"
        mark = element("span", "", style=style)
        meaning = f"{mark} {html.escape(name)}"
        shown += element("span", meaning, style="white-space:nowrap;margin-right:1em") + " "
    return element("p", shown, class_="legend")


class Scale:
    """An axis from 0, with three ticks or more, all of which are different."""

    def __init__(self, most: float, steps: Iterable[float], label: Callable[[float], str]) -> None:
        """Up to `most` at least, by the smallest of these steps that needs no more ticks."""
        self.step = next(step for step in steps if most <= MOST_TICKS * step)
        self.ticks = max(2, math.ceil(most / self.step))
        self.labels = [label(tick * self.step) for tick in range(self.ticks + 1)]
        """What the ticks say, from 0 on."""

    def percent(self, value: float) -> float:
        """Where a value is."""
        return 100 * value / (self.ticks * self.step)

    @staticmethod
    def of_counts(most: float) -> "Scale":
        """Of numbers of things."""
        return Scale(most, _round_numbers(), count)

    @staticmethod
    def of_bytes(most: float) -> "Scale":
        """Of sizes."""
        return Scale(
            most,
            (2**power for power in range(120)),
            lambda size: in_units(size).replace(".0 ", " "),
        )

    @staticmethod
    def of_times(most: float) -> "Scale":
        """Of milliseconds."""
        unit, name = next((u, n) for u, n in _TIMES if most >= 2 * u or u == 1)
        return Scale(
            most,
            (unit * number for number in _round_numbers()),
            lambda millis: f"{millis / unit:,.0f} {name}",
        )


_TIMES = ((3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))


def _round_numbers() -> Iterable[float]:
    return (10**power * one for power in range(30) for one in (1, 2, 5))


def bars(rows: Sequence[tuple[str, float, str, str]], unit: str) -> str:
    """Horizontal bars: the name, value, label and colour of each."""
    begun = [(name, 0.0, value, label, color) for name, value, label, color in rows]
    return _bars(begun, Scale.of_counts, unit)


def _bars(
    rows: Sequence[tuple[str, float, float, str, str]],
    scale_of: Callable[[float], Scale],
    unit: str,
) -> str:
    """Bars with where each begins, how long it is, its label and its colour; and their axis."""
    if not rows:
        return ""
    scale = scale_of(max(begin + length for _, begin, length, _, _ in rows))
    lines = f"linear-gradient(90deg,{LINE} 1px,transparent 1px) 0 0/{100 / scale.ticks:.4f}% 100%"
    grid = f"border:0;border-right:1px solid {LINE};background:{lines}"
    track = f"padding:.3em 0;width:100%;min-width:9em;vertical-align:middle;{grid}"
    name_style = f"{_CELL}text-align:left;white-space:nowrap;font-weight:400;border:0"
    value_style = f"{_CELL}padding-left:.8em;{_KINDS['number']};border:0"
    body = ""
    for name, begin, length, label, color in rows:
        place = f"margin-left:{scale.percent(begin):.2f}%;width:{scale.percent(length):.2f}%"
        bar = element("div", "", class_="bar", style=f"{place};{_BAR};background:{color}")
        body += element(
            "tr",
            element("th", html.escape(name), style=name_style)
            + element("td", bar, style=track)
            + element("td", html.escape(label), style=value_style),
        )
    ticks = ""
    for tick, label in enumerate(scale.labels):
        place = f"position:absolute;left:{100 * tick / scale.ticks:.2f}%"
        centred = f"{place};transform:translateX(-50%);white-space:nowrap"
        ticks += element("span", html.escape(label), class_="tick", style=centred)
    axis = element("div", ticks, style="position:relative;height:1.5em")
    axis += element("div", html.escape(unit), style="text-align:center")
    below = element("td", axis, style="padding:0;border:0;vertical-align:top")
    body += element("tr", element("th", "", style=name_style) + below + element("td", ""))
    drawn = element("table", body, style=f"{_TABLE};width:100%;max-width:720px")
    return element("div", drawn, style="overflow-x:auto")
