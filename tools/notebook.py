# SPDX-License-Identifier: Apache-2.0
"""Runs the cells of a notebook, and keeps what they print and return in it."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

import nbclient
import nbformat

KEPT = ("execute_result", "error")


def run(file: Path) -> None:
    """As a reader runs it, in the notebook's own folder; a cell that fails ends it."""
    notebook = nbformat.read(file, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(file.parent)}},
    )
    client.execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            # Spark's warnings differ from machine to machine, and bars are gone at the end.
            cell["outputs"] = [shown(output, file) for output in cell["outputs"] if is_kept(output)]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, file)


def is_kept(output: nbformat.NotebookNode) -> bool:
    """Whether an output is what a program printed or returned."""
    return output.output_type in KEPT or output.get("name") == "stdout"


def shown(output: nbformat.NotebookNode, file: Path) -> nbformat.NotebookNode:
    """An output as on a reader's machine, and with its picture alone if it has one."""
    text = json.dumps(output)
    text = text.replace(str(file.parent), "/home/me/notebooks")
    text = text.replace(f" on {socket.gethostname()}", " on laptop")
    output = nbformat.from_dict(json.loads(text))
    if "text/html" in output.get("data", {}):
        del output["data"]["text/plain"]
    return output


if __name__ == "__main__":
    run(Path(sys.argv[1]).resolve())
