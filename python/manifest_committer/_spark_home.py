# SPDX-License-Identifier: Apache-2.0
"""Where Spark is, found without importing PySpark and without starting a JVM."""

import importlib.util
import os
import re
from pathlib import Path

from manifest_committer.errors import SparkMissingError


def spark_home() -> Path | None:
    """The directory of Spark: ``$SPARK_HOME``, else the installed PySpark, else None.

    The same order as PySpark's own ``find-spark-home``.
    """
    home = os.environ.get("SPARK_HOME")
    if home:
        return Path(home)
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent


def spark_jars_directory() -> Path:
    """The directory with Spark's jars, which hold Hadoop and Jackson too.

    Raises:
        SparkMissingError: no Spark, or one without jars (a Connect-only PySpark).
    """
    home = spark_home()
    if home is None:
        raise SparkMissingError(
            "Spark was not found: SPARK_HOME is not set and PySpark is not installed here. "
            "Run `pip install 'pyspark>=3.5'` or set SPARK_HOME."
        )
    jars = home / "jars"
    if not any(jars.glob("*.jar")):
        if os.environ.get("SPARK_HOME"):
            raise SparkMissingError(
                f"SPARK_HOME is {home}, but {jars} holds no jars. "
                "Point SPARK_HOME at a Spark distribution, or unset it to use PySpark's jars."
            )
        raise SparkMissingError(
            f"The installed PySpark has no jars in {jars} (a client for Spark Connect only). "
            "Install the complete `pyspark`, or set SPARK_HOME to a Spark distribution."
        )
    return jars


_PROPERTY = re.compile(r"\s*(?P<key>[^\s=:#!]+)\s*[=:\s]\s*(?P<value>.*\S)")


def read_property(file: Path, key: str) -> str | None:
    """The value of one key in a Java properties file such as ``spark-defaults.conf``.

    None if the file or the key is not there. As in Java, the last line of a key wins.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    value = None
    for line in text.splitlines():
        match = _PROPERTY.match(line)
        if match and match["key"] == key:
            value = match["value"]
    return value


def spark_defaults() -> Path | None:
    """The ``spark-defaults.conf`` that a Spark started from here would read, if known."""
    directory = os.environ.get("SPARK_CONF_DIR")
    if directory:
        return Path(directory) / "spark-defaults.conf"
    home = spark_home()
    return None if home is None else home / "conf" / "spark-defaults.conf"
