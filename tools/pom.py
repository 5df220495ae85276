# SPDX-License-Identifier: Apache-2.0
"""What the pom at the top says, for the tools that build what is not Java."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"


def _text(path: str) -> str:
    pom = ElementTree.parse(ROOT / "pom.xml")
    found = pom.findtext("/".join(f"{NAMESPACE}{name}" for name in path.split("/")))
    if found is None:
        raise SystemExit(f"pom.xml has no {path}")
    return found.strip()


def version() -> str:
    """The version of the jar and of the Python package."""
    return _text("properties/revision")


def timestamp() -> int:
    """The time of every file in what is built, in seconds since 1970."""
    text = _text("properties/project.build.outputTimestamp")
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp())


def repository() -> str:
    """Where the sources are, for people."""
    return _text("scm/url")
