# SPDX-License-Identifier: Apache-2.0
"""Puts a release into one directory, and its checksums beside it."""

from __future__ import annotations

import hashlib
import shutil

import pom

TARGET = pom.ROOT / "target"
RELEASE = TARGET / "release"


def main() -> None:
    """Collects what was built before."""
    base = f"manifest-committer-{pom.version()}"
    package = f"manifest_committer-{pom.version()}"
    shutil.rmtree(RELEASE, ignore_errors=True)
    RELEASE.mkdir(parents=True)
    for end in (
        ".jar",
        "-sources.jar",
        "-javadoc.jar",
        ".pom",
        "-cyclonedx.json",
        "-cyclonedx.xml",
    ):
        shutil.copy(TARGET / f"{base}{end}", RELEASE)
    for end in ("-py3-none-any.whl", ".tar.gz"):
        shutil.copy(pom.ROOT / "python/dist" / f"{package}{end}", RELEASE)
    files = sorted(RELEASE.iterdir())
    for algorithm in ("sha256", "sha512"):
        # As sha256sum and sha512sum write and check them.
        lines = [
            f"{hashlib.new(algorithm, file.read_bytes()).hexdigest()}  {file.name}\n"
            for file in files
        ]
        (RELEASE / f"{algorithm.upper()}SUMS").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
