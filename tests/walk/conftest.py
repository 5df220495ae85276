# SPDX-License-Identifier: Apache-2.0
"""A newcomer: an empty folder with a wheel, the sources, and what the README says one needs.

The walk runs the blocks of the README and of the pages, word for word. The wheel is built first, as
CONTRIBUTING says. By default its jar and the emulators are taken from ``target``; with
``--from-scratch`` the newcomer builds them, too. The Spark is the one of the Python that runs the
tests, installed anew; the emulators stand for the cloud.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

HERE = Path(__file__).parent
for directory in ("docs", "e2e"):
    sys.path.insert(0, str(HERE.parent / directory))

import stores
from newcomer import Newcomer, Shell
from pages import REPOSITORY, Block

STORE = "abfs"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--from-scratch", action="store_true", help="the newcomer builds the jar")


def pytest_configure(config: pytest.Config) -> None:
    stores.choose(STORE)
    os.environ.update(LC_ALL="C.UTF-8", SPARK_LOCAL_IP="127.0.0.1")
    for name in ("SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_CONF_DIR"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with stores.running(tmp_path_factory.mktemp("store")):
        yield


@pytest.fixture(scope="session")
def newcomer(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Newcomer:
    """Has the sources and Spark, and has built and installed nothing yet."""
    home = tmp_path_factory.mktemp("newcomer")
    sources = home / "manifest-committer"
    copy_sources(sources)
    if not pytestconfig.getoption("--from-scratch"):
        built, target = REPOSITORY / "target", sources / "target"
        (target / "emulators").mkdir(parents=True)
        # The marks of the builds come last: they have to be newer than the sources.
        for directory in (".", "emulators"):
            jars = (built / directory).glob("manifest-committer-*.jar")
            for file in (*jars, built / directory / "classpath", built / directory / ".jar"):
                if file.is_file():
                    shutil.copy(file, target / directory)
    python = home / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    needed = [f"pyspark=={pyspark.__version__}", "nbclient", "ipykernel", "pandas<3", "setuptools"]
    subprocess.run([str(python), "-m", "pip", "install", "-q", *needed], check=True)
    (jars,) = (home / "venv").glob("lib/*/site-packages/pyspark/jars")
    for jar in stores.class_path().split(os.pathsep):
        shutil.copy(jar, jars)
    newcomer = Newcomer(home, sources, home / "work", account())
    newcomer.work.mkdir()
    with newcomer.shell() as shell:
        shell.type("make build && cp python/dist/*.whl ../work")
    return newcomer


def copy_sources(folder: Path) -> None:
    """What a clone would have, and what is not committed yet."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    files = subprocess.run(listed, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    for file in filter(None, files.stdout.split("\0")):
        if (REPOSITORY / file).is_file() or (REPOSITORY / file).is_symlink():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / file, folder / file, follow_symlinks=False)


def account() -> dict[str, str]:
    """What a user's own settings say of the account, here where the emulator is."""
    shipped = stores.shipped("abfs.conf")
    return {
        key: value
        for key, value in stores.conf().items()
        if key not in shipped and key.startswith("spark.hadoop.")
    }


@pytest.fixture(scope="session")
def installed(newcomer: Newcomer) -> Newcomer:
    """After the README's own commands to install it."""
    block = readme("Try it")[0]
    with newcomer.shell(newcomer.work) as shell:
        shell.run(block)
    return newcomer


@pytest.fixture
def shell(installed: Newcomer) -> Iterator[Shell]:
    with installed.shell(installed.work) as shell:
        yield shell


def readme(heading: str) -> list[Block]:
    """The blocks of the README below a heading."""
    from pages import FIRST, blocks

    lines = FIRST.read_text("utf-8").splitlines()
    begin = lines.index(f"## {heading}") + 1
    after = [i + 1 for i, line in enumerate(lines) if line.startswith("## ") and i >= begin]
    return [block for block in blocks(FIRST) if begin < block.line < after[0]]
