# SPDX-License-Identifier: Apache-2.0
"""Column functions that pass a row id on, and do harm when they meet one particular row.

Each is a closure with its imports inside: Spark's workers cannot import the test modules, so what
is sent to them must carry everything. (Without type hints: from those Spark would guess a pandas
UDF.)
"""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from places import LakefsStore, Place, S3Store, StorePath
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, concat, lit, udf

ROWS = 2000
TASKS = 4
# The last row of the last task: with two cores at least two other tasks are done by then, and with
# Python's batches of 100 rows most of this task's rows are in its file.
LAST = ROWS - 1
# Seconds until a wait for something that has to come is given up.
PATIENCE = 90


def numbered(spark: SparkSession, fault: Any) -> DataFrame:
    """Rows ``(value string, p int)`` in four tasks, each row through the fault."""
    ids = spark.range(0, ROWS, 1, TASKS).select(fault("id").alias("id"))
    return ids.select(value_of(col("id")), (col("id") % 3).cast("int").alias("p"))


def value_of(number: Column) -> Column:
    return concat(lit("new-"), number.cast("string")).alias("value")


def numbered_rows() -> Counter[tuple[str, int]]:
    """What ``numbered`` holds."""
    return Counter((f"new-{number}", number % 3) for number in range(ROWS))


def harmless() -> Any:
    return udf(lambda number: number, "bigint")


def failing(attempts: int = 1000) -> Any:
    """Fails the last task in its first ``attempts`` attempts, by default in all."""
    last = LAST

    def check(number):
        from pyspark import TaskContext

        if number == last and TaskContext.get().attemptNumber() < attempts:
            raise ValueError("failed on purpose")
        return number

    return udf(check, "bigint").asNondeterministic()


def killing_executor() -> Any:
    """Kills the executor that runs the first attempt of the last task, with all its processes."""
    last = LAST

    def parent(pid):
        # The second field of stat is a name in parentheses and may hold blanks.
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])

    def check(number):
        import os
        import signal

        from pyspark import TaskContext

        if number == last and TaskContext.get().attemptNumber() == 0:
            daemon = os.getppid()
            os.kill(parent(daemon), signal.SIGKILL)
            os._exit(1)
        return number

    return udf(check, "bigint").asNondeterministic()


def blocking(reached: Path) -> Any:
    """Makes the file ``reached`` from the last task, which then goes on until it is killed."""
    last, mark = LAST, str(reached)

    def check(number):
        if number == last:
            with open(mark, "w", encoding="utf-8"):
                pass
            deadline = time.monotonic() + PATIENCE
            while time.monotonic() < deadline:
                time.sleep(0.05)
            raise TimeoutError("nobody killed this task")
        return number

    return udf(check, "bigint").asNondeterministic()


def wait_until(condition: Callable[[], bool]) -> None:
    """Polls for what another process brings about."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("what the test waits for did not come")
        time.sleep(0.05)


def waiting_for_speculation(meeting: Path) -> Any:
    """The first attempt of the last task goes on only once a second one has come as far."""
    last, place = LAST, str(meeting)

    def check(number):
        import os

        from pyspark import TaskContext

        if number == last:
            attempt = TaskContext.get().attemptNumber()
            with open(os.path.join(place, f"attempt-{attempt}"), "w", encoding="utf-8"):
                pass
            deadline = time.monotonic() + PATIENCE
            while attempt == 0 and not os.path.exists(os.path.join(place, "attempt-1")):
                if time.monotonic() > deadline:
                    raise TimeoutError("no second attempt came")
                time.sleep(0.05)
        return number

    return udf(check, "bigint").asNondeterministic()


def losing_staged_files(*roots: Place) -> Any:
    """Deletes, from the last task, what the other tasks have staged below the roots.

    On S3 it aborts what they have uploaded. In lakeFS it deletes what they have linked.
    """
    if isinstance(roots[0], StorePath) and isinstance(roots[0].store, S3Store):
        return aborting_uploads(*roots)
    if isinstance(roots[0], StorePath) and isinstance(roots[0].store, LakefsStore):
        return on_branches(lambda job, path: job.unlink(path), *roots)

    def lose(path):
        if "part-00003-" not in path.name:
            path.unlink()

    return in_staging(lose, *roots)


def aborting_uploads(*roots: StorePath) -> Any:
    """Aborts, from the last task, what the other tasks have uploaded below the roots."""
    last, bucket = LAST, roots[0].store
    directories = tuple(f"{root.key}/" for root in roots)

    def check(number):
        if number == last:
            waiting = [u for u in bucket.uploads() if u[0].startswith(directories)]
            assert waiting, f"nothing was uploaded to {directories}"
            for key, upload in waiting:
                bucket.abort(key, upload)
        return number

    return udf(check, "bigint").asNondeterministic()


def copying_staged_files(*roots: Place) -> Any:
    """Leaves, from the last task, a second copy of each file that is staged below the roots."""

    if isinstance(roots[0], StorePath) and isinstance(roots[0].store, LakefsStore):
        return on_branches(lambda job, path: job.put(path.replace("part-", "part-9"), b""), *roots)

    def leave_copy(path):
        (path.parent / path.name.replace("part-", "part-9")).write_bytes(path.read_bytes())

    return in_staging(leave_copy, *roots)


def on_branches(harm: Any, *roots: StorePath) -> Any:
    """Does harm, from the last task, to every file below the roots on a branch of a job."""
    last, lake = LAST, roots[0].store
    directories = tuple(f"{root.key}/" for root in roots)

    def check(number):
        if number == last:
            branches = [b for b in lake.branches() if b.startswith("manifest-")]
            jobs = [lake.at(b) for b in branches if not b.endswith("-beat")]
            linked = [(job, path) for job in jobs for path in job.uncommitted(directories)]
            assert linked, f"nothing is linked below {directories}"
            for job, path in linked:
                harm(job, path)
        return number

    return udf(check, "bigint").asNondeterministic()


def in_staging(harm: Any, *roots: Place) -> Any:
    """Does harm, from the last task, to every staged file below the roots."""
    last = LAST

    def is_staged(path):
        return "/_manifest_" in str(path) and "/output/" in str(path).rpartition("/_manifest_")[2]

    def check(number):
        if number == last:
            staged = [path for root in roots for path in root.rglob("part-*") if is_staged(path)]
            assert staged, f"nothing is staged in {roots}"
            for path in staged:
                harm(path)
        return number

    return udf(check, "bigint").asNondeterministic()
