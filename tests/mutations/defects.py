# SPDX-License-Identifier: Apache-2.0
"""Reads ``defects.txt``: what is wrong, the source file, the test class that notices it, and edits.

An entry is written like a patch. Lines with a minus are the text that is replaced, and those with
a plus what takes its place. The text occurs exactly once in the file, which is below
``io/manifestcommitter``. Texts are short, so that they survive changes around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

EDIT = re.compile(r"((?:^-.*\n)+)((?:^\+.*\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class Defect:
    """One defect."""

    name: str
    what: str
    file: str
    edits: tuple[tuple[str, str], ...]
    test: str


def parsed(entry: str) -> Defect:
    title, place, edits = entry.split("\n", 2)
    name, _, what = title.partition(": ")
    file, test = place.split()
    texts = [
        tuple("\n".join(line[1:] for line in part.splitlines()) for part in edit)
        for edit in EDIT.findall(f"{edits}\n")
    ]
    return Defect(name, what, file, tuple((old, new) for old, new in texts), test)


def groups(text: str) -> dict[str, list[Defect]]:
    found: dict[str, list[Defect]] = {}
    for entry in text.strip().split("\n\n"):
        if entry.startswith("# "):
            group = found.setdefault(entry[2:], [])
        else:
            group.append(parsed(entry))
    return found


ALL = groups(Path(__file__).with_suffix(".txt").read_text("utf-8"))
