# SPDX-License-Identifier: Apache-2.0
"""The wheel: one jar, every module, and the marker for type checkers; and its sources."""

import email
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import manifest_committer as mc

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = REPOSITORY / "python"
LICENCES = ("LICENSE", "NOTICE")
JAR = f"manifest_committer/jars/manifest-committer-{mc.__version__}.jar"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Both distributions, with a stand-in for the jar."""
    directory = tmp_path_factory.mktemp("wheel")
    jar = directory / "stand-in.jar"
    jar.write_bytes(b"PK stand-in")
    command = [sys.executable, str(REPOSITORY / "tools/python_package.py")]
    subprocess.run(
        [*command, "--jar", str(jar), "--to", str(directory / "dist")], check=True, timeout=300
    )
    return directory / "dist"


@pytest.fixture(scope="module")
def wheel(built):
    (wheel,) = built.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def sdist(built):
    (sdist,) = built.glob("*.tar.gz")
    return sdist


def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def metadata(wheel, file):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(f".dist-info/{file}"))
        return archive.read(name).decode()


def test_it_holds_one_jar_and_every_module_and_nothing_else(wheel):
    assert wheel.name == f"manifest_committer-{mc.__version__}-py3-none-any.whl"
    package = PYTHON / "manifest_committer"
    expected = [f"manifest_committer/{file.name}" for file in package.glob("*.py")]
    settings = (REPOSITORY / "spark-conf").iterdir()
    expected += [f"manifest_committer/conf/{file.name}" for file in settings]
    expected += [JAR, "manifest_committer/py.typed"]
    assert sorted(name for name in names(wheel) if ".dist-info/" not in name) == sorted(expected)


def test_its_metadata(wheel):
    lines = metadata(wheel, "METADATA").splitlines()
    assert "Requires-Python: >=3.10" in lines
    requirements = [line for line in lines if line.startswith("Requires-Dist:")]
    assert requirements == [
        'Requires-Dist: pyspark>=3.5; extra == "spark"',
        'Requires-Dist: pandas>=2; extra == "pandas"',
        'Requires-Dist: pyiceberg[pyarrow]<0.13,>=0.12; extra == "iceberg"',
    ]


def test_it_brings_its_licence_and_its_console_script(wheel):
    for file in LICENCES:
        assert metadata(wheel, f"licenses/{file}") == (PYTHON.parent / file).read_text("utf-8")
    assert "manifest-committer = manifest_committer.cli:main" in metadata(wheel, "entry_points.txt")


def test_its_long_description_is_the_first_page_with_links_that_lead_somewhere(wheel):
    message = email.message_from_string(metadata(wheel, "METADATA"))
    text = message.get_payload()
    assert message["Description-Content-Type"] == "text/markdown"
    assert text.startswith((REPOSITORY / "README.md").read_text("utf-8")[:100])
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    (picture,) = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)
    assert "/raw/" in picture, "a page about a picture is none"


def test_the_source_distribution_holds_what_the_wheel_does(sdist, wheel):
    with tarfile.open(sdist) as archive:
        names_of_sources = {name.partition("/")[2] for name in archive.getnames()}
    package = {name for name in names(wheel) if name.startswith("manifest_committer/")}
    assert package <= names_of_sources
    assert {"pyproject.toml", "README.md", *LICENCES} <= names_of_sources


def install(to, *what):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--target", str(to), *map(str, what)]
    subprocess.run(command, check=True, timeout=300)


def jar_path(**environment):
    """As a process has it that imports the package in these surroundings."""
    # As the interpreter does for its own packages, whose links to sources it follows.
    code = "import site, sys; [site.addsitedir(path) for path in sys.path if 'installed' in path]\n"
    code += "import manifest_committer as mc; print(mc.jar_path())"
    command = [sys.executable, "-S", "-c", code]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    return ran.stdout.strip() or ran.stderr.splitlines()[-1]


def test_the_source_distribution_installs_without_a_network(sdist, tmp_path):
    install(tmp_path / "installed", sdist)
    assert jar_path(PYTHONPATH=str(tmp_path / "installed")) == str(tmp_path / "installed" / JAR)


def test_the_sources_are_a_package_once_they_are_built(tmp_path):
    """By ``PYTHONPATH=python`` and ``pip install -e python``; before, the error says what to do."""
    for file in ("pom.xml", "README.md", *LICENCES):
        shutil.copy(REPOSITORY / file, tmp_path)
    ignored = shutil.ignore_patterns("jars", "build", "dist", "dist-sources", "*.egg-info")
    for directory in ("python", "tools", "spark-conf"):
        shutil.copytree(REPOSITORY / directory, tmp_path / directory, symlinks=True, ignore=ignored)
    package = {"PYTHONPATH": str(tmp_path / "python")}
    assert "In a source checkout, run `make build`" in jar_path(**package)
    recipe = (REPOSITORY / "Makefile").read_text("utf-8").partition("\n$(WHEEL):")[2]
    (arguments,) = re.findall(r"tools/python_package\.py --jar \$\(JAR\) (.*)", recipe)
    (tmp_path / "stand-in.jar").write_bytes(b"PK stand-in")
    command = [sys.executable, "tools/python_package.py", "--jar", "stand-in.jar"]
    subprocess.run([*command, *arguments.split()], cwd=tmp_path, check=True, timeout=300)
    assert jar_path(**package) == str(tmp_path / "python" / JAR)
    install(tmp_path / "installed", "--editable", tmp_path / "python")
    assert jar_path(PYTHONPATH=str(tmp_path / "installed")) == str(tmp_path / "python" / JAR)
