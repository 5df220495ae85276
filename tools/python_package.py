# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel and the source distribution. Both carry the jar, so neither needs Maven.

The result depends on the sources alone: not on the day, the directory, the user or the umask.
Setuptools honours SOURCE_DATE_EPOCH in wheels; source distributions are packed again here.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pom

IGNORED = shutil.ignore_patterns(
    "jars", "build", "dist", "examples", "__pycache__", "*.egg-info", ".*"
)
LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\]\()(?!https?:|#)(?P<target>[^)\s]+\))")


def assemble(jar: Path, to: Path) -> None:
    """Puts together what is packed: the package, the jar, the licence, and the first page."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(pom.ROOT / "python", to, ignore=IGNORED)
    jars = to / "manifest_committer" / "jars"
    jars.mkdir()
    shutil.copy(jar, jars / f"manifest-committer-{pom.version()}.jar")
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(pom.ROOT / name, to)
    (to / "README.md").write_text(long_description(), "utf-8")
    for path in to.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def long_description() -> str:
    """The first page, with links that also work on another site."""
    text = (pom.ROOT / "README.md").read_text("utf-8")

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "blob"
        place = f"{pom.repository()}/{kind}/v{pom.version()}"
        return f"{link['image']}{link['text']}{place}/{link['target']}"

    return LINK.sub(absolute, text)


def pack_again(sdist: Path) -> None:
    """Gives a source distribution one order, one time and one owner."""
    with tarfile.open(sdist) as packed:
        members = sorted(packed.getmembers(), key=lambda member: member.name)
        contents = {
            member.name: file.read()
            for member in members
            if (file := packed.extractfile(member)) is not None
        }
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member in members:
            clean = tarfile.TarInfo(member.name)
            clean.type, clean.size, clean.mtime = member.type, member.size, pom.timestamp()
            clean.mode = 0o755 if member.isdir() else 0o644
            archive.addfile(clean, io.BytesIO(contents.get(member.name, b"")))
    # An empty name: by default the file's own would be in the header.
    with (
        sdist.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=pom.timestamp()) as compressed,
    ):
        compressed.write(plain.getvalue())


def build(jar: Path, to: Path) -> None:
    """Builds both into an emptied directory, with the setuptools that are installed."""
    os.umask(0o022)
    assembled = to.resolve().parent / f"{to.name}-sources"
    assemble(jar, assembled)
    shutil.rmtree(to, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(to), str(assembled)],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(pom.timestamp())},
    )
    for sdist in to.glob("*.tar.gz"):
        pack_again(sdist)
    shutil.rmtree(assembled)


def put_into_sources(jar: Path) -> None:
    """Makes the sources a package that works: by ``PYTHONPATH`` or ``pip install -e python``."""
    jars = pom.ROOT / "python" / "manifest_committer" / "jars"
    shutil.rmtree(jars, ignore_errors=True)
    jars.mkdir()
    shutil.copy(jar, jars / f"manifest-committer-{pom.version()}.jar")


def main() -> None:
    """Builds what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--in-sources", action="store_true", help="also puts the jar there")
    args = parser.parse_args()
    build(args.jar, args.to)
    if args.in_sources:
        put_into_sources(args.jar)


if __name__ == "__main__":
    main()
