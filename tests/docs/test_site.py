# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pages import PAGES, REPOSITORY, name

import manifest_committer


def build(source: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """As ``make site`` does it: a warning is an error."""
    options = ["-q", "-W", "--keep-going", "-c", str(source / "docs" / "site")]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(source), str(site)],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """All that the site is made of, to be spoiled."""
    copy = tmp_path / "repository"
    for page in PAGES:
        target = copy / name(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, target)
    images, site, package = "docs/images", "docs/site", "python/manifest_committer"
    for directory in (images, site, package, "spark-conf", "tests/connectors/s3a"):
        shutil.copytree(REPOSITORY / directory, copy / directory)
    for file in ("LICENSE", "NOTICE"):
        shutil.copy(REPOSITORY / file, copy)
    return copy


def test_every_page_is_on_the_site(tmp_path: Path) -> None:
    built = build(REPOSITORY, tmp_path)
    assert built.returncode == 0, built.stderr
    missing = [n for n in map(name, PAGES) if not (tmp_path / n).with_suffix(".html").is_file()]
    assert missing == []
    reference = (tmp_path / "docs/using/python.html").read_text("utf-8")
    described = re.findall(r'id="manifest_committer\.(\w+)"', reference)
    assert sorted(described) == sorted(n for n in manifest_committer.__all__ if n != "__version__")
    assert "how long there was no sign of life" in reference


def test_the_list_of_the_package_is_made_from_its_docstrings(copied: Path) -> None:
    shutil.copytree(REPOSITORY / "tools", copied / "tools")
    shutil.copy(REPOSITORY / "pom.xml", copied)

    def check() -> tuple[int, str]:
        command = [sys.executable, "tools/python_page.py", "--check"]
        ran = subprocess.run(command, check=False, cwd=copied, capture_output=True, text=True)
        return ran.returncode, ran.stdout

    assert check() == (0, "")
    source = copied / "python/manifest_committer/recovery.py"
    source.write_text(
        source.read_text("utf-8").replace('"""Complete, or', '"""Finish, or'), "utf-8"
    )
    assert check() == (1, "docs/using/python.md is not what the docstrings say; run make docs\n")


def test_mistakes_fail_the_build(copied: Path, tmp_path: Path) -> None:
    with (copied / "docs/using/hdfs.md").open("a") as page:
        page.write("\n[gone](gone.md) [gone](readers.md#no-such-heading)\n")
    (copied / "docs/using/new.md").write_text("# New\n")
    built = build(copied, tmp_path / "site")
    assert built.returncode != 0
    for what in ("gone.md", "no-such-heading", "isn't included in any toctree"):
        assert what in built.stderr
