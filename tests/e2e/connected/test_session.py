# SPDX-License-Identifier: Apache-2.0
"""Spark Connect: the jar goes to the server as an artifact of the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

import manifest_committer as mc
from manifest_committer.session import PROTOCOL_CLASS, PROTOCOL_KEY

# The client cannot change what only the server's start takes.
pytestmark = pytest.mark.filterwarnings("ignore:Failed to set spark")


@pytest.fixture
def unbound(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of the same server that is not configured. To stop it would stop the server."""
    session = SparkSession.builder.remote(f"sc://{spark.client._builder.endpoint}").create()
    yield session
    session.client.close()
    type(session)._set_default_and_active_session(spark)


def test_a_session_is_configured_once_and_writes(
    spark: SparkSession, unbound: SparkSession, new_table: Any
) -> None:
    for ask in (mc.commits, lambda spark: mc.committer_info(spark, "gs://bucket/t")):
        with pytest.raises(mc.JarNotLoadedError, match="configure_session"):
            ask(unbound)
    assert spark.conf.get(PROTOCOL_KEY) == PROTOCOL_CLASS, "and this one is not bound by it"
    assert unbound.conf.get(PROTOCOL_KEY) != PROTOCOL_CLASS
    first = mc.configure_session(unbound)
    assert first.changed
    assert first.jar_added is not None
    assert not mc.configure_session(unbound).changed

    table = new_table("id bigint, p bigint", partition_by=["p"])
    table.spark = unbound
    table.write(unbound.range(100).selectExpr("id", "id % 3 AS p"), "append")
    rows = unbound.range(10).selectExpr("id", "id % 3 AS p")
    table.write(rows, "overwrite", partitionOverwriteMode="dynamic")
    assert table.rows().total() == 10


def test_a_connect_builder_is_refused() -> None:
    with pytest.raises(mc.ConnectSessionError, match="configure_session"):
        mc.configure_builder(SparkSession.builder.remote("local[2]"))


def test_committers_are_told_as_far_as_the_server_can(spark: SparkSession) -> None:
    info = mc.committer_info(spark, "gs://bucket/it's a table")
    # What RDDs would get, which a Connect session does not have.
    before_hadoop_had_one = info.hadoop_version == "3.3.4"
    code = "no-factory" if before_hadoop_had_one else "hadoop-factory"
    assert [problem.code for problem in info.problems] == [code]
    assert info.ok != before_hadoop_had_one
    assert info.committer is None, "stores are not opened there"
    assert {name: place.shown for name, place in info.watching.items()} == {
        "console": False,
        "metrics": True,
        "events": True,
    }
