"""The wheel: one jar, every module, and the marker for type checkers."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import manifest_committer as mc

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = REPOSITORY / "python"
LICENCES = ("LICENSE", "NOTICE")
JAR = f"manifest_committer/jars/manifest-committer-{mc.__version__}.jar"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from a copy of the sources, with a stand-in for the jar."""
    directory = tmp_path_factory.mktemp("wheel")
    source = directory / "source"
    shutil.copytree(
        PYTHON,
        source,
        ignore=shutil.ignore_patterns("jars", "build", "dist", "__pycache__", "*.egg-info", ".*"),
    )
    for file in LICENCES:
        shutil.copy(PYTHON.parent / file, source)
    (source / JAR).parent.mkdir()
    (source / JAR).write_bytes(b"PK stand-in")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet"]
    subprocess.run(
        [*command, "--wheel-dir", str(directory), str(source)],
        check=True,
        timeout=300,
        capture_output=True,
        text=True,
    )
    (built,) = directory.glob("*.whl")
    return built


def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def metadata(wheel, file):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(f".dist-info/{file}"))
        return archive.read(name).decode()


def test_its_name(wheel):
    assert wheel.name == f"manifest_committer-{mc.__version__}-py3-none-any.whl"


def test_it_holds_exactly_one_jar(wheel):
    assert [name for name in names(wheel) if name.endswith(".jar")] == [JAR]


def test_it_holds_every_module_and_nothing_else(wheel):
    package = PYTHON / "manifest_committer"
    expected = {f"manifest_committer/{file.name}" for file in package.glob("*.py")}
    expected |= {JAR, "manifest_committer/py.typed"}
    found = {name for name in names(wheel) if ".dist-info/" not in name}
    assert found == expected


def test_its_metadata(wheel):
    lines = metadata(wheel, "METADATA").splitlines()
    assert "Requires-Python: >=3.10" in lines
    requirements = [line for line in lines if line.startswith("Requires-Dist:")]
    assert requirements == [
        'Requires-Dist: pyspark>=3.5; extra == "spark"',
        'Requires-Dist: pandas>=2; extra == "pandas"',
    ]


def test_it_brings_its_licence(wheel):
    for file in LICENCES:
        assert metadata(wheel, f"licenses/{file}") == (PYTHON.parent / file).read_text("utf-8")


def test_its_console_script(wheel):
    assert "manifest-committer = manifest_committer.cli:main" in metadata(wheel, "entry_points.txt")
