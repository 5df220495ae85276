# SPDX-License-Identifier: Apache-2.0
"""What a job committed goes on, and what others then read is what Spark reads."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import faults
import pytest
import stores
from places import Place
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import array, col, concat, lit, when
from sessions import settings
from tables import Row

import manifest_committer as mc

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

from pages import REPOSITORY, Block, blocks

PAGE = REPOSITORY / "docs" / "using" / "passing-on.md"
COLUMNS = "value bigint, name string, items array<string>, p int, q string"
ODD = "a b%/'${x}é"
DYNAMIC = {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
REPORTS = "mapreduce.manifest.committer.summary.report.directory"


def frame(spark: SparkSession, start: int, end: int) -> DataFrame:
    """Rows in partitions of three numbers, with odd texts and without one."""
    return (
        spark.range(start, end, 1, 2)
        .withColumn("value", col("id"))
        .withColumn("name", concat(lit("é"), col("id")))
        .withColumn("items", array(col("id").cast("string")))
        .withColumn("p", (col("id") % 3).cast("int"))
        .withColumn("q", when(col("id") % 4 != 0, lit(ODD)))
        .drop("id")
    )


def write(rows: DataFrame, mode: str, path: str, **options: str) -> None:
    rows.write.mode(mode).options(**options).partitionBy("p", "q").parquet(path)


def counted(rows: Any) -> Counter[Row]:
    return Counter(
        (row["value"], row["name"], tuple(row["items"]), row["p"], row["q"]) for row in rows
    )


class Others:
    """An Iceberg table, a table of the catalog, and manifests, beside the directory of a table."""

    def __init__(self, spark: SparkSession, path: str, scratch: Path, name: str) -> None:
        from pyiceberg import types
        from pyiceberg.catalog.sql import SqlCatalog
        from pyiceberg.partitioning import PartitionField, PartitionSpec
        from pyiceberg.schema import Schema
        from pyiceberg.transforms import IdentityTransform

        self.spark = spark
        self.path = path
        self.name = name
        self.links = scratch / "links"
        uri = f"sqlite:///{scratch}/catalog.db"
        catalog = SqlCatalog("local", uri=uri, warehouse=f"file://{scratch}/iceberg")
        catalog.create_namespace("db")
        field = types.NestedField
        schema = Schema(
            field(1, "value", types.LongType()),
            field(2, "name", types.StringType()),
            field(3, "items", types.ListType(6, types.StringType())),
            field(4, "p", types.IntegerType()),
            field(5, "q", types.StringType()),
        )
        spec = PartitionSpec(
            PartitionField(4, 1000, IdentityTransform(), "p"),
            PartitionField(5, 1001, IdentityTransform(), "q"),
        )
        self.iceberg = catalog.create_table("db.t", schema, partition_spec=spec)
        spark.sql(
            f"CREATE TABLE {name} ({COLUMNS}) USING parquet PARTITIONED BY (p, q) LOCATION '{path}'"
        )

    def pass_on(self) -> tuple[int, int, int]:
        """How many partitions, files and lines were new."""
        report = mc.read_report(self.spark, self.path)
        return (
            report.add_partitions(self.spark, self.name),
            report.to_iceberg(self.spark, self.iceberg),
            report.write_manifest(self.spark, f"file:{self.links}", format="symlink"),
        )

    def check(self, rows: int) -> None:
        """All read what Spark reads of the directory."""
        import duckdb

        spark = counted(self.spark.read.schema(COLUMNS).parquet(self.path).collect())
        assert spark.total() == rows
        self.spark.catalog.refreshTable(self.name)
        assert counted(self.spark.table(self.name).collect()) == spark
        assert counted(self.iceberg.scan().to_arrow().to_pylist()) == spark
        some = self.iceberg.scan(row_filter="p = 1 AND q IS NOT NULL").to_arrow().to_pylist()
        assert counted(some) == Counter({r: n for r, n in spark.items() if r[3] == 1 and r[4]})
        lines = [line for file in self.links.rglob("manifest") for line in lines_of(file)]
        files = [line.removeprefix("file:") for line in lines]
        types = "{'p': INTEGER, 'q': VARCHAR}"
        read = duckdb.sql(
            f"SELECT * FROM read_parquet($files, hive_partitioning = true, hive_types = {types})",
            params={"files": files},
        )
        assert (
            counted(dict(zip(read.columns, row, strict=True)) for row in read.fetchall()) == spark
        )

    def snapshots(self) -> int:
        return len(self.iceberg.refresh().metadata.snapshots)


def lines_of(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


@pytest.mark.local_disk
def test_what_others_read_is_what_spark_reads(
    spark: SparkSession, place: Place, tmp_path: Path
) -> None:
    path = f"{place}/ta ble"
    others = Others(spark, path, tmp_path, "passed_on")
    try:
        write(frame(spark, 0, 20), "append", path)
        assert others.pass_on() == (6, 11, 11)
        others.check(20)
        assert others.pass_on() == (0, 0, 11), "a report that was passed on changes nothing"
        others.check(20)

        write(frame(spark, 100, 104), "append", path)
        assert others.pass_on() == (0, 4, 4)
        others.check(24)

        with settings(spark, DYNAMIC):
            write(frame(spark, 1000, 1003).where("p = 1"), "overwrite", path)
        assert others.pass_on() == (0, 1, 1)
        others.check(22)

        check_failed_job(others, tmp_path)

        write(frame(spark, 2000, 2004), "overwrite", path)
        assert others.pass_on() == (0, 4, 4)
        others.check(4)
        assert others.snapshots() == 4
        assert len(spark.sql(f"SHOW PARTITIONS {others.name}").collect()) == 6, "none was dropped"

        spark.sql(f"INSERT INTO {others.name} VALUES (1, 'x', array(), 9, 'new')")
        assert others.pass_on() == (0, 1, 1), "an insert has told the catalog itself"
        others.check(5)
    finally:
        spark.sql(f"DROP TABLE IF EXISTS {others.name}")


def check_failed_job(others: Others, scratch: Path) -> None:
    """Nothing of it is passed on: the table's report is that of the job before."""
    spark, reports = others.spark, scratch / "reports"
    before, snapshots = mc.read_report(spark, others.path), others.snapshots()
    broken = faults.numbered(spark, faults.failing()).selectExpr(
        "1L AS value", "value AS name", "array('') AS items", "77 AS p", "'' AS q"
    )
    with pytest.raises(Exception, match=r"failed on purpose|Task failed while writing"):
        write(broken, "append", others.path, **{REPORTS: str(reports)})
    assert mc.read_report(spark, others.path) == before
    assert others.pass_on()[:2] == (0, 0)
    assert others.snapshots() == snapshots
    assert not list(others.links.glob("p=77"))
    (file,) = reports.glob("*.json")
    failed = mc.read_report(spark, f"file:{file}")
    for pass_on in (
        lambda: failed.add_partitions(spark, others.name),
        lambda: failed.to_iceberg(spark, others.iceberg),
        lambda: failed.write_manifest(spark, f"file:{others.links}", format="symlink"),
    ):
        with pytest.raises(mc.PassingOnError, match="nothing to pass on"):
            pass_on()


