# SPDX-License-Identifier: Apache-2.0
"""Writes the table of versions in the README: what the tests run, as the Makefile and CI say."""

from __future__ import annotations

import argparse
import re
import sys

import pom

PAGE = pom.ROOT / "README.md"
BEGIN = "<!-- versions: written by make docs -->\n"
END = "<!-- end of versions -->\n"
ASSIGNMENT = re.compile(r"^([A-Z][\w.$()]*) :?= (.*)$", re.MULTILINE)
VARIABLE = re.compile(r"\$\((\w+)\)")

COLUMNS = (
    *("Spark", "Scala", "Hadoop", "Java", "Python"),
    *("Azure: hadoop-azure", "Google: gcs-connector", "S3: hadoop-aws"),
)


def variables() -> dict[str, str]:
    """The variables of the Makefile, also those whose names are made from versions."""
    known: dict[str, str] = {}

    def expanded(text: str) -> str:
        return VARIABLE.sub(lambda match: known.get(match[1], match[0]), text)

    for name, value in ASSIGNMENT.findall((pom.ROOT / "Makefile").read_text("utf-8")):
        known[expanded(name)] = expanded(value)
    return known


def of_ci(key: str) -> list[str]:
    """The versions after a key of the workflow, the first one first, each of them once."""
    workflow = (pom.ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    values = re.findall(rf"^ +{key}: (.*)$", workflow, flags=re.MULTILINE)
    return list(
        dict.fromkeys(found for value in values for found in re.findall(r"\d[\d.]*", value))
    )


def table() -> str:
    """A row for each Spark, and what else the jar runs on."""
    known = variables()
    (java,), (python,) = of_ci("java-version"), of_ci("python-version")
    others = [version for version in of_ci("java") if version != java]
    rows = [COLUMNS, ["---"] * len(COLUMNS)]
    for spark in (known["SPARK_FLOOR"], known["SPARK_NEWEST"]):
        scala, _, _ = known[f"BINDINGS_{spark}"].partition(":")
        hadoop = known[f"HADOOP_{spark}"]
        google = known[f"GCS_{hadoop}"]
        rows.append([spark, scala, hadoop, java, python, hadoop, google, hadoop])
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(
        [*lines, "", f"The unit tests of the jar also run on Java {' and '.join(others)}.", ""]
    )


def main() -> int:
    """Returns what the process ends with: 1 if the table is stale, and nobody was to write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="changes nothing; fails if it is stale"
    )
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = f"{before}{BEGIN}{table()}{END}{after}"
    if new == text:
        return 0
    if parser.parse_args().check:
        print(f"{PAGE.name}: the table of versions is not what the tests run; run make docs")
        return 1
    PAGE.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
