# SPDX-License-Identifier: Apache-2.0
"""Engines that write files themselves, by stand-ins of the same class names in Spark's plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from protocols import FACTORY, PROTOCOL, SPARKS
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from sessions import add_stand_in, settings
from tables import Row, Table

import manifest_committer as mc

pytestmark = [
    pytest.mark.local_disk,
    pytest.mark.classic(because="no client reaches the strategies of its server's planner"),
]

OURS = "io.manifestcommitter.ManifestCommitterFactory"
PACKAGE = "org.apache.spark.sql.execution"
ROWS: list[Row] = [("a", 1), ("b", 2)]
MORE: list[Row] = [("c", 2), ("d", 3)]

Planned = Callable[[str], Any]


@pytest.fixture(scope="module")
def planned(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Lets the session plan its writes with the node of an engine, for the length of a block."""
    jar = add_stand_in(spark, "NativeWriterStandIn", tmp_path_factory.mktemp("stand-in"))
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    urls = gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(jar)).toURI().toURL()
    thread = jvm.java.lang.Thread.currentThread()
    loader = jvm.java.net.URLClassLoader(urls, thread.getContextClassLoader())
    strategy = loader.loadClass(f"{PACKAGE}.NativeWriterStandIn")
    experimental = spark._jsparkSession.experimental()

    def use(strategies: list[Any]) -> None:
        listed = jvm.java.util.ArrayList()
        for each in strategies:
            listed.add(each)
        getattr(experimental, "extraStrategies_$eq")(
            jvm.org.apache.spark.api.python.PythonUtils.toSeq(listed)
        )

    @contextmanager
    def block(writer: str) -> Iterator[None]:
        arguments = gateway.new_array(jvm.java.lang.Object, 1)
        arguments[0] = writer
        use([strategy.getConstructors()[0].newInstance(arguments)])
        try:
            yield
        finally:
            use([])

    return block


@pytest.mark.parametrize(
    ("writer", "adaptive"),
    [("VeloxColumnarWriteFilesExec", "false"), ("CHColumnarWriteFilesExec", "true")],
)
def test_a_job_whose_files_gluten_would_write_is_refused(
    planned: Planned, new_table: Callable[..., Table], writer: str, adaptive: str
) -> None:
    table = new_table()
    frame = table.frame(ROWS).repartition("p")
    with settings(table.spark, {"spark.sql.adaptive.enabled": adaptive}), planned(writer):
        with pytest.raises(IllegalArgumentException, match=rf"^Refused to write .*{writer}.*false"):
            table.save(frame, "append")
        assert not table.path.exists(), "nothing was changed"

        with settings(table.spark, {PROTOCOL: SPARKS}):
            table.save(frame, "append")
        assert table.rows() == Counter(ROWS), "the stand-in writes under the protocol that it knows"

    table.write(MORE, "append")
    assert table.rows() == Counter(ROWS + MORE), "and Spark writes once the engine does not"


def test_the_same_by_a_protocol_that_asks_our_factory(
    planned: Planned, new_table: Callable[..., Table]
) -> None:
    """There Gluten's assertion holds, and its writer asks none but a FileOutputCommitter."""
    table = new_table()
    bound = {PROTOCOL: f"{PACKAGE}.NativeWriterStandIn$FactoryProtocol", FACTORY: OURS}
    with settings(table.spark, bound):
        with (
            planned("VeloxColumnarWriteFilesExec"),
            pytest.raises(IllegalArgumentException, match="straight into the table"),
        ):
            table.save(ROWS, "append")
        assert not table.path.exists()
        table.save(ROWS, "append")
        assert "_manifest" not in table.report().job_id


def test_files_under_other_names_than_those_given_fail_the_job(
    planned: Planned, new_table: Callable[..., Table]
) -> None:
    """An append is tried in ForeignNamesTest."""
    table = new_table(partition_by=["p"])
    table.write(ROWS, "append")
    before = table.snapshot()
    with planned("RenamingWriteFilesExec"):
        with pytest.raises(Exception, match="2 files that committed tasks named are neither in"):
            table.save(MORE, "overwrite")
        assert table.snapshot() == before, "what was written is gone, too"

        other = new_table()
        with settings(table.spark, {PROTOCOL: SPARKS}):
            other.path = table.path.parent / "other"
            other.save(MORE, "append")
        assert other.rows() == Counter(MORE), "other names are all that is wrong with the stand-in"


def test_info_tells_who_writes(spark: SparkSession, tmp_path: Path) -> None:
    path = (tmp_path / "table").as_uri()
    with settings(spark, {"spark.native.enabled": "true"}):
        info = mc.committer_info(spark, path)
        problem = info.problem("native-writer")
        assert problem is not None
        assert problem.severity == "warning"
        assert "Repair: set spark.native.enabled = false" in str(info)
        with settings(spark, {"spark.gluten.sql.native.writer.enabled": "false"}):
            info = mc.committer_info(spark, path)
            assert info.problem("native-writer") is None
            assert "NOTE native-engine: Gluten is on" in info.details
    assert mc.committer_info(spark, path).problem("native-engine") is None
