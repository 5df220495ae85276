# SPDX-License-Identifier: Apache-2.0
"""Commands, programs and settings of the documentation: what can be said of them without a run.

``tests/walk`` runs those that can be run. Here they are parsed, and compared with what there is:
options, targets of the Makefile, classes, tests, files.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from pages import PAGES, PROGRAMS, REPOSITORY, Block, blocks, name, without_blocks
from prose import of_messages

import manifest_committer
from manifest_committer import cli

LANGUAGES = {*PROGRAMS, "properties", "json", "dockerfile", "text"}
KINDS = ("account", "cluster", "long", "shown")
"""Why a block is not run. ``docs/development/testing.md`` says what each is for."""
LONG = ("make", "mvn", "java", "HOSTILE_CASES=10000")
"""How the commands of blocks begin that are not run because they take long."""

EMULATED = (
    "abfs://c@a.dfs.core.windows.net",
    "abfs://data@emulated.dfs.core.windows.net",
)
"""Containers that the walk has: the reader's own by its stand-in, and that of the emulator."""

LEAST_WORDS = 2
"""Shorter parts of a quoted message may be anything."""

ALL = [block for page in PAGES for block in blocks(page)]
OPTION = re.compile(r"mapreduce\.manifest\.committer(?:\.[a-z0-9]+)+")


@cache
def options() -> set[str]:
    """The keys of all options, as the page says that is made from the code."""
    page = (REPOSITORY / "docs" / "using" / "options.md").read_text("utf-8")
    return set(re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE))


@cache
def make_targets() -> set[str]:
    """What ``make`` knows, with the targets that it makes from patterns of versions."""
    command = ["make", "-pRrq", "-C", str(REPOSITORY), ":"]
    known = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    return set(re.findall(r"^([\w.-]+):", known.stdout, flags=re.MULTILINE))


@cache
def java_classes() -> set[str]:
    """The names of all classes, the tests' own among them."""
    return {file.stem for file in REPOSITORY.glob("**/src/**/*.java")} | {
        file.stem for file in (REPOSITORY / "java").glob("**/*.java")
    }


@cache
def python_tests() -> set[str]:
    """The names of all test functions and files."""
    files = list((REPOSITORY / "tests").glob("**/*.py"))
    names = {file.stem for file in files} | {file.name for file in files}
    for file in files:
        names |= set(re.findall(r"^ *def (test_\w+)", file.read_text("utf-8"), flags=re.MULTILINE))
    return names


def commands(block: Block) -> Iterator[list[str]]:
    """The words of each command of a shell block, as far as they are plain."""
    text = re.sub(r"\\\n\s*", " ", block.text)
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        cuts = [i for i, word in enumerate(words) if word in ("&&", "||", "|", ">", "&", ";")]
        yield words[: cuts[0]] if cuts else words


def placeholders(words: list[str]) -> list[str]:
    """Without what stands for something: ``<table>`` is a path like any other."""
    return ["x" if word.startswith("<") else word for word in words]


def check_committer(words: list[str]) -> None:
    """Fails where the console script would refuse the command line."""
    if words[1:] == []:
        assert words[0] in {command.name for command in cli._COMMANDS}, words[0]
        return
    with suppress(SystemExit) if "--help" in words else nullcontext():
        cli._parser().parse_args(placeholders(words))


def check_make(words: list[str]) -> None:
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    for before, word in pairwise(words):
        if word.startswith("-") or before == "-C":
            continue
        variable, is_variable, _ = word.partition("=")
        known = f"$({variable})" in makefile if is_variable else word in make_targets()
        assert known, f"make {word}"


def check_maven(words: list[str]) -> None:
    if "-f" in words:
        # Of ours, or the sources as seen from a folder in them.
        assert (
            words[words.index("-f") + 1] == ".."
            or (REPOSITORY / words[words.index("-f") + 1]).is_file()
        )
    for word in words:
        key, _, value = word.partition("=")
        if key in ("-Dtest", "-Dit.test"):
            for pattern in value.split(","):
                assert fnmatch.filter(java_classes(), pattern), word


def check(words: list[str]) -> None:
    """Compares one command with what there is."""
    program = Path(words[0]).name
    if program == "manifest-committer":
        check_committer(words[1:])
    elif program == "make":
        check_make(words)
    elif program == "mvn":
        check_maven(words[1:])
    for word in words:
        if word.startswith("io.manifestcommitter."):
            assert word.rpartition(".")[2] in java_classes(), word
        if word.startswith(("spark-conf/", "tests/")):
            assert (REPOSITORY / word).exists(), word


def message_parts() -> list[tuple[str, str]]:
    """Messages that the pages quote, without what stands for something, with where."""
    pages = (REPOSITORY / "README.md", REPOSITORY / "docs" / "using" / "troubleshooting.md")
    return [
        (quoted, part)
        for page in pages
        for row in re.findall(r"^\| ([^|]+) \|", page.read_text("utf-8"), flags=re.MULTILINE)
        for quoted in re.findall(r"`([^`]+)`", row)
        for part in re.split(r"…|\S+://", quoted)
        if len(part.split()) > LEAST_WORDS
    ]


def of(*languages: str) -> list[Block]:
    return [block for block in ALL if block.language in languages]


@pytest.mark.parametrize("block", ALL, ids=str)
def test_a_block_says_what_it_is(block: Block) -> None:
    assert block.language in LANGUAGES
    if block.mark == "not run":
        kind, _, reason = block.said.partition(": ")
        assert kind in KINDS
        assert reason
        assert block.language in PROGRAMS, "is not run anyway"
    elif block.mark == "printed":
        assert (block.language, block.said) == ("text", "last")
    elif block.mark:
        assert block.is_run, "is not run, so nothing has to be given"


