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
PACKAGES = REPOSITORY / "java" / "src" / "main" / "java" / "io" / "manifestcommitter"
SOURCES = ("java/src", "tests", "benchmarks", "python/manifest_committer")
FOREIGN = {"FileSystem"}
"""Classes of others that the pages name, too."""

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
    texts = {name.text for name in named(DEVELOPMENT / "architecture.md")}
    assert {"spark.ManifestCommitProtocol", "CommitSparkJob.rollBack", "SealOutput"} <= texts


@pytest.mark.parametrize("page", ["architecture.md", "testing.md"])
def test_files_of_python_are_there(page: str) -> None:
    files = {code for code in in_backticks(DEVELOPMENT / page) if code.startswith("python/")}
    assert [file for file in sorted(files) if not (REPOSITORY / file).exists()] == []


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
    architecture = (DEVELOPMENT / "architecture.md").read_text()
    assert must_match(r"`PlanRecords` \| (\d+) \|", architecture) == journal
    assert must_match(r"`ReplaceNote` \| (\d+) \|", architecture) == note


def must_match(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, pattern
    return found.group(1)
