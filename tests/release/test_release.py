# SPDX-License-Identifier: Apache-2.0
"""Two releases of the same sources are equal byte for byte, whatever else differs.

They are built in two copies of the repository: in directories whose names differ in length, with
other times of the sources, another time zone, another umask and another language.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))

import central
import pom

DAY = 86_400


def copy(to: Path, *, age: int, umask: int) -> Path:
    """The files under version control and those that are new, as they are now.

    Args:
        to: Where they go.
        age: By how many seconds they are older there.
        umask: What the modes of files and directories lack there.
    """
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            (to / name).symlink_to(source.readlink())
        elif source.is_file():
            shutil.copy(source, to / name)
            written = source.stat().st_mtime - age
            os.utime(to / name, (written, written))
    for path in to.rglob("*"):
        path.chmod(path.stat().st_mode & ~umask)
    return to


def release(repository: Path, *, umask: int, **environment: str) -> Path:
    """Builds a release as its maker does, with the environments for Python that are here."""
    done = subprocess.run(
        ["make", "release", f"VENVS={REPOSITORY}/.venv"],
        cwd=repository,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
            **environment,
        },
        umask=umask,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout
    return repository / "target/release"


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    first = copy(tmp_path_factory.mktemp("a"), age=0, umask=0o022)
    second = copy(tmp_path_factory.mktemp("another-day") / "deeper", age=400 * DAY, umask=0o077)
    return (
        release(first, umask=0o022, TZ="UTC", LC_ALL="C.UTF-8"),
        release(second, umask=0o077, TZ="Asia/Kolkata", LC_ALL="C"),
    )


def test_both_are_equal(releases: tuple[Path, Path]) -> None:
    first, second = ({file.name: file.read_bytes() for file in made.iterdir()} for made in releases)
    assert first.keys() == second.keys()
    different = [name for name in first if first[name] != second[name]]
    assert not different, f"{different}: compare them in {releases}"


def test_it_holds_all_that_is_published(releases: tuple[Path, Path]) -> None:
    base, package = f"manifest-committer-{pom.version()}", f"manifest_committer-{pom.version()}"
    assert {file.name for file in releases[0].iterdir()} == {
        *(f"{base}{end}" for end in (".jar", "-sources.jar", "-javadoc.jar", ".pom")),
        *(f"{base}-cyclonedx.{kind}" for kind in ("json", "xml")),
        *(f"{package}-py3-none-any.whl", f"{package}.tar.gz"),
        *("SHA256SUMS", "SHA512SUMS"),
    }


def test_the_checksums_are_those_of_the_files(releases: tuple[Path, Path]) -> None:
    for algorithm in ("sha256", "sha512"):
        lines = (releases[0] / f"{algorithm.upper()}SUMS").read_text("utf-8").splitlines()
        assert len(lines) == len(list(releases[0].iterdir())) - 2
        for line in lines:
            digest, name = line.split("  ")
            content = (releases[0] / name).read_bytes()
            assert hashlib.new(algorithm, content).hexdigest() == digest, name


def test_the_wheel_carries_the_jar_that_is_published(releases: tuple[Path, Path]) -> None:
    (wheel,) = releases[0].glob("*.whl")
    name = f"manifest-committer-{pom.version()}.jar"
    with zipfile.ZipFile(wheel) as archive:
        carried = archive.read(f"manifest_committer/jars/{name}")
    assert carried == (releases[0] / name).read_bytes()


def test_maven_central_would_take_it(releases: tuple[Path, Path]) -> None:
    assert central.problems(releases[0]) == []
    (published,) = releases[0].glob("*.pom")
    assert f"    <url>{pom.repository()}</url>\n" in published.read_text("utf-8")


@pytest.mark.parametrize("element", ["name", "description", "url", "licenses", "developers", "scm"])
def test_maven_central_would_not_take_a_pom_without(
    releases: tuple[Path, Path], tmp_path: Path, element: str
) -> None:
    (published,) = releases[0].glob("*.pom")
    lines = published.read_text("utf-8").splitlines(keepends=True)
    # An element of the project itself: two spaces before it.
    first = next(i for i, line in enumerate(lines) if re.match(rf"  <{element}[ >]", line))
    last = next(
        i for i, line in enumerate(lines) if line.rstrip().endswith(f"</{element}>") and i >= first
    )
    (tmp_path / published.name).write_text("".join(lines[:first] + lines[last + 1 :]), "utf-8")
    assert central.problems_of_pom(tmp_path / published.name) != []


def test_the_documented_command_installs_the_jar_in_a_maven_repository(
    releases: tuple[Path, Path], tmp_path: Path
) -> None:
    """By the command of binding.md, into a repository that has what the user's has."""
    users = Path.home() / ".m2" / "repository"
    installed = tmp_path / "io" / "manifestcommitter"
    installed.mkdir(parents=True)
    for directory in (users, users / "io"):
        for entry in directory.glob("*"):
            link = tmp_path / entry.relative_to(users)
            if not link.exists() and entry.name != installed.name:
                link.symlink_to(entry)
    page = (REPOSITORY / "docs" / "using" / "binding.md").read_text("utf-8")
    (command,) = re.findall(r"`(mvn install [^`]+)`", page)

    subprocess.run(
        [*command.split(), "-B", "-q", f"-Dmaven.repo.local={tmp_path}"],
        cwd=releases[0].parents[1],
        check=True,
        timeout=600,
    )

    base = f"manifest-committer-{pom.version()}"
    (place,) = (entry for entry in installed.iterdir() if entry.is_dir())
    assert place.name == "manifest-committer"
    assert {f"{base}.jar", f"{base}.pom"} <= {f.name for f in (place / pom.version()).iterdir()}
    published = (place / pom.version() / f"{base}.pom").read_text("utf-8")
    assert "<parent>" not in published
