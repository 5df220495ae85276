# SPDX-License-Identifier: Apache-2.0
"""How a session comes to our committer: by the builder, while it runs, and not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from sessions import PROGRAMS, run_program

import manifest_committer

SPARK_CONF = Path(__file__).parents[2] / "spark-conf"

pytestmark = [
    pytest.mark.local_disk,
    pytest.mark.classic(because="starts classic sessions of its own"),
]


def test_running_session_with_executors(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    answer = run_program("late_jar.py", str(tmp_path / "table"), str(warehouse))
    expected = [[i, i % 3] for i in range(100)]
    assert answer["rows"] == expected
    assert answer["sql rows"] == sorted(expected * 3)
    assert answer["files"][0] == len(list((tmp_path / "table").rglob("part-*")))
    assert answer["files"][1] > 0
    assert not list(tmp_path.rglob("_manifest_*"))
    assert answer["first"] != answer["again"], "the second call has nothing left to change"
    assert answer["new session"] == answer["after RESET"] == 4


def package(directory: Path) -> Path:
    """A copy of our package, without its jar."""
    source = Path(manifest_committer.__file__).parent
    shutil.copytree(
        source, directory / source.name, ignore=shutil.ignore_patterns("jars", "__pycache__")
    )
    return directory


@pytest.mark.once
def test_jar_is_missing_or_without_the_class(tmp_path: Path) -> None:
    no_jar = package(tmp_path / "no-jar")
    wrong_jar = package(tmp_path / "wrong-jar")
    jars = wrong_jar / manifest_committer.__name__ / "jars"
    jars.mkdir()
    with zipfile.ZipFile(jars / Path(manifest_committer.jar_path()).name, "w") as jar:
        jar.writestr("io/manifestcommitter/nothing.txt", "")

    answer = run_program("refused.py", str(tmp_path), "", str(no_jar), str(wrong_jar))
    missing, wrong = answer["errors"]
    assert missing[0] == "JarMissingError"
    assert str(no_jar) in missing[1]
    assert "make build" in missing[1]
    assert wrong[0] == "CommitProtocolError"
    assert "ManifestCommitProtocol" in wrong[1]
    assert "spark.jars" in wrong[1]
    assert answer["rows"] == 10, "the session goes on with Spark's own protocol"


@pytest.mark.once
def test_jar_of_another_version(tmp_path: Path) -> None:
    old = tmp_path / "manifest-committer-0.0.1.jar"
    with (
        zipfile.ZipFile(manifest_committer.jar_path()) as source,
        zipfile.ZipFile(old, "w") as target,
    ):
        for entry in source.namelist():
            content = source.read(entry)
            if entry.endswith("manifest-committer.properties"):
                content = content.replace(manifest_committer.__version__.encode(), b"0.0.1")
            target.writestr(entry, content)

    ours = str(Path(manifest_committer.__file__).parent.parent)
    answer = run_program("refused.py", str(tmp_path), str(old), ours)
    ((error, message),) = answer["errors"]
    assert error == "JarVersionError"
    assert {"0.0.1", manifest_committer.__version__} <= set(re.findall(r"\d+\.\d+\.\d+", message))
    assert str(old) in message
    assert "spark.jars" in message
    assert answer["rows"] == 10


def submit(*arguments: str) -> Any:
    """What the last line says that a program prints; its session has two cores."""
    done = subprocess.run(
        [
            str(Path(os.environ["SPARK_HOME"]) / "bin" / "spark-submit"),
            *("--master", "local[2]", "--conf", "spark.ui.enabled=false"),
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.once
def test_spark_submit_with_the_defaults_file(tmp_path: Path) -> None:
    """The jar by ``--jars``, the settings by the file that the repository offers."""
    answer = submit(
        *("--jars", manifest_committer.jar_path()),
        *("--properties-file", str(SPARK_CONF / "local.conf")),
        *(str(PROGRAMS / "submitted.py"), str(tmp_path / "table")),
    )
    assert answer == {
        "rows": 100,
        "committer": "io.manifestcommitter.spark.ManifestCommitProtocol",
    }


@pytest.mark.parametrize(
    ("how", "jar_is"),
    [
        ("configure_session", "in the wheel"),
        pytest.param("configure_session", "in --jars", marks=pytest.mark.once),
        pytest.param("configure_builder", "in the wheel", marks=pytest.mark.once),
    ],
)
def test_spark_submit_with_the_wheel_in_py_files(tmp_path: Path, how: str, jar_is: str) -> None:
    """The package is not installed: it is imported out of the wheel, which has its jar in it."""
    wheel = tmp_path / f"manifest_committer-{manifest_committer.__version__}-py3-none-any.whl"
    package = Path(manifest_committer.__file__).parent
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in [*package.glob("*.py"), *package.glob("jars/*.jar")]:
            archive.write(file, file.relative_to(package.parent))
    jars = ["--jars", manifest_committer.jar_path()] if jar_is == "in --jars" else []
    program = (str(PROGRAMS / "from_zip.py"), str(tmp_path / "table"), how)
    answer = submit("--py-files", str(wheel), *jars, *program)
    assert ".whl/" in answer["package"]
    assert answer["ok"]
    assert answer["files"] > 0
    assert answer["rows"] == 100
    if jars:
        assert answer["added"] is None
    else:
        loaded = Path(answer["loaded"].removeprefix("file:"))
        assert loaded.name == Path(manifest_committer.jar_path()).name
        assert not loaded.exists(), "the copy went with its process"
