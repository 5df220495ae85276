# SPDX-License-Identifier: Apache-2.0
"""Writes the page of the Python package from its docstrings; the site adds them in full."""

from __future__ import annotations

import argparse
import inspect
import re
import sys

import pom

sys.path.insert(0, str(pom.ROOT / "python"))

import manifest_committer as mc

PAGE = pom.ROOT / "docs" / "using" / "python.md"
TEXT = """<!-- Written by 'make docs' from the docstrings of the package. -->
# The Python package

`import manifest_committer as mc` neither imports PySpark nor starts a JVM. `help(mc.recover)` shows
arguments, results and errors of a function. So does this page on the site that `make site` makes.

## Functions

{functions}
## What they return

{values}
## Errors

All are kinds of `ManifestCommitterError`. Each message says the cause, and what to do next.

{errors}"""


def table(of: list[str]) -> str:
    """Names, each with its summary."""
    rows = "".join(f"| `mc.{name}` | {summary(name)} |\n" for name in of)
    return f"| name | what it is |\n|---|---|\n{rows}"


def summary(name: str) -> str:
    """The first sentence of a docstring, as a cell of a table."""
    first, _, _ = (inspect.getdoc(getattr(mc, name)) or "").partition("\n\n")
    return re.sub("`+", "`", " ".join(first.split())).replace("|", "\\|")


def page() -> str:
    """The page as it has to be."""
    public = {name: getattr(mc, name) for name in mc.__all__ if not name.startswith("_")}
    errors = [n for n, o in public.items() if inspect.isclass(o) and issubclass(o, Exception)]
    functions = [n for n, o in public.items() if inspect.isroutine(o)]
    values = [n for n in public if n not in (*errors, *functions)]
    return TEXT.format(functions=table(functions), values=table(values), errors=table(errors))


def main() -> int:
    """Returns what the process ends with: 1 if the page is stale, and nobody was to write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="changes nothing; fails if it is stale"
    )
    if not parser.parse_args().check:
        PAGE.write_text(page(), "utf-8")
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != page():
        print(f"{PAGE.relative_to(pom.ROOT)} is not what the docstrings say; run make docs")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
