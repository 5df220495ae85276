# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: make site.

The root of the repository is the source, so that a link means the same on the site, on a forge and
in an editor. Pages are plain Markdown; how they are ordered is said here.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

project = "Manifest committer"
author = "the manifest committer's authors"
root_doc = "docs/README"
include_patterns = [
    "docs/*.md",
    "docs/**/*.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# The docstrings name what they mean in single backticks, and have types in their signatures.
sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
default_role = "py:obj"
autodoc_member_order = "bysource"
autoclass_content = "class"
# Anchors of headings as a forge makes them, down to ###.
myst_heading_anchors = 3

html_theme = "furo"
html_title = project
html_copy_source = False
html_permalinks_icon = "#"
highlight_language = "text"

REFERENCE = "docs/using/python"
"""The page that has a list of the package's names; on the site their docstrings follow."""

DECISIONS = Path(__file__).parents[1] / "development" / "decisions"

PARTS = {
    "Using it": [
        "using/how-a-commit-goes",
        "using/which-committer",
        "using/getting-started",
        "using/binding",
        "using/azure",
        "using/google",
        "using/s3",
        "using/lakefs",
        "using/hdfs",
        "using/notebooks",
        "using/native-engines",
        "using/mapreduce",
        "using/options",
        "using/python",
        "using/guarantees",
        "using/readers",
        "using/concurrent-jobs",
        "using/once-whole-held",
        "using/orchestrators",
        "using/recovering",
        "using/passing-on",
        "using/monitoring",
        "using/moving",
        "using/faq",
        "using/troubleshooting",
    ],
    "Operating it on a cluster": [
        "operating/README",
        "operating/yarn",
        "operating/kubernetes",
        "operating/dataproc",
        "operating/synapse-fabric",
        "operating/hdinsight",
        "operating/databricks",
        "operating/emr",
    ],
    "Trusting it": [
        "evidence/README",
        "evidence/crashes",
        "evidence/faults",
        "evidence/zombies",
        "evidence/pairs",
        "evidence/whole",
        "evidence/lakefs",
        "evidence/hostile-input",
        "evidence/mutations",
        "evidence/benchmarks",
        "evidence/requests",
        "evidence/stores",
    ],
    "Changing it": [
        "development/architecture",
        "development/testing",
        "development/emulators",
        "development/releasing",
        "development/decisions/README",
        *sorted(f"development/decisions/{page.stem}" for page in DECISIONS.glob("[0-9]*.md")),
        "../CONTRIBUTING",
        "../CHANGELOG",
        "../SECURITY",
        "../README",
    ],
}
"""The navigation. A page that is missing here is an error."""


def add_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Adds to the first page what a forge would show as a block of code."""
    if page != root_doc:
        return
    for part, pages in PARTS.items():
        entries = "\n".join(pages)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {part}\n\n{entries}\n```\n"


def add_reference(_app: Sphinx, page: str, source: list[str]) -> None:
    """Adds the docstrings, which a forge cannot show."""
    if page == REFERENCE:
        module = ".. automodule:: manifest_committer\n   :members:\n   :imported-members:\n"
        source[0] += f"\n## In full\n\n```{{eval-rst}}\n{module}```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("source-read", add_reference)
