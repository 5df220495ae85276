"""Sessions and tables for the end-to-end tests.

One JVM serves the whole run; every module gets a Spark context of its own in it. What must be seen
in a JVM of its own (a jar that arrives late, one that is missing) is in ``programs/`` and runs as
a child process.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

# Before they are imported: their assertions, too, then show what they compare.
pytest.register_assert_rewrite("sessions", "tables")

from sessions import started
from tables import Table


def pytest_configure(config: pytest.Config) -> None:
    """Sets what Spark's launch scripts read from the environment, before anything starts a JVM."""
    os.environ.update(
        # File names outside ASCII need it: before JDK 18 the JVM takes their encoding from here.
        LC_ALL="C.UTF-8",
        SPARK_LOCAL_IP="127.0.0.1",
        PYSPARK_PYTHON=sys.executable,
        PYSPARK_DRIVER_PYTHON=sys.executable,
    )


@pytest.fixture(scope="session", autouse=True)
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed PySpark under another name: local-cluster writes to ``$SPARK_HOME/work``."""
    home = tmp_path_factory.mktemp("spark-home")
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    os.environ["SPARK_HOME"] = str(home)
    return home


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Two cores, and three attempts for every task. A module may define its own instead."""
    with started("local[2,3]", tmp_path_factory.mktemp("session")) as session:
        yield session


@pytest.fixture
def new_table(spark: SparkSession, tmp_path: Path) -> Callable[..., Table]:
    """Makes the handle of a table that does not exist yet, by default of Parquet files."""

    def make(schema: str = "value string, p int", **kwargs: str) -> Table:
        return Table(spark, tmp_path / "table", schema, **kwargs)

    return make


@pytest.fixture
def catalog_table(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[..., Table]]:
    """Makes tables with ``CREATE TABLE`` (or only their handles), and drops them in the end."""
    warehouse = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    made: list[str] = []

    def make(
        schema: str = "value string, p int", *, create: str | None = "PARTITIONED BY (p)"
    ) -> Table:
        name = re.sub(r"\W", "_", f"{tmp_path.name}_{len(made)}").lower()
        made.append(name)
        if create is not None:
            spark.sql(f"CREATE TABLE {name} ({schema}) USING parquet {create}")
        return Table(spark, warehouse / name, schema, name=name)

    yield make
    for name in made:
        spark.sql(f"DROP TABLE IF EXISTS {name}")
