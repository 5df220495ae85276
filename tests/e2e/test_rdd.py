# SPDX-License-Identifier: Apache-2.0
"""RDD writers, which know nothing of Spark SQL's commit protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyspark
import pytest
import stores
from places import Place
from py4j.protocol import Py4JJavaError
from pyspark import RDD
from pyspark.sql import SparkSession

import manifest_committer as mc

TEXT = "org.apache.hadoop.io.Text"
OLD_FORMAT = "org.apache.hadoop.mapred.TextOutputFormat"
NEW_FORMAT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"

PAIRS = [(f"k{i}", str(i)) for i in range(10)]


def dataset(rdd: RDD[Any], path: str) -> None:
    rdd.saveAsNewAPIHadoopDataset(
        {
            "mapreduce.job.outputformat.class": NEW_FORMAT,
            "mapreduce.job.output.key.class": TEXT,
            "mapreduce.job.output.value.class": TEXT,
            "mapreduce.output.fileoutputformat.outputdir": path,
        }
    )


WRITERS: dict[str, Callable[[RDD[Any], str], None]] = {
    "text": lambda rdd, path: rdd.map("\t".join).saveAsTextFile(path),
    "pickle": lambda rdd, path: rdd.saveAsPickleFile(path),
    "sequence": lambda rdd, path: rdd.saveAsSequenceFile(path),
    "mapred": lambda rdd, path: rdd.saveAsHadoopFile(path, OLD_FORMAT, TEXT, TEXT),
    "mapreduce": lambda rdd, path: rdd.saveAsNewAPIHadoopFile(path, NEW_FORMAT, TEXT, TEXT),
    "dataset": dataset,
}
READERS: dict[str, Callable[[SparkSession, str], RDD[Any]]] = {
    "pickle": lambda spark, path: spark.sparkContext.pickleFile(path),
    "sequence": lambda spark, path: spark.sparkContext.sequenceFile(path),
}


def lines(spark: SparkSession, path: str) -> RDD[Any]:
    return spark.sparkContext.textFile(path).map(lambda line: tuple(line.split("\t")))


@pytest.mark.lines
@pytest.mark.classic(because="a Connect session has no RDDs")
@pytest.mark.parametrize("method", WRITERS)
def test_rdd_writers_have_their_own_protocol(
    spark: SparkSession, place: Place, method: str
) -> None:
    path = place / "output"
    is_s3 = stores.name() == stores.S3
    if is_s3 and method == "dataset" and not pyspark.__version__.startswith("3."):
        # Nothing is lost: the job fails. docs/using/s3.md says what to call instead.
        with pytest.raises(Py4JJavaError, match=r"No such file or directory.*__magic_job"):
            dataset(spark.sparkContext.parallelize(PAIRS, 2), path.as_uri())
        return
    WRITERS[method](spark.sparkContext.parallelize(PAIRS, 2), path.as_uri())
    assert sorted(READERS.get(method, lines)(spark, path.as_uri()).collect()) == PAIRS
    # Names without job and attempt are those that Hadoop's formats choose.
    kind = "part-r-" if method in ("mapreduce", "dataset") else "part-"
    hidden = {"_SUCCESS"}
    if kind == "part-r-" and stores.name() != stores.LOCAL:
        # There a factory is bound, which serves Hadoop's newer interface; on S3 Hadoop's own.
        ours = "io.manifestcommitter.ManifestCommitter"
        assert mc.read_report(spark, path).committer == ("magic" if is_s3 else ours)
        if not is_s3:
            hidden.add("_SUCCESS.files")
    else:
        with pytest.raises(mc.EmptyReportError, match="another committer"):
            mc.read_report(spark, path)
    names = {entry.name for entry in path.rglob("*") if not entry.name.endswith(".crc")}
    assert names == {f"{kind}00000", f"{kind}00001", *hidden}
