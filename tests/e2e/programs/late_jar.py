# SPDX-License-Identifier: Apache-2.0
"""A session that has run jobs, on executors of their own, before it is configured."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from sessions import LOCAL_CLUSTER, builder, quiet

import manifest_committer

path, warehouse = sys.argv[1:]
spark = quiet(builder({"spark.sql.warehouse.dir": warehouse}, LOCAL_CLUSTER))
spark.range(0, 10, 1, 2).write.parquet(path)

first = manifest_committer.configure_session(spark)
again = manifest_committer.configure_session(spark)
rows = spark.range(0, 100, 1, 4).selectExpr("id", "id % 3 AS p")
rows.write.mode("overwrite").partitionBy("p").parquet(path)
by_path = manifest_committer.read_report(spark, path)
spark.sql("CREATE TABLE late (id BIGINT, p BIGINT) USING parquet PARTITIONED BY (p)")
spark.sql(f"INSERT INTO late SELECT id, p FROM parquet.`{path}`")
by_sql = manifest_committer.read_report(spark, warehouse + "/late")
# Spark gives a jar that arrives late to the thread that added it.
with ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda _: rows.write.insertInto("late"), range(2)))
answer = {
    "first": str(first),
    "again": str(again),
    "rows": sorted(tuple(row) for row in spark.read.parquet(path).select("id", "p").collect()),
    "sql rows": sorted(tuple(row) for row in spark.table("late").collect()),
    "files": [by_path.files, by_sql.files],
}


def committed(session, name):
    """The files of a write, as our committer counted them; another one leaves no report."""
    rows.write.parquet(f"{path}-{name}")
    return manifest_committer.read_report(session, f"{path}-{name}").files


new = spark.newSession()
rows = new.range(0, 100, 1, 4)
answer["new session"] = committed(new, "new")
spark.sql("RESET")
rows = spark.range(0, 100, 1, 4)
answer["after RESET"] = committed(spark, "reset")
spark.stop()
print(json.dumps(answer))
