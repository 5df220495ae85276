# SPDX-License-Identifier: Apache-2.0
"""Where the line that names the licence goes."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

import headers

HASH = f"# {headers.LICENCE}\n"
XML = f"<!-- {headers.LICENCE} -->\n"


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ('"""A module."""\n', HASH, HASH + '"""A module."""\n'),
        ("#!/bin/sh\nexit\n", HASH, "#!/bin/sh\n" + HASH + "exit\n"),
        ('<?xml version="1.0"?>\n<a/>\n', XML, '<?xml version="1.0"?>\n' + XML + "<a/>\n"),
        ("", HASH, HASH),
    ],
)
def test_it_is_the_first_line_that_may_be(before, line, after):
    assert not headers.has(before, line)
    assert headers.added(before, line) == after
    assert headers.has(after, line)


def test_a_line_further_down_does_not_count():
    assert not headers.has("import os\n" + HASH, HASH)
    assert not headers.has("#!/bin/sh\nexit\n" + HASH, HASH)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder under version control with one file, and a reader's own files beside it."""
    for name in ("ours.py", "first.py", "laptop.conf"):
        (tmp_path / name).write_text("import os\n")
    for command in (["init", "--quiet"], ["add", "ours.py"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(headers.pom, "ROOT", tmp_path)
    return tmp_path


def test_a_readers_own_files_are_not_looked_at(checkout):
    assert [file for file, _ in headers.sources()] == [checkout / "ours.py"]


def test_lint_takes_what_is_under_version_control(checkout):
    shutil.copy(REPOSITORY / "Makefile", checkout)
    (checkout / "python").mkdir()
    (checkout / "python" / "pyproject.toml").touch()
    assert linted(checkout) == "ours.py"
    shutil.rmtree(checkout / ".git")
    assert linted(checkout) == "python tests benchmarks tools"


def linted(checkout):
    """What `make lint` gives to ruff."""
    command = ["make", "-n", "lint"]
    ran = subprocess.run(command, cwd=checkout, check=True, capture_output=True, text=True)
    (files,) = re.findall(r"ruff check --config python/pyproject.toml (.*)", ran.stdout)
    return files


def test_every_kind_of_source_is_looked_at():
    names = {str(file.relative_to(headers.pom.ROOT)) for file, _ in headers.sources()}
    assert {
        "Makefile",
        ".ci/run",
        "pom.xml",
        "tools/headers.py",
        ".github/workflows/ci.yml",
    } <= names
    assert "java/src/main/java/io/manifestcommitter/ManifestCommitter.java" in names
