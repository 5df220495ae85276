# SPDX-License-Identifier: Apache-2.0
"""The programs and commands of the other pages, from the first to the last, and the notebooks."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import nbformat
import pyspark
import pytest
import stores
from newcomer import Interpreter, Newcomer, Shell, check_last_lines, same
from pages import FIRST, NOTEBOOKS, PAGES, REPOSITORY, Block, blocks, name

STANDS_FOR = "abfs://c@a.dfs.core.windows.net/"
"""What pages write for a container of the reader's own."""

ON_THE_FLOOR = {
    "pyspark==4.3.0": "pyspark==3.5.9",
    "hadoop-azure:3.5.0": "hadoop-azure:3.3.4",
    "hadoop-azure-3.5.0": "hadoop-azure-3.3.4",
}
"""Versions to exchange where the walk runs on the oldest Spark, as the page says."""

SESSION = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
ROWS = 'spark.range(1000).selectExpr("id", "id % 2 + 1 AS month", "id % 3 + 1 AS day")'
WRITE = SESSION + ROWS + '.write.mode("overwrite").partitionBy("day").parquet({path!r})\n'
REPORTS = "mapreduce.manifest.committer.summary.report.directory"
REPORTED = (
    SESSION + ROWS + f'.write.option("{REPORTS}", {{path!r}}).parquet({{path!r}} + "-table")\n'
)

GIVEN = {
    "spark": SESSION,
    "a new session": "",
    "df and path": SESSION + f"df = {ROWS}\npath = {{path!r}}\n",
    "spark and path": SESSION + "path = {path!r}\n",
    "a table and its path": WRITE + "path = {path!r}\n",
    "a commit": "import manifest_committer as mc\n" + WRITE,
}
"""What programs are given, as lines before them."""

FIRST_STEPS = REPOSITORY / "docs" / "using" / "getting-started.md"
"""For a reader who has no settings yet."""

WALKED = [page for page in PAGES if page != FIRST and any(b.is_run for b in blocks(page))]


class Walk:
    """One page, read by a newcomer whose Spark is bound to the committer and knows the store."""

    def __init__(self, newcomer: Newcomer, page: Path) -> None:
        self._newcomer = newcomer
        self._place = str(stores.place(Path(page.stem))) + "/"
        self._instead = {STANDS_FOR: self._place}
        if pyspark.__version__.startswith("3."):
            self._instead |= ON_THE_FLOOR
        with newcomer.shell() as shell:
            jar = shell.type("manifest-committer jar").strip()
        lines = [f"{key} {value}" for key, value in stores.shipped("abfs.conf").items()]
        self._configuration = newcomer.configuration(f"spark.jars {jar}", *lines)
        self._interpreter: Interpreter | None = None
        self._printed = ""

    def walk(self, page: Path) -> None:
        own = {} if page == FIRST_STEPS else {"SPARK_CONF_DIR": str(self._configuration)}
        with self._newcomer.shell(**own) as shell:
            try:
                for block in blocks(page):
                    if block.mark == "printed":
                        check_last_lines(block, self._printed)
                    elif block.is_run:
                        self._printed = self._read(block, shell)
            finally:
                self._forget()

    def _read(self, block: Block, shell: Shell) -> str:
        """What the block printed."""
        if block.mark == "saved as":
            (shell.folder() / block.said).write_text(block.text)
            return ""
        if block.language == "sh":
            self._prepare(block.said)
            return shell.run(block, instead=self._instead)
        if block.said == "a new session" or self._interpreter is None:
            self._forget()
            self._interpreter = self._new_interpreter()
        path = f"{self._place}{block.line}"
        self._interpreter.run(GIVEN[block.said].format(path=path) if block.said else "")
        return self._interpreter.run(self._exchanged(block.text))

    def _prepare(self, given: str) -> None:
        """Makes what a command is given: a table or a directory of reports at a path."""
        if not given:
            return
        what, _, path = given.partition(" at ")
        program = {"a table": WRITE, "reports": REPORTED}[what]
        with closing(self._new_interpreter()) as interpreter:
            interpreter.run(program.format(path=self._exchanged(path)))

    def _exchanged(self, text: str) -> str:
        for word, other in self._instead.items():
            text = text.replace(word, other)
        return text

    def _new_interpreter(self) -> Interpreter:
        return Interpreter(self._newcomer, self._newcomer.sources, self._configuration)

    def _forget(self) -> None:
        if self._interpreter is not None:
            self._interpreter.close()
            self._interpreter = None


@pytest.mark.parametrize("page", WALKED, ids=name)
def test_page(installed: Newcomer, page: Path) -> None:
    with installed.shell() as shell:
        shell.type("git init -q . && git add --all")
        Walk(installed, page).walk(page)
        new = shell.type("git status --porcelain --untracked-files=all | grep '^??' || true")
    assert page != FIRST_STEPS or new == "", "what its reader makes is in an ignored folder"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name)
def test_a_notebook_has_the_outputs_of_its_cells(installed: Newcomer, notebook: Path) -> None:
    with installed.shell() as shell:
        shell.type(f"python tools/notebook.py {name(notebook)}")
    kept, made = (outputs(root / name(notebook)) for root in (REPOSITORY, installed.sources))
    assert made == kept, "run make notebook"


def outputs(notebook: Path) -> list[list[object]]:
    """Of each cell of code: lines of text without what varies, and the kinds of pictures."""
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if "outputs" in cell]
    return [
        [
            [same(line) for line in output.text.splitlines()]
            if output.output_type == "stream"
            else (output.output_type, sorted(output.data))
            for output in cell.outputs
        ]
        for cell in cells
    ]
