# SPDX-License-Identifier: Apache-2.0
"""The comments of the Java sources: the glossary's words, short sentences, actors with names."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from pages import REPOSITORY
from prose import CODE, GLOSSARY, JAVA_TOKEN, MOST_WORDS, SENTENCE_END, words

SOURCES = REPOSITORY / "java" / "src" / "main" / "java"
NAMELESS = re.compile(r"(Else|Who|Whoever|That of|Those of)\b")
"""Beginnings after which a reader has to find out who acts, or what is meant."""

INLINE_TAG = re.compile(r"\{@\w+\s+(?:[^{}]|\{[^{}]*\})*\}")
PART_END = re.compile(r"<pre>.*?</pre>|<[^<>]+>|@(?:param|throws|see) \S+|@return|/\*+|\*/")
MARGIN = re.compile(r"\s*(?:\n\s*\*(?!/)|//)\s*")
INSTEAD = GLOSSARY | {
    r"(protocol|usage|architecture) seed|the paper|design,": "the title of a public document",
}


def sentences(source: str) -> list[str]:
    """Of all comments; a tag, too, ends one, and what is in an inline tag is code."""
    found: list[str] = []
    for comment in JAVA_TOKEN.findall(source):
        if comment.startswith("/"):
            for part in PART_END.split(INLINE_TAG.sub(CODE, MARGIN.sub(" ", comment))):
                found += SENTENCE_END.split(" ".join(part.split()))
    return [sentence for sentence in found if sentence]


def too_long(source: str) -> list[str]:
    return [s for s in sentences(source) if words(s) > MOST_WORDS]


def nameless(source: str) -> list[str]:
    return [s for s in sentences(source) if NAMELESS.match(s)]


@pytest.mark.parametrize("wording", INSTEAD)
def test_comments_use_the_words_of_the_glossary(wording: str) -> None:
    files = sorted(SOURCES.rglob("*.java"))
    assert len(files) > 100
    pattern = re.compile(rf"\b(?:{wording})\b", re.IGNORECASE)
    found = [
        f"{file.name}: {line}"
        for file in files
        for line in sentences(file.read_text("utf-8"))
        if pattern.search(line)
    ]
    assert "\n".join(found) == "", f"better: {INSTEAD[wording]}"


@pytest.mark.parametrize("fault", [too_long, nameless])
def test_sentences_of_comments_are_short_and_name_who_acts(
    fault: Callable[[str], list[str]],
) -> None:
    found = [
        f"{file.name}: {sentence}"
        for file in SOURCES.rglob("*.java")
        for sentence in fault(file.read_text("utf-8"))
    ]
    assert "\n".join(found) == ""


def test_a_long_sentence_is_found_across_lines_and_not_across_tags() -> None:
    half = "word " * (MOST_WORDS // 2)
    assert too_long(f"/** {half}\n * {half}more. */") == [f"{half}{half}more."]
    assert too_long(f"  // {half}\n  // {half}more.\n") == [f"{half}{half}more."]
    apart = ["{}.\n * {}", "{} <p>{}", "{}\n * @param a {}", "{}\n * @return {}", "{} */ a /* {}"]
    for text in apart:
        assert too_long(f"/** {text.format('A ' + half, 'A ' + half)} */") == []
    assert too_long(f'/** {half}{{@code {half}}}. */ String a = "// {half}{half}more";') == []


def test_a_sentence_that_does_not_name_who_acts_is_found() -> None:
    source = "// It waits.\n// Else it fails.\na();\n/** Those of a table.\n * @return Who did. */"
    assert nameless(source) == ["Else it fails.", "Those of a table.", "Who did."]
    assert nameless("/** Whose they are, or else who has them. Whole. */") == []
