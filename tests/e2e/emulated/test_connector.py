# SPDX-License-Identifier: Apache-2.0
"""The real connector in a session: the settings that we ship for it, and what it is told of."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable

import pyspark
import pytest
import stores
from places import Place
from pyspark.sql import SparkSession
from sessions import settings
from tables import Table

import manifest_committer as mc

pytestmark = pytest.mark.core

GS = stores.name() == "gs"
HADOOP_35 = pyspark.__version__.startswith("4")
CONSTANTS = (
    "com/google/cloud/hadoop/fs/gcs/GoogleHadoopFileSystemConfiguration.class"
    if GS
    else "org/apache/hadoop/fs/azurebfs/constants/ConfigurationKeys.class"
)
ALWAYS_TOLD = [] if stores.reads_lines() else ["gcs-needs-newer-hadoop"]
TOLD_OF_THE_STORE = ["gcs-filesystem-calls"] if stores.is_one_of([stores.FILESYSTEM]) else []

#: What only hadoop-azure 3.5.0 knows; older ones do not have what it switches off.
ONLY_IN_35 = {"fs.azure.metrics.collection.enabled"}
BINDS_CLASS = re.compile(r"fs\.(AbstractFileSystem\.)?\w+\.impl")


def test_the_connector_knows_the_settings_that_we_ship() -> None:
    shipped = stores.shipped("gs.conf" if GS else "abfs.conf")
    keys = [
        key.removeprefix("spark.hadoop.") for key in shipped if key.startswith("spark.hadoop.fs.")
    ]
    settings_of_connector = [key for key in keys if not BINDS_CLASS.fullmatch(key)]
    with zipfile.ZipFile(stores.connector()) as jar:
        constants = jar.read(CONSTANTS)
        for key in set(keys) - set(settings_of_connector):
            assert f"{shipped[f'spark.hadoop.{key}'].replace('.', '/')}.class" in jar.namelist()
    assert settings_of_connector
    for key in settings_of_connector:
        # As the class file has it: two bytes of length, then the text.
        is_known = len(key).to_bytes(2, "big") + key.encode() in constants
        assert is_known == (HADOOP_35 or key not in ONLY_IN_35), key


def test_the_session_has_nothing_to_repair(spark: SparkSession, place: Place) -> None:
    info = mc.committer_info(spark, str(place / "table"))
    assert [p.code for p in info.problems] == ALWAYS_TOLD + TOLD_OF_THE_STORE
    assert info.ok
    assert info.committer == "io.manifestcommitter.ManifestCommitter"
    assert info.file_system is not None
    assert info.file_system.source == stores.connector().name


@pytest.mark.only_on("gs")
def test_traps_of_googles_connector(spark: SparkSession) -> None:
    hadoops = "org.apache.hadoop.fs.gs.GoogleHadoopFileSystem"
    # A bucket that this JVM has not opened yet.
    path = "gs://never-opened/table"
    with settings(spark, {"fs.gs.impl": hadoops}):
        problem = mc.committer_info(spark, path).problem("store-not-found")
    assert problem is not None
    assert problem.repair.jar is None
    assert problem.repair.settings["fs.gs.impl"].startswith("com.google.cloud.")

    with settings(spark, {"fs.gs.block.size": "64m"}):
        info = mc.committer_info(spark, path)
    assert [p.code for p in info.problems if p.severity == "error"] == [
        "gcs-block-size",
        "store-failed",
    ]
    assert info.problems[0].repair.settings == {"fs.gs.block.size": "67108864"}


@pytest.mark.only_on("abfs", "abfss")
def test_traps_of_hadoop_azure(spark: SparkSession, place: Place) -> None:
    path = str(place / "table")
    with settings(spark, {"fs.azure.readaheadqueue.depth": "2", "fs.azure.io.rate.limit": "250"}):
        info = mc.committer_info(spark, path)
    assert [p.code for p in info.problems] == ([] if HADOOP_35 else ["abfs-read-ahead"])
    assert info.options["fs.azure.io.rate.limit"].value == "250"


@pytest.mark.only_on("abfs", "abfss")
def test_a_flat_account_is_refused(spark: SparkSession, new_table: Callable[..., Table]) -> None:
    frame = new_table().frame([("a", 1)])
    # A filesystem of the account that this JVM has not opened yet.
    path = str(new_table().path).replace("://data@", "://flat@")
    stores.control().forget()
    with settings(spark, {"fs.azure.account.hns.enabled": "false"}):
        with pytest.raises(Exception, match="no hierarchical namespace"):
            frame.write.parquet(path)
        info = mc.committer_info(spark, path)
    assert info.problem("unsupported-store") is not None
    assert not info.ok
    assert {entry["method"] for entry in stores.control().log()} <= {"HEAD", "GET"}
