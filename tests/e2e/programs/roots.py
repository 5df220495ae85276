# SPDX-License-Identifier: Apache-2.0
"""One session that writes tables at the roots of stores, whose paths have no slash at the end."""

import json
import sys

from sessions import builder, quiet

import manifest_committer

settings, tables = (json.loads(argument) for argument in sys.argv[1:])
spark = quiet(builder(settings))
manifest_committer.configure_session(spark)
WRITE_TO = "mapreduce.manifest.committer.s3.write.to"
HADOOP = spark.sparkContext._jvm.org.apache.hadoop.util.VersionInfo.getVersion()


def rows(first: int, count: int):
    return spark.range(first, first + count, 1, 2).selectExpr("id", "id % 4 AS p")


def empty(root: str) -> None:
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(f"{root}/")
    files = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    for entry in files.listStatus(path):
        files.delete(entry.getPath(), True)


def ids(frame) -> list[int]:
    return sorted(row.id for row in frame.collect())


# Spark itself cannot overwrite a root: it asks for the name of its last directory.
answer = {}
for store, root in tables.items():
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
    answer[store] = {
        "flat": flat,
        "parts": ids(spark.read.parquet(seen)),
        "reports": sorted({(report.job_id, report.files) for report in reports}),
        "recovered": len(manifest_committer.recover(spark, root)),
        "cleaned": len(manifest_committer.clean(spark, root)),
        "served": manifest_committer.committer_info(spark, root).ok,
    }
spark.stop()
print(json.dumps(answer))
