# SPDX-License-Identifier: Apache-2.0
"""Classes, methods and packages that the pages for developers name are those of the code."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from pages import REPOSITORY, blocks, without_blocks

DEVELOPMENT = REPOSITORY / "docs" / "development"
ARCHITECTURE = DEVELOPMENT / "architecture.md"
PACKAGES = REPOSITORY / "java" / "src" / "main" / "java" / "io" / "manifestcommitter"
SOURCES = ("java/src", "tests", "benchmarks", "python/manifest_committer")
FOREIGN = {"FileSystem"}
"""Classes of others that the pages name, too."""

MAKEFILE = REPOSITORY / "Makefile"
WORDS = {"abfs", "clean", "conf", "gs", "info", "recover", "s3a", "sealed", *FOREIGN}
"""Code in the table of changes that names no place: stores, commands, directories."""

NAME = re.compile(
    r"(?:(?P<package>[a-z]+)\.)?(?P<cls>[A-Z]\w*[a-z]\w*)(?P<members>(?:\.[A-Za-z]\w*)*)"
)
IN_BLOCK = re.compile(r"(?<![\w.<])[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+(?:\.[A-Za-z]\w*)*")
"""In a drawing only what has two capitals: its other words are just words."""


@dataclass(frozen=True)
class Named:
    """A class as a page names it: `package.Class.member`; package and members may be missing."""

    text: str
    package: str
    cls: str
    members: tuple[str, ...]

    def __str__(self) -> str:
        return self.text

    @staticmethod
    def of(text: str) -> Named | None:
        match = NAME.fullmatch(text)
        if match is None or match["cls"] in FOREIGN:
            return None
        members = tuple(member for member in match["members"].split(".") if member)
        return Named(text, match["package"] or "", match["cls"], members)


@cache
def classes() -> dict[str, list[Path]]:
    """The files of each class; of Python's those that define it."""
    found: dict[str, list[Path]] = defaultdict(list)
    for source in SOURCES:
        for file in (REPOSITORY / source).rglob("*.java"):
            found[file.stem].append(file)
        for file in (REPOSITORY / source).rglob("*.py"):
            for cls in re.findall(r"^class (\w+)", file.read_text("utf-8"), flags=re.MULTILINE):
                found[cls].append(file)
    return dict(found)


