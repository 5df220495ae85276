# SPDX-License-Identifier: Apache-2.0
"""Drawings in HTML, of plain values: nothing here knows what a report is."""

import html
from collections.abc import Iterable, Mapping, Sequence

from manifest_committer.watching import Step

WIDTH = 720
_LABEL = 190
_ROW = 22


def of_commit(steps: Sequence[Step], requests: Mapping[str, int]) -> str:
    """What a report alone gives: its steps in time, and its requests by kind."""
    most_first = sorted(requests.items(), key=lambda one: -one[1])
    return section("Steps", _timeline(steps)) + section(
        "Requests",
        bars([(name.replace("_", " "), count, f"{count:,}") for name, count in most_first]),
    )


def section(title: str, content: str) -> str:
    """Content below its title; nothing without content."""
    return f"<h2>{html.escape(title)}</h2>{content}" if content else ""


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values."""
    cells = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def svg(height: int, content: str, label: str) -> str:
    """A picture, and what it says to those who do not see it."""
    return (
        f'<svg role="img" aria-label="{html.escape(label)}" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}">{content}</svg>'
    )


def text(x: float, y: float, text: str, attributes: str = "") -> str:
    """A text in a picture."""
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{html.escape(text)}</text>'


def _timeline(steps: Sequence[Step]) -> str:
    if not steps:
        return ""
    whole = max(1, max(step.start + step.millis for step in steps))
    room = WIDTH - _LABEL - 80
    content = ""
    for row, step in enumerate(steps):
        y = row * _ROW
        x = _LABEL + room * step.start / whole
        width = max(2.0, room * step.millis / whole)
        content += text(0, y + 15, step.name.replace("_", " "))
        content += f'<rect x="{x:.1f}" y="{y + 4}" width="{width:.1f}" height="14" rx="2"/>'
        content += text(x + width + 5, y + 15, f"{step.millis:,} ms", 'class="soft"')
    return svg(len(steps) * _ROW + 4, content, "The steps of the commit in time")


def bars(rows: Sequence[tuple[str, float, str]], marked: int = 0) -> str:
    """Horizontal bars; the first `marked` of them in another colour."""
    if not rows:
        return ""
    most = max(value for _, value, _ in rows) or 1
    room = WIDTH - _LABEL - 110
    content = ""
    for row, (name, value, label) in enumerate(rows):
        y = row * _ROW
        width = max(1.0, room * value / most)
        mark = ' class="warn"' if row < marked else ""
        content += text(0, y + 15, name)
        content += f'<rect{mark} x="{_LABEL}" y="{y + 4}" width="{width:.1f}" height="14" rx="2"/>'
        content += text(_LABEL + width + 5, y + 15, label, 'class="soft"')
    return svg(len(rows) * _ROW + 4, content, "; ".join(f"{n}: {t}" for n, _, t in rows))
