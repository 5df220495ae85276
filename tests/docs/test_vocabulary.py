# SPDX-License-Identifier: Apache-2.0
"""The comments of the Java sources use the words of the architecture's glossary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pages import REPOSITORY

SOURCES = REPOSITORY / "java" / "src" / "main" / "java"
COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|(//[^\n]*(?:\n\s*//[^\n]*)*|/\*.*?\*/)', re.DOTALL)
MARGIN = re.compile(r"\s*\n\s*(?:\*(?!/)|//)?\s*")

INSTEAD = {
    r"staging (?:roots?|trees?)": "staging directory",
    r"(?:tak|giv|bring|put)(?:e|es|s|ing|ting)? (?:\w+ ){0,3}back": "roll back",
    r"(?:took|taken|gave|given|brought) (?:\w+ ){0,3}back": "roll back",
    r"withdr(?:aws?|awn|awing|ew)": "roll back, or delete",
    r"(?:failed|further|repeated|another) attempts? to": "try; an attempt is a run of a task",
    r"(?:protocol|usage|architecture) seed|the paper|design,": "the title of a public document",
}


def comments(source: str) -> list[str]:
    """Each comment in one line; what is in a string is none."""
    found = (match[1] for match in COMMENT.finditer(source) if match[1])
    return [MARGIN.sub(" ", comment) for comment in found]


def offences(wording: str, file: Path) -> list[str]:
    pattern = re.compile(rf"\b(?:{wording})\b", re.IGNORECASE)
    texts = comments(file.read_text("utf-8"))
    return [f"{file.name}: {text}" for text in texts if pattern.search(text)]


@pytest.mark.parametrize("wording", INSTEAD)
def test_comments_use_the_words_of_the_glossary(wording: str) -> None:
    files = sorted(SOURCES.rglob("*.java"))
    assert len(files) > 100
    found = [offence for file in files for offence in offences(wording, file)]
    assert "\n".join(found) == "", f"better: {INSTEAD[wording]}"


def test_a_wording_is_found_across_lines_and_not_in_strings() -> None:
    source = '/**\n * In a staging\n * tree.\n */\n String a = "// staging tree";\n // a\n // b\n'
    assert comments(source) == ["/** In a staging tree. */", "// a b"]
