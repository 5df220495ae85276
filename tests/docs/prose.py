# SPDX-License-Identifier: Apache-2.0
"""What users read, as sentences: pages, settings files, help of commands and of Python, messages.

What is code counts as one word. In a cell of a table, what is in parentheses does not count, and a
semicolon ends a sentence: cells list things.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pages import NOTEBOOKS, PAGES, REPOSITORY, name

import manifest_committer
from manifest_committer import cli

CODE = "Code"
MOST_WORDS = 30
"""In one sentence."""

SENTENCE_END = re.compile(r"(?<=[.!?])[)\"”]?\s+(?=[A-Z\d\"(])")
WORD = re.compile(r"[\w\u2019'.,-]*\w")
LEFT_ALONE = re.compile(r"#   fs\.\S+\s+(.*)")
JAVA_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*(?:\n *//[^\n]*)*|/\*.*?\*/|\'(?:[^\'\\]|\\.)+\'', re.DOTALL
)
"""A text, a character or a comment; lines of comment that follow one another are one."""

JAVA_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|[;{},]|[^";{},]+', re.DOTALL)

GLOSSARY = {
    r"(tak|giv|bring|put)(e|es|s|ing|ting)? (\w+ ){0,3}back": "roll back, or complete",
    r"(took|taken|gave|given|brought) (\w+ ){0,3}back": "roll back, or complete",
    r"withdr(aws?|awn|awing|ew)": "roll back, or complete",
    r"attempt(s|ed)? to|(failed|further|repeated) attempts?": "try; an attempt is a run of a task",
    r"staging (roots?|trees?)": "staging directory",
}
"""What has a word of its own in the architecture, by other words; and that word."""


@dataclass(frozen=True)
class Paragraph:
    """Sentences that are read together."""

    where: str
    text: str
    is_cell: bool = False

    def __str__(self) -> str:
        return self.where

    def sentences(self) -> list[str]:
        if not self.is_cell:
            return SENTENCE_END.split(self.text)
        plain = re.sub(r"\([^)]*\)", "", self.text)
        return [part for s in SENTENCE_END.split(plain) for part in s.split(";")]


def words(sentence: str) -> int:
    return len(WORD.findall(sentence))


def of_pages() -> Iterator[Paragraph]:
    """Paragraphs, headings, items of lists and cells of tables of all pages and notebooks."""
    parser = MarkdownIt("commonmark").enable("table")
    for page in [*PAGES, *NOTEBOOKS]:
        is_cell = False
        for token in parser.parse(markdown(page)):
            if token.type in ("th_open", "td_open"):
                is_cell = True
            elif token.type in ("th_close", "td_close"):
                is_cell = False
            elif token.type == "inline":
                line = token.map[0] + 1 if token.map else 0
                yield Paragraph(f"{name(page)}:{line}", plain(token), is_cell)


def markdown(page: Path) -> str:
    """The text of a page, or of a notebook's cells that are no code."""
    text = page.read_text("utf-8")
    if page not in NOTEBOOKS:
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def plain(token: Token) -> str:
    shown = {"code_inline": CODE, "softbreak": " ", "hardbreak": " "}
    return "".join(
        child.content if child.type == "text" else shown.get(child.type, "")
        for child in token.children or []
    )


def of_settings() -> Iterator[Paragraph]:
    """The comments of the settings files; a setting, or a line without words, ends one."""
    for file in sorted((REPOSITORY / "spark-conf").glob("*.conf")):
        for comment in comments(file.read_text("utf-8")):
            yield Paragraph(name(file), comment)


def comments(settings: str) -> list[str]:
    """Each comment in one line. A list of settings that are left alone has a comment for each."""
    found = [""]
    for line in settings.splitlines():
        text = line[1:].strip() if line.startswith("#") else ""
        listed = LEFT_ALONE.match(line)
        if listed is not None:
            found.append(listed[1])
        elif text and not text.startswith(("SPDX", "spark-submit")):
            found[-1] += " " + text
        else:
            found.append("")
    return [comment.strip() for comment in found if comment]


def of_commands() -> Iterator[Paragraph]:
    """The help of ``manifest-committer`` and of its commands."""
    whole = cli._parser()
    yield Paragraph("manifest-committer", f"{whole.description} {whole.epilog}")
    for command in cli._COMMANDS:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        yield Paragraph(f"manifest-committer {command.name}", command.summary)
        for action in parser._actions:
            yield Paragraph(f"manifest-committer {command.name}: {action.dest}", action.help or "")


def of_docstrings() -> Iterator[Paragraph]:
    """What Python's ``help()`` shows of the package; sections list things, as cells do."""
    for public in manifest_committer.__all__:
        what = getattr(manifest_committer, public)
        documented = {public: what}
        if inspect.isclass(what):
            own = {k: v for k, v in vars(what).items() if not k.startswith("_")}
            documented |= {f"{public}.{k}": v for k, v in own.items()}
        for where, thing in documented.items():
            for text in re.split(r"\n\s*\n|\n(?=\s*\w+: )", inspect.getdoc(thing) or ""):
                line = re.sub("`+[^`]+`+", CODE, " ".join(text.split()))
                yield Paragraph(f"help({where})", line, is_cell=True)


def of_messages() -> Iterator[Paragraph]:
    """The texts of the jar and of the package, parts that are added to one another as one."""
    sources = REPOSITORY / "java" / "src" / "main" / "java"
    for file in sorted(sources.rglob("*.java")):
        for text in concatenated(without_comments(file.read_text("utf-8"))):
            if " " in text:
                yield Paragraph(name(file), re.sub("`[^`]+`", CODE, text))
    problems = sources.parent / "resources" / "io" / "manifestcommitter" / "info" / "problems.json"
    for code, problem in json.loads(problems.read_text("utf-8")).items():
        yield Paragraph(code, problem["text"])
    for file in sorted((REPOSITORY / "python" / "manifest_committer").glob("*.py")):
        for text in formatted(ast.parse(file.read_text("utf-8"))):
            yield Paragraph(name(file), re.sub("`[^`]+`", CODE, text))


def formatted(module: ast.Module) -> Iterator[str]:
    """The texts of a module but for its docstrings."""
    docstrings = {
        id(node.value)
        for node in ast.walk(module)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    inner: set[int] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            inner |= {id(part) for part in ast.walk(node) if part is not node}
        if isinstance(node, ast.expr) and id(node) not in docstrings | inner:
            text = as_text(node)
            if " " in text and "{" not in text:
                yield text


def as_text(node: ast.expr) -> str:
    """A constant or an f-string, with code in the place of its values."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(as_text(part) or CODE for part in node.values)
    return ""


def without_comments(source: str) -> str:
    return JAVA_TOKEN.sub(lambda t: t[0] if t[0].startswith('"') else " ", source)


def concatenated(source: str) -> Iterator[str]:
    """Texts of the source; what is put between their parts is code, and so one word."""
    text = ""
    for part in JAVA_PART.findall(source):
        if part.startswith('"'):
            text += part[1:-1].replace("\\n", ". ")
        elif part in (";", "{", "}", ","):
            if text:
                yield text
            text = ""
        elif text and part.strip() not in ("", "+", ")"):
            text += CODE
    if text:
        yield text


def everything() -> list[Paragraph]:
    return [
        *of_pages(),
        *of_settings(),
        *of_commands(),
        *of_docstrings(),
        *of_messages(),
    ]


def write_good() -> Path:
    """Where the Makefile puts the package of that name."""
    package = Path(sys.prefix) / "node_modules" / "write-good"
    assert package.is_dir(), f"{package} is missing; the Makefile fetches it"
    return package
