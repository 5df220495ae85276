# SPDX-License-Identifier: Apache-2.0
"""What a newcomer has, and how the commands of a page are typed into a shell."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
from pages import Block

PATIENCE = 900
"""Seconds for one block: a build, or Spark's installation, on a busy machine."""


VARIES = {
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "<id>",
    r"\d{4}-\d\d-\d\d[ T][\d:.]+( UTC|Z)": "<time>",
    r"file:/\S*/": "file:/<folder>/",
    r"[\d,]+ \([\d.]+ [KMG]iB\)": "<bytes>",
    r"\d[\d,.]* m?s\b": "<duration>",
    r"local-\d+": "<application>",
    r"(?<=<time> on )\S+": "<host>",
}
"""What programs print that differs from run to run, and what stands for it."""


class WalkError(AssertionError):
    """A command of the documentation did not do what it says."""


def check_last_lines(block: Block, printed: str) -> None:
    """Fails unless what a reader saw last is what the block shows, but for what varies."""
    shown = [line for line in re.split("[\r\n]", printed) if line.strip()]
    expected = block.text.splitlines()
    found = shown[-len(expected) :]
    assert [same(line) for line in found] == [same(line) for line in expected], (
        f"{block}: the last lines are\n" + "\n".join(found)
    )


def same(line: str) -> str:
    """A line without what varies."""
    for pattern, stands_for in VARIES.items():
        line = re.sub(pattern, stands_for, line)
    return line.rstrip()


class Shell:
    """One shell for all blocks of a page, as a reader has it. It ends with the first failure."""

    def __init__(self, folder: Path, environment: dict[str, str], log: Path) -> None:
        self._log = log
        self._output = log.open("w+")
        self._process = subprocess.Popen(
            ["bash"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.type("set -eo pipefail")

    def run(self, block: Block, *, instead: dict[str, str] | None = None) -> str:
        """Types a block; returns what it printed. Words of it may be exchanged."""
        text = block.text
        for word, other in (instead or {}).items():
            text = text.replace(word, other)
        try:
            return self.type(text)
        except WalkError as error:
            raise WalkError(f"{block} failed:\n{text}\n{error}") from None

    def type(self, text: str) -> str:
        """Types commands and waits for their end."""
        assert self._process.stdin is not None
        begin = len(self._log.read_bytes())
        done = self._log.with_name(uuid.uuid4().hex)
        # Else a program would read the commands that come after it.
        self._process.stdin.write(f"{{\n{text}\n}} < /dev/null\ntouch {done}\n")
        self._process.stdin.flush()
        deadline = time.monotonic() + PATIENCE
        while not done.exists() and self._process.poll() is None:
            assert time.monotonic() < deadline, f"no end after {PATIENCE} s:\n{text}"
            time.sleep(0.1)
        printed = self._log.read_bytes()[begin:].decode("utf-8", "replace")
        if not done.exists():
            raise WalkError(printed[-5000:])
        return printed

    def folder(self) -> Path:
        """Where the shell is."""
        return Path(self.type("pwd").splitlines()[-1])

    def close(self) -> None:
        """Ends the shell, and what it runs in the background."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(timeout=60)
        self._output.close()


READER = """
import json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    try:
        exec(compile(json.loads(line), "<block>", "exec"), names)
    except BaseException:
        traceback.print_exc()
        sys.exit(1)
    print("\\0", flush=True)
"""


class Interpreter:
    """One Python for the programs of a page, each of which knows the names of those before."""

    def __init__(self, newcomer: Newcomer, folder: Path, configuration: Path) -> None:
        self._log = newcomer.home / f"{uuid.uuid4().hex}.log"
        self._errors = self._log.open("w+")
        self._process = subprocess.Popen(
            [str(newcomer.python), "-u", "-c", READER],
            cwd=folder,
            env={**newcomer.environment(), "SPARK_CONF_DIR": str(configuration)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def run(self, program: str) -> str:
        """Returns what the program printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(program) + "\n")
        self._process.stdin.flush()
        printed = []
        for line in self._process.stdout:
            if line == "\0\n":
                return "".join(printed)
            printed.append(line)
        raise WalkError(f"{program}\n{self._log.read_text()[-5000:]}")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._errors.close()


@dataclass(frozen=True)
class Newcomer:
    """A folder with the sources, one with a wheel, and a virtual environment with Spark."""

    home: Path
    sources: Path
    work: Path
    """Where the reader of the README works: nothing but the wheel is there."""
    account: dict[str, str]
    """The settings that lead Spark to the store."""

    @property
    def python(self) -> Path:
        return self.home / "venv" / "bin" / "python"

    def environment(self) -> dict[str, str]:
        """With the programs of the virtual environment, as after its activation."""
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path}

    @contextmanager
    def shell(self, folder: Path | None = None, **environment: str) -> Iterator[Shell]:
        """A shell in a folder, by default in that of the sources."""
        log = self.home / f"{uuid.uuid4().hex}.log"
        shell = Shell(folder or self.sources, {**self.environment(), **environment}, log)
        try:
            yield shell
        finally:
            shell.close()

    def configuration(self, *lines: str) -> Path:
        """A directory with a spark-defaults.conf: the account's settings, and more lines."""
        directory = self.home / uuid.uuid4().hex
        directory.mkdir()
        own = [f"{key} {value}" for key, value in self.account.items()]
        (directory / "spark-defaults.conf").write_text("\n".join([*own, *lines, ""]))
        return directory

    def notebook(self, *cells: str) -> Path:
        """A notebook with these cells."""
        file = self.home / f"{uuid.uuid4().hex}.ipynb"
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        nbformat.write(made, file)
        return file
