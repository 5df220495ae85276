# SPDX-License-Identifier: Apache-2.0
"""Puts the line that names the licence at the head of every source file, or checks for it."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pom

LICENCE = "SPDX-License-Identifier: Apache-2.0"
# By the end of the file's name, what comes before and after the line.
COMMENTS = {
    ".java": ("// ", ""),
    ".xml": ("<!-- ", " -->"),
    **dict.fromkeys((".py", ".toml", ".properties", ".conf", ".yml", ".sh"), ("# ", "")),
    **dict.fromkeys(("Makefile", ".ci/run"), ("# ", "")),
}
# What has to stay the first line.
FIRST = ("#!", "<?xml")


def sources() -> list[tuple[Path, str]]:
    """Every source file under version control, each with its line; a reader's own are not ours."""
    command = ["git", "ls-files", "--cached", "-z"]
    listed = subprocess.run(command, cwd=pom.ROOT, check=True, capture_output=True, text=True)
    found = []
    for name in sorted(filter(None, listed.stdout.split("\0"))):
        for end, (before, after) in COMMENTS.items():
            if name.endswith(end) and (pom.ROOT / name).is_file():
                found.append((pom.ROOT / name, f"{before}{LICENCE}{after}\n"))
    return found


def has(text: str, header: str) -> bool:
    """Whether the line is the first, or the second where another has to be the first."""
    lines = text.splitlines(keepends=True)[:2]
    return header in (lines[1:] if text.startswith(FIRST) else lines[:1])


def added(text: str, header: str) -> str:
    """The text with the line at its head."""
    if not text.startswith(FIRST):
        return header + text
    first, _, rest = text.partition("\n")
    return f"{first}\n{header}{rest}"


def main() -> int:
    """Returns what the process ends with: 1 if files lack the line, and nobody was to add it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="changes nothing; fails if one is not there"
    )
    only_check = parser.parse_args().check
    missing = [(file, line) for file, line in sources() if not has(file.read_text("utf-8"), line)]
    for file, line in missing:
        if only_check:
            print(f"{file.relative_to(pom.ROOT)} has no licence header: run make headers")
        else:
            file.write_text(added(file.read_text("utf-8"), line), "utf-8")
    return 1 if only_check and missing else 0


if __name__ == "__main__":
    sys.exit(main())
