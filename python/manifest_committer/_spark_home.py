# SPDX-License-Identifier: Apache-2.0
"""Where Spark and Java are, and whether they are new enough, found without starting Spark."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from manifest_committer.errors import (
    JavaMissingError,
    JavaVersionError,
    SparkMissingError,
    SparkVersionError,
)

_OLDEST_SPARK = (3, 5)
_OLDEST_JAVA = 11
_OLDEST_JAVA_OF_SPARK_4 = 17
_SPARK_CORE = re.compile(r"spark-core_[\d.]+-(?P<version>\d+\.\d+.*)\.jar")
_RELEASE = re.compile(r"(?:JAVA_VERSION=|version )\"(?:1\.)?(\d+)")


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
        SparkVersionError: it is older than 3.5.
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
    version = _version_of(jars)
    if _is_older(version):
        raise SparkVersionError(f"Spark {version} in {home}")
    return jars


def require_pyspark() -> None:
    """Refuse a PySpark that was imported and is too old.

    Raises:
        SparkVersionError: it is older than 3.5.
    """
    version = str(getattr(sys.modules.get("pyspark"), "__version__", ""))
    if _is_older(version):
        raise SparkVersionError(f"PySpark {version}")


def _version_of(jars: Path) -> str:
    """The version of Spark, by the name of one of its jars; empty if none tells."""
    found = (_SPARK_CORE.fullmatch(jar.name) for jar in jars.glob("spark-core_*.jar"))
    return next((match["version"] for match in found if match), "")


def _is_older(version: str) -> bool:
    return version != "" and _numbers(version) < _OLDEST_SPARK


def _numbers(version: str) -> tuple[int, ...]:
    """Its first two; those of the newest where it does not begin with them."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else _OLDEST_SPARK


def java_for(jars: Path) -> Path:
    """The ``java`` that Spark's own scripts would start, for a Spark with these jars.

    Raises:
        JavaMissingError: there is none.
        JavaVersionError: it is too old.
    """
    java = _java()
    found = _java_version(java)
    spark = _version_of(jars)
    needed = _OLDEST_JAVA_OF_SPARK_4 if _numbers(spark) >= (4, 0) else _OLDEST_JAVA
    if found is not None and found < needed:
        raise JavaVersionError(found, str(java), spark)
    return java


def require_java_of_new_jvm() -> None:
    """Refuse a Java that is too old for the Spark that a builder would start.

    What is missing is for PySpark to tell. Nothing is known where Spark's scripts read settings of
    their own, which may choose another Java.

    Raises:
        JavaVersionError: it is too old.
    """
    home, defaults = spark_home(), spark_defaults()
    if home is None or defaults is None or (defaults.parent / "spark-env.sh").exists():
        return
    try:
        java_for(home / "jars")
    except JavaMissingError:
        return


def _java() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = shutil.which("java", path=str(Path(home) / "bin"))
        if java is None:
            raise JavaMissingError(f"JAVA_HOME is {home}, but there is no program {home}/bin/java")
        return Path(java)
    java = shutil.which("java")
    if java is None:
        raise JavaMissingError(
            "No `java` was found: JAVA_HOME is not set and `java` is not on PATH"
        )
    return Path(java)


def _java_version(java: Path) -> int | None:
    """By the file that says it, which takes no time; else by asking. None if neither tells."""
    try:
        text = (java.resolve().parent.parent / "release").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        asked = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, errors="replace", check=False
        )
        text = asked.stderr
    match = _RELEASE.search(text)
    return None if match is None else int(match[1])


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
