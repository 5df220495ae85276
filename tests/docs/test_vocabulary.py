# SPDX-License-Identifier: Apache-2.0
"""The comments of the Java sources use the words of the architecture's glossary."""

from __future__ import annotations

import re

import pytest
from pages import REPOSITORY
from prose import GLOSSARY, JAVA_TOKEN

SOURCES = REPOSITORY / "java" / "src" / "main" / "java"
MARGIN = re.compile(r"\s*(?:\n\s*\*(?!/)|//)\s*")
INSTEAD = GLOSSARY | {
    r"(protocol|usage|architecture) seed|the paper|design,": "the title of a public document",
}


def comments(source: str) -> str:
    """All comments, without line breaks inside a sentence; what is in a string is none."""
    found = [token for token in JAVA_TOKEN.findall(source) if token.startswith("/")]
    return MARGIN.sub(" ", "\n".join(found))


@pytest.mark.parametrize("wording", INSTEAD)
def test_comments_use_the_words_of_the_glossary(wording: str) -> None:
    files = sorted(SOURCES.rglob("*.java"))
    assert len(files) > 100
    pattern = re.compile(rf"\b(?:{wording})\b", re.IGNORECASE)
    found = [
        f"{file.name}: {line}"
        for file in files
        for line in comments(file.read_text("utf-8")).splitlines()
        if pattern.search(line)
    ]
    assert "\n".join(found) == "", f"better: {INSTEAD[wording]}"


def test_a_wording_is_found_across_lines_and_not_in_strings() -> None:
    source = '/**\n * In a staging\n * tree.\n */\n String a = "// staging tree";\n // a\n // b\n'
    assert comments(source) == "/** In a staging tree.\n */ a b"
