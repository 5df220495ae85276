# SPDX-License-Identifier: Apache-2.0
"""Notebooks in real kernels, whose second cell writes so slowly that it can be watched."""

from __future__ import annotations

from typing import Any

import pytest

MADE = """
from pyspark.sql import SparkSession
import manifest_committer as mc
conf = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.hadoop.mapreduce.manifest.committer.io.rate": "20",
    "spark.hadoop.mapreduce.manifest.committer.directory.rename": "off",
}
builder = SparkSession.builder.master("local[2]")
for key, value in conf.items():
    builder = builder.config(key, value)
"""
BY_SESSION = "spark = builder.getOrCreate()\nprint(mc.configure_session(spark))\n"
BY_BUILDER = "spark = mc.configure_builder(builder).getOrCreate()\n"


def beginning(binding: str, write: str) -> list[str]:
    """Two cells; the second writes, and also makes the session if that is by the builder."""
    if binding == "configure_session":
        return [MADE + BY_SESSION, write]
    return ["print('hello')", MADE + BY_BUILDER + write]


class Kernel:
    """Runs cells, and interrupts the second, if it has to, once its bar shows renames."""

    def __init__(self, *cells: str, interrupted: bool = False) -> None:
        self.shown: list[str] = []
        """What the second cell displayed."""
        self._cells = cells
        self._interrupted = interrupted

    def run(self) -> list[Any]:
        """The cells with their outputs."""
        nbclient = pytest.importorskip("nbclient", reason="is in the environments of `make`")
        import nbformat

        cells = [nbformat.v4.new_code_cell(text) for text in self._cells]
        notebook = nbformat.v4.new_notebook(cells=cells)
        shown, is_due = self.shown, self._interrupted

        class Client(nbclient.NotebookClient):  # type: ignore[misc]
            def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
                nonlocal is_due
                data = msg["content"].get("data", {}) if isinstance(msg["content"], dict) else {}
                if cell_index == 1 and "text/html" in data:
                    shown.append(data["text/html"])
                    if is_due and "rename files (" in shown[-1]:
                        is_due = False
                        nbclient.util.run_sync(self.km.interrupt_kernel)()
                return super().process_message(msg, cell, cell_index)

        options = {"timeout": 480, "kernel_name": "python3", "allow_errors": self._interrupted}
        Client(notebook, **options).execute()
        assert not is_due
        return list(notebook.cells)
