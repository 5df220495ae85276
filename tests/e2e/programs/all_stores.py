# SPDX-License-Identifier: Apache-2.0
"""One session, configured once, that writes to every store: a table and the store's root."""

import json
import sys

from sessions import builder, quiet

import manifest_committer

settings, tables, roots = (json.loads(argument) for argument in sys.argv[1:])
spark = quiet(builder(settings))
manifest_committer.configure_session(spark)

WRITE_TO = "mapreduce.manifest.committer.s3.write.to"
HADOOP = spark.sparkContext._jvm.org.apache.hadoop.util.VersionInfo.getVersion()
TEXT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"


def rows(first: int, count: int):
    return spark.range(first, first + count, 1, 2).selectExpr("id", "id % 4 AS p")


def committer(path: str) -> str:
    """Who wrote the report there; a marker without content is Hadoop's own."""
    jvm = spark.sparkContext._jvm
    report = jvm.org.apache.hadoop.fs.Path(path, "_SUCCESS")
    stream = report.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).open(report)
    text = jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
    return json.loads(text or "{}").get("committer", "")


def empty(root: str) -> None:
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(f"{root}/")
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    for entry in files.listStatus(path):
        files.delete(entry.getPath(), True)


def ids(frame) -> list[int]:
    return sorted(row.id for row in frame.collect())


by_store = {}
for store, path in tables.items():
    table, by_rdd = f"{path}/table", f"{path}/rdd"
    counts = []
    for write in (
        rows(0, 8).write.mode("overwrite"),
        rows(8, 8).write.mode("append"),
        rows(100, 4)
        .where("p < 2")
        .write.option("partitionOverwriteMode", "dynamic")
        .mode("overwrite"),
    ):
        write.partitionBy("p").parquet(table)
        counts.append(manifest_committer.read_report(spark, table).files)
    spark.sparkContext.parallelize([("a", 1), ("b", 2)], 2).saveAsNewAPIHadoopFile(by_rdd, TEXT)
    found = spark.read.parquet(table).select("id", "p").collect()
    by_store[store] = {
        "rows": sorted(tuple(row) for row in found),
        "files": counts,
        "rdd": committer(by_rdd),
    }

# Spark itself cannot overwrite a root: it asks for the name of its last directory.
at_root = {}
for store, root in roots.items():
    # Where S3A, which calls what it uploads s3a, is bound to another scheme.
    magic = store == "s3" and not HADOOP.startswith("3.3.")
    spark.conf.set(WRITE_TO, "magic" if magic else "disk")
    empty(root)
    rows(0, 8).write.mode("append").parquet(root)
    spark.sql(f"CREATE TABLE flat USING parquet LOCATION '{root}'")
    spark.sql("INSERT INTO flat SELECT id, id % 4 AS p FROM range(8, 12)")
    flat = ids(spark.table("flat"))
    spark.sql("DROP TABLE flat")

    empty(root)
    rows(0, 8).write.mode("append").partitionBy("p").parquet(root)
    spark.sql(
        f"CREATE TABLE parts (id LONG, p LONG) USING parquet PARTITIONED BY (p) LOCATION '{root}'"
    )
    spark.sql("INSERT INTO parts SELECT id, id % 4 AS p FROM range(8, 16)")
    spark.sql("DROP TABLE parts")
    dynamic = rows(100, 4).where("p < 2").write.option("partitionOverwriteMode", "dynamic")
    # Spark looks at it first, here and to read it, which hadoop-aws 3.3 refuses without the slash.
    refuses = store.startswith("s3") and HADOOP.startswith("3.3.")
    seen = f"{root}/" if refuses else root
    dynamic.mode("overwrite").partitionBy("p").parquet(seen)
    reports = [manifest_committer.read_report(spark, root + end) for end in ("", "/", "/..")]
    at_root[store] = {
        "flat": flat,
        "parts": ids(spark.read.parquet(seen)),
        "reports": sorted({(report.job_id, report.files) for report in reports}),
        "recovered": len(manifest_committer.recover(spark, root)),
        "cleaned": len(manifest_committer.clean(spark, root)),
        "served": manifest_committer.committer_info(spark, root).ok,
    }
spark.stop()
print(json.dumps({"tables": by_store, "roots": at_root}))
