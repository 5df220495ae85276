# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share; none of them starts Spark."""

import importlib.util
import sys
from pathlib import Path

import pytest

if importlib.util.find_spec("manifest_committer") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from manifest_committer import _jvm, cli, session

SETTINGS_OF_SPARK = (
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "SPARK_REMOTE",
    "SPARK_API_MODE",
    "SPARK_CONNECT_MODE",
    "SPARK_CONNECT_MODE_ENABLED",
    "PYSPARK_SUBMIT_ARGS",
    "PYSPARK_GATEWAY_PORT",
    "HADOOP_CONF_DIR",
    "JAVA_HOME",
)


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Tests do not see the settings of the machine they run on."""
    for name in SETTINGS_OF_SPARK:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def version(monkeypatch):
    """Tests know the package as version 0.1.0, whatever it has become."""
    monkeypatch.setattr(session, "__version__", "0.1.0")
    monkeypatch.setattr(_jvm, "__version__", "0.1.0")
    monkeypatch.setattr(cli, "__version__", "0.1.0")


@pytest.fixture
def jar(tmp_path, monkeypatch):
    """A package that has its jar."""
    path = tmp_path / "jars" / "manifest-committer-0.1.0.jar"
    path.parent.mkdir()
    path.write_bytes(b"PK")
    monkeypatch.setattr(session, "_package_directory", lambda: tmp_path)
    return str(path)