def in_backticks(page: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", without_blocks(page))


def named(page: Path) -> Iterator[Named]:
    drawn = [text for block in blocks(page) for text in IN_BLOCK.findall(block.text)]
    for text in dict.fromkeys([*in_backticks(page), *drawn]):
        name = Named.of(text)
        if name is not None:
            yield name


def declares(text: str, member: str) -> bool:
    """Whether a file of Java or Python declares a method, field or class of this name."""
    modifiers_and_type = r"^ +(?!return |new |throw |\*|//)(?:[\w<>\[\],.?@]+ +)+"
    java = rf"{modifiers_and_type}{member}\b *(?:[(;=<{{]|extends|implements)"
    constant = rf"^ +{member}\b *[(,;]"
    python = rf"^ *(?:async )?(?:def|class) {member}\b"
    return any(re.search(p, text, re.MULTILINE) for p in (java, constant, python))


def wrong(name: Named) -> str:
    """What is wrong with a name; nothing if the code has it."""
    files = classes().get(name.cls, [])
    if name.package:
        files = [file for file in files if file.parent == PACKAGES / name.package]
    if not files:
        return f"{name}: there is no such class"
    text = "\n".join(file.read_text("utf-8") for file in files)
    missing = [m for m in name.members if not declares(text, m)]
    return f"{name}: the class has no {missing[0]}" if missing else ""


@pytest.mark.parametrize("page", ["architecture.md", "testing.md"])
def test_classes_and_their_members_are_there(page: str) -> None:
    assert [wrong(name) for name in named(DEVELOPMENT / page) if wrong(name)] == []


def test_the_architecture_names_many_classes() -> None:
    texts = {name.text for name in named(ARCHITECTURE)}
    assert {"spark.ManifestCommitProtocol", "CommitSparkJob.publish", "SealOutput"} <= texts


@pytest.mark.parametrize("page", ["architecture.md", "testing.md"])
def test_files_of_python_are_there(page: str) -> None:
    files = {code for code in in_backticks(DEVELOPMENT / page) if code.startswith("python/")}
    assert [file for file in sorted(files) if not (REPOSITORY / file).exists()] == []


def rows() -> list[str]:
    """The rows of "Where to make a change", those below its own headings included."""
    section = ARCHITECTURE.read_text("utf-8").partition("\n## Where to make a change\n")[2]
    return [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]


def missing(row: str) -> list[str]:
    """The places of a row that are not there: classes, members, files, targets of the Makefile.

    Any other name has to stand in a file that the row names. A word of the text, such as the
    scheme of a store, is none.
    """
    codes = re.findall(r"`([^`]+)`", row)
    files = {code: found(code) for code in codes if "/" in code or code.endswith(".md")}
    text = "\n".join(file.read_text("utf-8") for file in files.values() if file.is_file())
    return [code for code in codes if not is_there(code, files.get(code), text)]


def found(name: str) -> Path:
    """A file or directory, from the top of the repository or of the packages."""
    file = REPOSITORY / name
    return file if file.exists() else PACKAGES / name


def is_there(code: str, file: Path | None, text: str) -> bool:
    if file is not None:
        return file.exists()
    if code.startswith("make "):
        targets = re.findall(r"^([a-z][\w -]*):(?!=)", MAKEFILE.read_text("utf-8"), re.MULTILINE)
        return code[5:] in " ".join(targets).split()
    name = Named.of(code)
    if name is not None:
        return not wrong(name)
    is_word = code in WORDS or not re.fullmatch(r"\w+", code)
    return is_word or re.search(rf"^ *(?:def )?{code}\b", text, re.MULTILINE) is not None


def test_every_place_to_make_a_change_is_there() -> None:
    assert [(row, missing(row)) for row in rows() if missing(row)] == []


def test_the_five_common_changes_have_their_places() -> None:
    changes = {row.split("|")[1].strip(): row for row in rows() if row.endswith(" | |")}
    assert list(changes) == [
        "a new option",
        "a new store",
        "a new conflict mode",
        "what the journal keeps of a plan",
        "a new field of the report",
    ]


@pytest.mark.parametrize(
    "place",
    [
        "config.CommitterConfig.ConflictModes",
        "Store.opens",
        "tests/python/test_confs.py",
        "docs/using/option.md",
        "CHANGES.md",
        "make doc",
        "BOUND",
        "_columns",
        "ReaderPage.ReaderWay.SCHEME",
        "commits/",
    ],
)
def test_a_place_that_is_gone_is_noticed(place: str) -> None:
    row = (
        "| x | `python/manifest_committer/session.py`, `CHANGELOG.md`, `Store.opened`, "
        "`ReaderPage.ReaderWay.SCHEMES`, `BOUND_SCHEMES`, `make docs`, `commit/`, `spark-conf/`"
    )
    assert missing(f"{row} |") == []
    assert missing(f"{row}, `{place}` |") == [place]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("commit.CommitJob", ""),
        ("CommitJob.publish", ""),
        ("store.RenameResult.Outcome", ""),
        ("ConnectSession", ""),
        ("spark.CommitJob", "there is no such class"),
        ("CommitJob.runs", "the class has no runs"),
        ("CommitSparkJob.lock", "the class has no lock"),
        ("CommitJobs", "there is no such class"),
    ],
)
def test_a_name_that_the_code_does_not_have_is_noticed(text: str, fault: str) -> None:
    name = Named.of(text)
    assert name is not None
    assert wrong(name) == (f"{text}: {fault}" if fault else "")


@pytest.mark.parametrize("text", ["INSERT OVERWRITE", "INSTEAD", "*Test", "M C 1", "FileSystem"])
def test_what_is_no_class_of_this_project_is_left_alone(text: str) -> None:
    assert Named.of(text) is None


def test_versions_of_records_are_those_of_the_code() -> None:
    journal, note = (
        must_match(r"VERSION = (\d+);", (PACKAGES / source).read_text())
        for source in ("journal/PlanRecords.java", "jobs/ReplaceNote.java")
    )

    changelog = (REPOSITORY / "CHANGELOG.md").read_text()
    assert f"Journals have version {journal}, and notes version {note}." in changelog
    architecture = ARCHITECTURE.read_text()
    assert set(re.findall(r"`PlanRecords`.* \| (\d+) \|", architecture)) == {journal}
    assert must_match(r"`ReplaceNote` \| (\d+) \|", architecture) == note


def must_match(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, pattern
    return found.group(1)