@pytest.mark.parametrize("block", of("sh"), ids=str)
def test_a_shell_block_parses(block: Block) -> None:
    parsed = subprocess.run(
        ["bash", "-n"], check=False, input=block.text, capture_output=True, text=True, timeout=60
    )
    assert parsed.returncode == 0, parsed.stderr
    for words in commands(block):
        if words:
            check(words)


@pytest.mark.parametrize("block", [b for b in of("sh") if b.said.startswith("long:")], ids=str)
def test_what_takes_long_is_known_to_the_build(block: Block) -> None:
    assert {words[0] for words in commands(block) if words} <= set(LONG)


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_a_python_block_parses_and_uses_what_the_package_has(block: Block) -> None:
    if block.text.startswith("%%"):
        assert block.mark == "not run", "a magic of one notebook service"
        return
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "mc" or hasattr(manifest_committer, node.attr), node.attr


@pytest.mark.parametrize("block", [b for b in ALL if b.is_run], ids=str)
def test_a_block_that_is_run_needs_no_account(block: Block) -> None:
    for uri in re.findall(r"\b(?:abfss?|gs|s3a)://[^\s\"'/]+", block.text):
        assert uri in EMULATED, f"{uri}: mark the block as not run, or write {EMULATED[0]}"


@pytest.mark.parametrize("block", of("json"), ids=str)
def test_a_json_block_parses(block: Block) -> None:
    assert json.loads(block.text)


@pytest.mark.parametrize("block", of("properties"), ids=str)
def test_settings_are_pairs_that_name_our_classes_right(block: Block) -> None:
    for line in block.text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        key, value = line.split()
        assert key.startswith("spark.")
        if value.startswith("io.manifestcommitter."):
            assert value.rpartition(".")[2] in java_classes()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    assert sorted({key for key in OPTION.findall(text) if not is_option(key)}) == []
    named = re.findall(r"`([^`\n]+)`", without_blocks(page))
    tests = {word for word in named if re.fullmatch(r"[A-Z]\w+(Test|IT)", word)}
    assert sorted(tests - java_classes()) == []
    tests = {word for word in named if re.fullmatch(r"test_\w+(\.py)?", word)}
    assert sorted(tests - python_tests()) == []
    files = {word for word in named if re.match(r"(tests|java|spark-conf|docs|benchmarks)/", word)}
    assert sorted(file for file in files if not (REPOSITORY / file).exists()) == []


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "using"], ids=name)
def test_a_page_for_users_names_no_test(page: Path) -> None:
    """What was tried, and by which test, is on the pages of evidence."""
    named = re.findall(r"`([^`\n]+)`", without_blocks(page))
    tests = r"[A-Z]\w+(Test|IT)|(tests/\S+/)?test_\w+(\.py)?|make (?!build|emulators|site).*"
    assert [word for word in named if re.fullmatch(tests, word)] == []


@pytest.mark.parametrize(("quoted", "part"), message_parts())
def test_a_message_that_a_page_quotes_is_one(quoted: str, part: str) -> None:
    assert any(part.strip() in paragraph.text for paragraph in of_messages()), quoted


@pytest.mark.parametrize("folder", ["docs", "python/manifest_committer", "java/src/main", "tools"])
def test_nothing_asks_an_index_for_a_package_that_is_not_there(folder: str) -> None:
    """Until a release is on PyPI, what installs the package names a wheel."""
    texts = [*REPOSITORY.glob("*.md"), *(REPOSITORY / folder).rglob("*")]
    asked = [
        f"{file.relative_to(REPOSITORY)}: {line}"
        for file in texts
        if file.suffix in (".md", ".py", ".java", ".json", ".ipynb")
        for line in re.findall(
            r"pip install [^`\n]*\bmanifest-committer.*", file.read_text("utf-8")
        )
    ]
    assert asked == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_prints_whole_keys(page: Path) -> None:
    """A short one, typed as it stands, is no option: jobs are refused for it."""
    prefix = "mapreduce.manifest.committer."
    short = {key.removeprefix(prefix) for key in options() if key.startswith(prefix)}
    assert "directory.rename" in short
    printed = re.findall(r"`([^`\s]+)[`\s]", page.read_text("utf-8"))
    assert sorted(word for word in printed if word.lstrip("….") in short) == []


def is_option(key: str) -> bool:
    """Whether a key is an option, or an option's beginning that a page speaks of as a group."""
    return key in options() or any(option.startswith(key + ".") for option in options())


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_in_the_text_are_right(page: Path) -> None:
    for code in re.findall(r"`([^`]+)`", without_blocks(page)):
        if code.startswith(("make ", "manifest-committer ")) and "…" not in code:
            words = placeholders(shlex.split(code.replace("\n", " ")))
            # Who speaks of an option need not name a table.
            check([*words, "x"] if words[-1].startswith("--") and "x" not in words else words)


def test_the_layout_in_contributing_names_every_package_and_only_what_is_there() -> None:
    page = REPOSITORY / "CONTRIBUTING.md"
    (layout,) = (b.text for b in ALL if b.page == page and b.language == "text")
    java = REPOSITORY / "java" / "src" / "main" / "java" / "io" / "manifestcommitter"
    named = re.findall(r"^ {4}(\w+)/ +([\w, ]+?) {2,}", layout, flags=re.MULTILINE)
    assert {package for package, _ in named} == {d.name for d in java.iterdir() if d.is_dir()}
    for package, classes in named:
        for name_of_class in classes.split(", "):
            assert (java / package / f"{name_of_class}.java").is_file(), name_of_class
    directories = re.findall(r"^(\S+)/ ", layout, flags=re.MULTILINE)
    assert [d for d in directories if not (REPOSITORY / d).is_dir()] == []
