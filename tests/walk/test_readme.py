# SPDX-License-Identifier: Apache-2.0
"""The README, word for word: install, write, look at the report; then bind in its three ways."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import stores
from conftest import readme
from newcomer import Newcomer, Shell, check_last_lines
from pages import FIRST, Block, blocks, without_blocks

ROWS = 1000
MOST_LINES = 5
"""Of the first program."""

FILES = re.compile(r"part-\d{5}-.*\.parquet$")

# The README speaks of the user's own session, table and path.
SESSION = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
IMPORT = "import manifest_committer as mc\n"
TABLE = """
path = {path!r}
df = spark.range({rows}).selectExpr("id", "id % 2 + 1 AS month", "id % 3 + 1 AS day")
"""


JOB = """
df.write.partitionBy("month", "day").parquet(path)
print(mc.read_report(spark, path))
"""


def table(name: str) -> str:
    """The path of a table on the store, and the lines that define it and its rows."""
    return str(stores.place(Path(name)))


def rows(name: str) -> str:
    return TABLE.format(path=table(name), rows=ROWS)


def files(name: str) -> list[str]:
    """All files of a table, as the store itself tells."""
    place = stores.place(Path(name))
    return sorted(str(path) for path in place.rglob("*") if path.is_file())


def is_published(name: str) -> bool:
    """Whether the table has data, its report, and no trace of a job."""
    found = files(name)
    data = [file for file in found if FILES.search(file)]
    reports = [file for file in found if file.endswith(("/_SUCCESS", "/_SUCCESS.files"))]
    return len(data) >= 1 and len(reports) == 2 and len(found) == len(data) + len(reports)


def one(heading: str, language: str) -> Block:
    (found,) = (block for block in readme(heading) if block.language == language)
    return found


def test_all_blocks_have_their_test() -> None:
    """A new block in the README needs a test in this file."""
    shown = [(block.language, block.mark) for block in blocks(FIRST)]
    assert shown == [
        ("sh", ""),  # install
        ("python", "saved as"),  # the first program
        ("sh", ""),  # its run
        ("text", "printed"),  # its output
        ("sh", ""),  # spark-submit
        ("python", ""),  # notebook
        ("properties", ""),  # spark-defaults.conf
        ("sh", "not run"),  # build and test
    ]


def test_the_first_program(installed: Newcomer, shell: Shell) -> None:
    _, program, run, printed = readme("Try it")
    assert len([line for line in program.text.splitlines() if line]) == MOST_LINES
    (installed.work / program.said).write_text(program.text)
    check_last_lines(printed, shell.run(run))


def test_spark_submit(installed: Newcomer, shell: Shell) -> None:
    (installed.work / "job.py").write_text(SESSION + IMPORT + rows("submitted") + JOB)
    settings, _, submit = one("Use it in your jobs", "sh").text.partition("\n")
    shell.type(settings)
    with (installed.work / "abfs.conf").open("a") as file:
        file.writelines(f"{key} {value}\n" for key, value in installed.account.items())

    printed = shell.type(submit)

    assert ": committed" in printed
    assert is_published("submitted")


def test_notebook(installed: Newcomer) -> None:
    bound = one("Use it in your jobs", "python").text
    notebook = installed.notebook(SESSION, rows("noted"), bound, JOB)
    configuration = installed.configuration()
    with installed.shell(SPARK_CONF_DIR=str(configuration)) as shell:
        shell.type(f"jupyter execute --inplace {notebook}")

    cells = [json.dumps(cell["outputs"]) for cell in json.loads(notebook.read_text())["cells"]]
    assert ": ok, the manifest committer commits Spark SQL" in cells[2]
    assert ": committed" in cells[3]
    assert is_published("noted")


def test_spark_defaults(installed: Newcomer, shell: Shell) -> None:
    jar = shell.type("manifest-committer jar").strip()
    shipped = shell.type("manifest-committer conf abfs")
    line = one("Use it in your jobs", "properties").text
    assert line in re.sub(r"(?<=Class) +", "  ", shipped), "the file for the store has it, too"
    configuration = installed.configuration(f"spark.jars {jar}", shipped, line)
    job = installed.home / "defaults.py"
    job.write_text(SESSION + IMPORT + rows("defaults") + JOB)

    with installed.shell(SPARK_CONF_DIR=str(configuration)) as own:
        printed = own.type(f"python {job}")
        assert ": committed" in printed
        assert is_published("defaults")
        check_commands(own, table("defaults"))


def check_commands(shell: Shell, path: str) -> None:
    """Those in the README's text, on a table that was written."""
    text = without_blocks(FIRST)
    commands = sorted(set(re.findall(r"`(manifest-committer [^`]+)`", text)))
    assert [command.split()[1] for command in commands] == ["clean", "info", "recover"]
    for command in commands:
        shell.type(re.sub(r"<\w+>", path, command))


def test_another_output_fails_the_walk() -> None:
    block = Block(
        FIRST, 1, "text", "files  6\nended  2026-01-31 12:00:00 UTC on a", "printed", "last"
    )
    check_last_lines(block, "warning\nfiles  6\n\rended  2027-02-01 10:00:00 UTC on b\n\r   \r")
    for other in ("files  7\nended  2027-02-01 10:00:00 UTC on b", f"{block.text}\nwarning"):
        with pytest.raises(AssertionError, match="the last lines are"):
            check_last_lines(block, other)


def test_a_command_that_fails_fails_the_walk(shell: Shell) -> None:
    with pytest.raises(AssertionError, match="no such table"):
        shell.type("echo no such table; false; echo it went on")
