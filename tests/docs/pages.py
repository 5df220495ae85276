# SPDX-License-Identifier: Apache-2.0
"""The documentation as the tests read it: pages, their links, their blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FIRST = REPOSITORY / "README.md"
INDEX = REPOSITORY / "docs" / "README.md"
PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("**/*.md")])
NOTEBOOKS = sorted((REPOSITORY / "docs").glob("**/*.ipynb"))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(.*)$")
MARK = re.compile(r"^<!-- (?P<what>not run|saved as|given|printed): (?P<text>.*) -->$")
PROGRAMS = ("sh", "python")
"""Languages of blocks that the walk runs."""


def name(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@dataclass(frozen=True)
class Block:
    """A block of code, with the mark in the comment right before it."""

    page: Path
    line: int
    language: str
    text: str
    mark: str = ""
    """What the comment is about: "not run", "saved as", "given" or "printed"."""
    said: str = ""
    """What the comment says of that."""

    def __str__(self) -> str:
        return f"{name(self.page)}:{self.line}"

    @property
    def is_run(self) -> bool:
        return self.language in PROGRAMS and self.mark != "not run"


def blocks(page: Path) -> Iterator[Block]:
    """All blocks of a page. Fails on a mark that belongs to none, and on a fence without end."""
    mark: re.Match[str] | None = None
    opened: tuple[int, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        fence = FENCE.match(line)
        if opened is not None and fence is not None:
            start, language = opened
            what, said = (mark["what"], mark["text"]) if mark is not None else ("", "")
            yield Block(page, start, language, "\n".join(lines), what, said)
            opened, mark, lines = None, None, []
        elif opened is not None:
            lines.append(line)
        elif fence is not None:
            opened = (number, fence[1])
        elif mark is not None:
            raise AssertionError(f"{name(page)}:{number}: the mark before belongs to no block")
        else:
            mark = MARK.match(line)
    assert opened is None, f"{name(page)}: a block has no end"


def without_blocks(page: Path) -> str:
    """The text of a page but for its blocks of code, whose lines stay as empty ones."""
    lines = []
    inside = False
    for line in page.read_text("utf-8").splitlines():
        is_fence = FENCE.match(line) is not None
        inside ^= is_fence
        lines.append("" if inside or is_fence else line)
    return "\n".join(lines)


def links(page: Path) -> list[str]:
    """Where a page links to in the repository."""
    found = LINK.findall(without_blocks(page))
    return [link for link in found if not link.startswith(("http:", "https:"))]


def anchors(page: Path) -> set[str]:
    """As a forge makes them from headings."""
    headings = re.findall(r"^#+ (.*)$", without_blocks(page), flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}