@pytest.mark.core
@pytest.mark.classic(because="writes to the store by the driver's filesystem")
def test_on_the_store(spark: SparkSession, place: Place) -> None:
    """The catalog gets partitions of the store, which also has the manifests, whole each time."""
    path, name = place / "table", f"on_{stores.name()}"
    form = {"gs": "bigquery", "s3a": "redshift"}.get(stores.scheme(), "symlink")
    target = place / "links" / "manifest"
    spark.sql(
        "CREATE TABLE " + name + " (id bigint, p string) USING parquet PARTITIONED BY (p) "
        f"LOCATION '{path}'"
    )
    stores.settle()
    try:
        for job in range(2):
            rows = spark.range(3, numPartitions=1).withColumn("p", lit(f"a b%/{job}"))
            rows.write.mode("append").partitionBy("p").parquet(str(path))
            report = mc.read_report(spark, str(path))
            assert report.add_partitions(spark, name) == 1
            (file,) = report.paths(spark)
            to = place / "links" if form == "symlink" else target
            assert report.write_manifest(spark, str(to), format=form) == 1
            stores.settle()
            assert spark.table(name).count() == 3 * (job + 1)
            if form == "symlink":
                (told,) = (m.read_text() for m in to.rglob("manifest") if f"F{job}" in str(m))
            else:
                told = target.read_text()
            known = {"redshift": f'"url":"{file.replace("s3a:", "s3:")}"', "symlink": file}
            assert known.get(form, file).replace("s3a:", "s3:") in told
            left = [entry.name for entry in (place / "links").rglob("*") if entry.is_file()]
            assert {name for name in left if not name.endswith(".crc")} == {"manifest"}
    finally:
        spark.sql(f"DROP TABLE {name}")


def programs() -> list[Block]:
    return [block for block in blocks(PAGE) if block.language == "python"]


@pytest.mark.local_disk
@pytest.mark.once
def test_the_programs_of_the_page(spark: SparkSession, place: Place, tmp_path: Path) -> None:
    """As they stand there, one after another, and each leaves what the page says."""
    path = f"{place}/sales"
    spark.range(10).selectExpr("id AS amount", "id % 2 AS day").write.partitionBy("day").parquet(
        path
    )
    spark.sql(
        "CREATE TABLE sales (amount bigint, day bigint) USING parquet PARTITIONED BY (day) "
        f"LOCATION '{path}'"
    )
    names: dict[str, Any] = {"spark": spark, "path": path, "folder": str(tmp_path)}
    try:
        for block in programs():
            exec(compile(block.text, str(block), "exec"), names)
        assert spark.table("sales").count() == 10
    finally:
        spark.sql("DROP TABLE sales")
    assert names["table"].scan().to_arrow().num_rows == 10
    total = sum(range(10))
    assert names["pandas_rows"]["amount"].sum() == total
    assert names["polars_rows"]["amount"].sum() == total
    assert names["duckdb_rows"].sum("amount").fetchall() == [(total,)]
    for rows in (names["pandas_rows"], names["polars_rows"]):
        assert set(rows["day"]) == {0, 1}
