# SPDX-License-Identifier: Apache-2.0
"""Sessions and tables for the end-to-end tests.

They run on the local disk, or with ``--store`` on an emulated store through its real connector.
There, tests marked ``local_disk`` are left out. With ``--core`` only those marked ``core`` run.
Tests marked ``thorough`` run only with ``--thorough``, those marked ``once`` not with ``--again``.
With ``--directory-rename off`` every session publishes file by file, as by default it does only
where the store cannot rename directories.
With ``--session connect`` the session is a client of a Spark Connect server; tests marked
``classic`` are skipped there, and say why.

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
pytest.register_assert_rewrite("cancelling", "sessions", "tables", "twins")

import jvm
import sessions
import stores
from places import Place
from sessions import BASE, started
from tables import Table

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=stores.NAMES, default=stores.LOCAL)
    parser.addoption("--core", action="store_true", help="only tests marked core")
    parser.addoption("--again", action="store_true", help="all ran on another Spark before")
    parser.addoption("--thorough", action="store_true", help="also what takes long")
    parser.addoption("--session", choices=sessions.KINDS, default=sessions.KINDS[0])
    parser.addoption("--directory-rename", choices=("auto", "off"), default="auto")


def pytest_configure(config: pytest.Config) -> None:
    """Sets what Spark's launch scripts read from the environment, before anything starts a JVM."""
    config.addinivalue_line("markers", "core: belongs to the short run")
    config.addinivalue_line("markers", "more: a parameter left out of core and Connect")
    config.addinivalue_line("markers", "only_on(*names): for these stores")
    config.addinivalue_line("markers", "not_on(*names, because): has no meaning on these stores")
    config.addinivalue_line("markers", "lines: reads CSV, JSON or text by Hadoop's reader of lines")
    config.addinivalue_line("markers", "once: takes long, and is the same on every Spark")
    config.addinivalue_line("markers", "thorough: takes long, and repeats a case in another way")
    config.addinivalue_line("markers", "local_disk: needs a local disk, or has nothing to do there")
    config.addinivalue_line("markers", "classic(because): needs a driver in this process")
    stores.choose(config.getoption("--store"))
    sessions.choose(config.getoption("--session"))
    if config.getoption("--directory-rename") == "off":
        BASE["spark.hadoop.mapreduce.manifest.committer.directory.rename"] = "off"
    os.environ.update(
        # File names outside ASCII need it: before JDK 18 the JVM takes their encoding from here.
        LC_ALL="C.UTF-8",
        SPARK_LOCAL_IP="127.0.0.1",
        PYSPARK_PYTHON=sys.executable,
        PYSPARK_DRIVER_PYTHON=sys.executable,
        **jvm.environment(),
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The tests of the connectors need a store that is emulated, those of Connect a server."""
    is_s3 = stores.name() == stores.S3
    is_emulated = stores.name() not in (stores.S3, stores.LAKEFS) and stores.is_emulated()
    is_of_s3 = collection_path.name.startswith("test_s3")
    is_of_lakefs = collection_path.name.startswith("test_lakefs")
    is_of_emulated = collection_path == HERE / "emulated"
    is_of_connect = collection_path == HERE / "connected"
    return (
        (is_of_s3 and not is_s3)
        or (is_of_lakefs and stores.name() != stores.LAKEFS)
        or (is_of_emulated and not is_emulated)
        or (is_of_connect and not sessions.is_connect())
        or None
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_local = config.getoption("--store") == stores.LOCAL

    def belongs(item: pytest.Item) -> bool:
        marks = {mark.name for mark in item.iter_markers()}
        if "thorough" in marks and not config.getoption("--thorough"):
            return False
        if "once" in marks and config.getoption("--again"):
            return False
        if config.getoption("--core") and "core" not in marks:
            return False
        if "more" in marks and (config.getoption("--core") or sessions.is_connect()):
            return False
        if is_local:
            return True
        only_on = item.get_closest_marker("only_on")
        if only_on is not None and stores.name() not in only_on.args:
            return False
        if any(stores.is_one_of(mark.args) for mark in item.iter_markers("not_on")):
            return False
        if not stores.reads_lines():
            parameters = getattr(item, "callspec", None)
            values = [] if parameters is None else parameters.params.values()
            if "lines" in marks or any(value in ("csv", "json", "text") for value in values):
                return False
        return "local_disk" not in marks

    config.hook.pytest_deselected(items=[item for item in items if not belongs(item)])
    items[:] = filter(belongs, items)
    if sessions.is_connect():
        for item in items:
            classic = item.get_closest_marker("classic")
            if classic is not None:
                item.add_marker(pytest.mark.skip(reason=classic.kwargs["because"]))


@pytest.fixture(scope="session", autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The emulator of the chosen store, if it has one."""
    with stores.running(tmp_path_factory.mktemp("store")):
        yield


@pytest.fixture(autouse=True)
def settled() -> None:
    """What an earlier test left on a branch of lakeFS would keep jobs from being merged."""
    stores.settle()


@pytest.fixture
def control() -> Iterator[stores.Control]:
    """Steers the emulator, which is well again afterwards."""
    steered = stores.control()
    steered.repair()
    yield steered
    steered.repair()


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
def place(tmp_path: Path) -> Place:
    """A directory of this test's own, on the store."""
    return stores.place(tmp_path)


@pytest.fixture
def warehouse(spark: SparkSession) -> Place:
    """Where the session keeps the tables of its catalog."""
    return stores.at(spark.conf.get("spark.sql.warehouse.dir"))


@pytest.fixture
def new_table(spark: SparkSession, place: Place) -> Callable[..., Table]:
    """Makes the handle of a table that does not exist yet, by default of Parquet files."""

    def make(schema: str = "value string, p int", **kwargs: str) -> Table:
        return Table(spark, place / "table", schema, **kwargs)

    return make


@pytest.fixture
def catalog_table(
    spark: SparkSession, tmp_path: Path, warehouse: Place
) -> Iterator[Callable[..., Table]]:
    """Makes tables with ``CREATE TABLE`` (or only their handles), and drops them in the end."""
    made: list[str] = []

    def make(
        schema: str = "value string, p int", *, create: str | None = "PARTITIONED BY (p)"
    ) -> Table:
        name = re.sub(r"\W", "_", f"{tmp_path.name}_{len(made)}").lower()
        made.append(name)
        if create is not None:
            spark.sql(f"CREATE TABLE {name} ({schema}) USING parquet {create}")
            stores.settle()
        return Table(spark, warehouse / name, schema, name=name)

    yield make
    for name in made:
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    stores.settle()
