# SPDX-License-Identifier: Apache-2.0
"""Writes the version of the pom wherever it is repeated: the Python package, settings and docs."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pom

MENTION = re.compile(
    r'(?P<before>__version__ = "|manifest[-_]committer[-:])(?P<version>\d+\.\d+\.\d+(?:rc\d+)?)'
)


def files() -> list[Path]:
    """Where the version may be. The changelog has older ones, and tests have their own."""
    return [
        pom.ROOT / "python/manifest_committer/_version.py",
        pom.ROOT / "README.md",
        *sorted((pom.ROOT / "docs").rglob("*.md")),
        *sorted((pom.ROOT / "spark-conf").glob("*.conf")),
    ]


def stale(text: str) -> list[str]:
    """Which other versions a text mentions as ours."""
    found = (match["version"] for match in MENTION.finditer(text))
    return sorted({version for version in found if version != pom.version()})


def main() -> int:
    """Returns what the process ends with: 1 if a version is stale, and nobody was to write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="changes nothing; fails if one is stale"
    )
    only_check = parser.parse_args().check
    is_stale = False
    for file in files():
        text = file.read_text("utf-8")
        for version in stale(text):
            print(f"{file.relative_to(pom.ROOT)}: {version} and not {pom.version()}")
            is_stale = True
        if not only_check:
            new = MENTION.sub(rf"\g<before>{pom.version()}", text)
            if new != text:
                file.write_text(new, "utf-8")
    return 1 if only_check and is_stale else 0


if __name__ == "__main__":
    sys.exit(main())
