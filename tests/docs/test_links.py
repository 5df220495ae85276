# SPDX-License-Identifier: Apache-2.0
"""The documentation as a reader walks through it: no dead link, no page that nothing leads to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import FIRST, INDEX, NOTEBOOKS, PAGES, anchors, links, name, without_blocks

MOST_WORDS = 900
WORDS = ("staging directory", "journal", "point of no return", "heartbeat", "aside", "roll back")
"""Of this committer alone: a reader knows none of them."""


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


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "using"], ids=name)
def test_a_page_leads_to_the_words_before_it_uses_them(page: Path) -> None:
    text = without_blocks(page)
    if page.name in ("how-a-commit-goes.md", "python.md"):  # The second is made of docstrings.
        return
    used = [at for word in WORDS if (at := text.find(word)) >= 0]
    assert not used or 0 <= text.find("](how-a-commit-goes.md") <= min(used)


def test_the_page_of_the_words_explains_them() -> None:
    (page,) = (page for page in PAGES if page.name == "how-a-commit-goes.md")
    explained = re.findall(r"\*([\w ]+?)\*", page.read_text("utf-8").replace("**", ""))
    assert [word for word in WORDS if word not in explained] == []


def test_the_first_page_is_short() -> None:
    words = re.findall(r"\S*\w\S*", FIRST.read_text("utf-8"))
    assert len(words) <= MOST_WORDS
