# SPDX-License-Identifier: Apache-2.0
"""The documentation as a reader walks through it: no dead link, no page that nothing leads to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import FIRST, INDEX, NOTEBOOKS, PAGES, anchors, links, name

MOST_WORDS = 900


def targets(page: Path) -> set[Path]:
    """The pages that a page links to."""
    found = {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}
    return {target for target in found if target.suffix == ".md" and target.exists()}


def reached_from(first: Path) -> set[Path]:
    reached: set[Path] = set()
    waiting = {first}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting |= targets(page) - reached
    return reached


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    dead = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert not dead


def test_every_page_is_reached_from_the_first() -> None:
    assert [name(page) for page in PAGES if page not in reached_from(FIRST)] == []


def test_the_index_leads_to_every_page_by_one_link() -> None:
    below = {page for page in PAGES if INDEX.parent in page.parents and page != INDEX}
    # The decisions have an index of their own.
    decisions = targets(INDEX.parent / "development/decisions/README.md")
    assert sorted(map(name, below - targets(INDEX) - decisions)) == []


def test_the_first_page_is_short() -> None:
    words = re.findall(r"\S*\w\S*", FIRST.read_text("utf-8"))
    assert len(words) <= MOST_WORDS
