# SPDX-License-Identifier: Apache-2.0
"""What a job committed goes on to a catalog and into manifests; the session and Spark are fakes."""

import gzip
import json
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
from test_report import FakeStore, list_of, report

import manifest_committer as mc
from manifest_committer import _jvm
from manifest_committer._listing import place, values
from manifest_committer.report import parse_report

TABLE = "file:/data/t"
FILES = {"p=1/q=a/1.parquet": 10, "p=1/q=a/2.parquet": 20, "p=2/q=b%2F'/3.parquet": 30}


class FakeSpark:
    """Answers what is asked of a catalog, and keeps its settings."""

    def __init__(self, described=(), partitions=()):
        self.described = list(described)
        self.partitions = list(partitions)
        self.statements = []
        self.settings = {
            "spark.sql.addPartitionInBatch.size": "100",
            "spark.sql.parser.escapedStringLiterals": "true",
        }
        self.conf = self

    def get(self, key):
        return self.settings[key]

    def set(self, key, value):
        self.settings[key] = value

    def sql(self, statement):
        if statement.startswith("DESCRIBE EXTENDED "):
            rows = self.described
        elif statement.startswith("SHOW PARTITIONS "):
            rows = [(name,) for name in self.partitions]
        else:
            rows = []
            self.statements.append((statement, dict(self.settings)))
        return types.SimpleNamespace(collect=lambda: rows, toLocalIterator=lambda: iter(rows))


def described(columns=(("p", "int"), ("q", "string")), location=TABLE, **details):
    """As Spark's `DESCRIBE EXTENDED` has it; a detail that is None is left out."""
    rows = [("v", "bigint", None), *((name, kind, None) for name, kind in columns)]
    if columns:
        rows += [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
        rows += [(name, kind, None) for name, kind in columns]
    told = {
        "Type": "EXTERNAL",
        "Provider": "parquet",
        "Location": location,
        "Partition Provider": "Catalog",
        **{name.replace("_", " "): value for name, value in details.items()},
    }
    rows += [("", "", ""), ("# Detailed Table Information", "", "")]
    return rows + [(name, value, "") for name, value in told.items() if value is not None]


def listed(files=None, table=TABLE):
    """The content of a complete list."""
    files = FILES if files is None else files
    lines = [{"path": path, "size": size} for path, size in files.items()]
    return list_of([{"jobId": "4a5c9b7e-job", "table": table, "files": len(files)}, *lines])


class Store(FakeStore):
    """Also writes."""

    def __init__(self, files):
        super().__init__(files, chunk=1 << 20)

    def put(self, local, path):
        self.files[path] = Path(local).read_bytes()

    def files_below(self, path):
        return [file.removeprefix(f"{path}/") for file in self.files if file.startswith(path)]

    def remove(self, path):
        del self.files[path]


@pytest.fixture
def passed(monkeypatch):
    """Makes the report of a job, and the session that reads its list."""

    def make(files=None, write="append", table=TABLE, **changes):
        store = Store({f"{table}/_SUCCESS.files": listed(files, table)})
        monkeypatch.setattr(_jvm, "open_session", lambda _: store)
        changes.setdefault("diagnostics", {"write": write})
        return parse_report(report(**changes), f"{table}/_SUCCESS"), store

    return make


def added(spark):
    return [statement for statement, _ in spark.statements]


# The catalog


def test_partitions_are_added_as_their_directories_are(passed):
    job, _ = passed()
    spark = FakeSpark(described(), ["p=2/q=z"])
    assert job.add_partitions(spark, "db.t") == 2
    assert added(spark) == [
        "ALTER TABLE db.t ADD IF NOT EXISTS PARTITION (`p` = '1', `q` = 'a') "
        "LOCATION 'file:/data/t/p=1/q=a' PARTITION (`p` = '2', `q` = 'b/\\'') "
        "LOCATION 'file:/data/t/p=2/q=b%2F\\''"
    ]
    during = spark.statements[0][1]
    assert during["spark.sql.parser.escapedStringLiterals"] == "false"
    assert spark.settings["spark.sql.parser.escapedStringLiterals"] == "true"


def test_what_the_catalog_has_stays(passed):
    job, _ = passed({"p=01/q=__HIVE_DEFAULT_PARTITION__/1": 1, "p=-3/q=$%7Bx}/2": 1})
    both = ["p=1/q=__HIVE_DEFAULT_PARTITION__", "p=-3/q=$%7Bx}"]
    spark = FakeSpark(described(), both)
    assert (job.add_partitions(spark, "t"), added(spark)) == (0, [])
    spark = FakeSpark(described())
    assert job.add_partitions(spark, "t") == 2
    assert "PARTITION (`p` = '01', `q` = null) LOCATION 'file:/data/t/p=01/" in added(spark)[0]
    assert "`q` = '\\u0024{x}') LOCATION 'file:/data/t/p=-3/q=\\u0024%7Bx}'" in added(spark)[0]


@pytest.mark.parametrize(("partitions", "calls"), [(1000, 1), (1001, 2), (0, 0)])
def test_a_call_for_a_thousand_partitions(passed, partitions, calls):
    job, _ = passed({f"p={n}/q=a/f": 1 for n in range(partitions)})
    spark = FakeSpark(described())
    assert job.add_partitions(spark, "t") == partitions
    assert len(spark.statements) == calls
    for statement, settings in spark.statements:
        assert statement.count("LOCATION") <= 1000
        assert settings["spark.sql.addPartitionInBatch.size"] == "1000"
    assert spark.settings["spark.sql.addPartitionInBatch.size"] == "100"


def test_settings_come_back_after_a_failure(passed):
    job, _ = passed()
    spark = FakeSpark(described())
    before = dict(spark.settings)
    answer = spark.sql

    def sql(statement):
        if statement.startswith("ALTER"):
            raise RuntimeError("the metastore is down")
        return answer(statement)

    spark.sql = sql
    with pytest.raises(RuntimeError, match="metastore is down"):
        job.add_partitions(spark, "t")
    assert spark.settings == before


def test_files_in_other_locations_are_known_to_the_catalog(passed):
    job, _ = passed({"abfs://c@a/else/b%20c.parquet": 1})
    spark = FakeSpark(described())
    assert (job.add_partitions(spark, "t"), added(spark)) == (0, [])
    assert list(job.paths(spark)) == ["abfs://c@a/else/b c.parquet"]


NOT = described(columns=())


@pytest.mark.parametrize(
    ("rows", "cause"),
    [
        (described(Provider="delta"), "table of Delta.*insert into the table"),
        (described(Provider="iceberg"), "table of Iceberg.*report.to_iceberg"),
        (described(Type="VIEW"), "is a view.*Name the table"),
        ([("p", "int", None)], "is a view.*Name the table"),
        (NOT, "not partitioned.*REFRESH TABLE t"),
        (described(location="file:/data/other"), "lies at file:/data/other.*wrote to file:/data/t"),
        (described(Partition_Provider=None), "does not keep.*MSCK REPAIR TABLE t"),
        (described(columns=[("q", "string"), ("p", "int")]), r"\(p, q\).*\(q, p\)"),
        (described(columns=[("p", "int")]), r"\(p, q\).*partitioned by \(p\)"),
    ],
)
def test_tables_that_are_refused(passed, rows, cause):
    job, _ = passed()
    spark = FakeSpark(rows)
    with pytest.raises(mc.PassingOnError, match=f"(?s){cause}"):
        job.add_partitions(spark, "t")
    assert added(spark) == []


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        ({"p=1/q=a/1": 1, "top": 1}, r"top is in a directory of the columns \(\)"),
        ({"p=1/x/1": 1}, "'x', which is not named column=value"),
        ({"p=1/q=a/1": 1, "p=01/q=a/1": 1}, "p=1/q=a and p=01/q=a, which are one partition"),
    ],
)
def test_directories_that_are_refused(passed, files, cause):
    job, _ = passed(files)
    spark = FakeSpark(described())
    with pytest.raises(mc.PassingOnError, match=cause):
        job.add_partitions(spark, "t")
    assert added(spark) == []


def test_two_names_of_a_place(passed):
    for one, other in (
        ("file:///data/t/", "/data/t"),
        ("s3a://b/t", "s3://b/t"),
        ("abfss://c@a/t", "abfs://c@a/t/"),
    ):
        assert place(one) == place(other)
    assert place("s3://b/t") != place("gs://b/t")


def test_a_location_without_its_store_is_looked_up(passed):
    job, store = passed(table="hdfs://nn:8020/t")
    store.files["/t"] = None
    found = store.find
    qualified = _jvm.RemoteFile("hdfs://nn:8020/t", True, 0)
    store.find = lambda path: qualified if path == "/t" else found(path)
    spark = FakeSpark(described(location="/t"))
    assert job.add_partitions(spark, "t") == 2


def test_values_of_directories():
    assert values("", "x") == ()
    assert values("a%3Db=1%2F2/é=__HIVE_DEFAULT_PARTITION__", "x") == (("a=b", "1/2"), ("é", None))
    assert values("p=a=b/q=", "x") == (("p", "a=b"), ("q", ""))


# Jobs of which nothing is visible


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"success": False}, "failed"),
        ({"success": False, "state": "rolled_back"}, "rolled back"),
        ({"state": "held"}, "held"),
        ({"state": "skipped"}, "skipped"),
    ],
)
def test_nothing_is_passed_on_of_a_job_that_did_not_commit(passed, tmp_path, changes, state):
    job, _ = passed(**changes)
    spark = FakeSpark(described())
    for pass_on in (
        lambda: job.add_partitions(spark, "t"),
        lambda: job.to_iceberg(spark, None),
        lambda: job.write_manifest(spark, f"file:{tmp_path}/m", format="symlink"),
        lambda: job.paths(spark),
    ):
        with pytest.raises(mc.PassingOnError, match=f"ended as {state}.*nothing to pass on"):
            pass_on()
    assert (added(spark), list(tmp_path.iterdir())) == ([], [])


# Manifests


def test_bigquery(passed):
    job, store = passed(table="gs://b/t")
    assert job.write_manifest(None, "gs://b/m/list", format="bigquery") == 3
    assert store.files["gs://b/m/list"].decode() == (
        "gs://b/t/p=1/q=a/1.parquet\ngs://b/t/p=1/q=a/2.parquet\ngs://b/t/p=2/q=b%2F'/3.parquet\n"
    )


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_redshift(passed, scheme):
    job, store = passed(table=f"{scheme}://b/t")
    assert job.write_manifest(None, "s3a://b/m", format="redshift") == 3
    entries = json.loads(store.files["s3a://b/m"])["entries"]
    assert entries[2] == {
        "url": "s3://b/t/p=2/q=b%2F'/3.parquet",
        "mandatory": True,
        "meta": {"content_length": 30},
    }
    assert [entry["meta"]["content_length"] for entry in entries] == [10, 20, 30]


@pytest.mark.parametrize("form", ["bigquery", "redshift"])
def test_stores_and_jobs_that_a_format_is_not_for(passed, form):
    job, store = passed(table="abfs://c@a/t")
    with pytest.raises(mc.PassingOnError, match=r"store of abfs://.*Write the table there"):
        job.write_manifest(None, "abfs://c@a/m", format=form)
    assert "abfs://c@a/m" not in store.files
    job, store = passed({})
    with pytest.raises(mc.PassingOnError, match="committed no files"):
        job.write_manifest(None, "abfs://c@a/m", format=form)
    assert "abfs://c@a/m" not in store.files
    job, store = passed({"p=1/a\nb": 1}, table="gs://b/t")
    if form == "bigquery":
        with pytest.raises(mc.PassingOnError, match="line break"):
            job.write_manifest(None, "gs://b/m", format=form)
        assert "gs://b/m" not in store.files


def test_another_format(passed):
    with pytest.raises(ValueError, match="'csv'; it can be 'bigquery', 'redshift', 'symlink'"):
        passed()[0].write_manifest(None, "gs://b/m", format="csv")


@pytest.mark.parametrize("form", ["bigquery", "redshift", "symlink"])
def test_an_overwrite_of_the_table_would_remove_its_manifests(passed, form):
    job, store = passed(table="s3a://b/t")
    with pytest.raises(mc.PassingOnError, match=r"is in the table.*Write manifests beside"):
        job.write_manifest(None, "s3://b/t/_links", format=form)
    assert list(store.files) == ["s3a://b/t/_SUCCESS.files"]


def symlinks(store, root="s3a://b/links"):
    below = {f: c for f, c in store.files.items() if f.startswith(f"{root}/")}
    return {f.removeprefix(f"{root}/"): c.decode().splitlines() for f, c in below.items()}


def test_symlinks_of_an_overwrite_are_all_there_are(passed):
    job, store = passed(table="s3a://b/t", write="overwrite")
    store.files["s3a://b/links/p=9/q=z/manifest"] = b"s3://b/t/p=9/q=z/gone\n"
    store.files["s3a://b/links/p=1/q=a/manifest"] = b"s3://b/t/p=1/q=a/gone\n"
    assert job.write_manifest(None, "s3a://b/links/", format="symlink") == 3
    assert symlinks(store) == {
        "p=1/q=a/manifest": ["s3://b/t/p=1/q=a/1.parquet", "s3://b/t/p=1/q=a/2.parquet"],
        "p=2/q=b%2F'/manifest": ["s3://b/t/p=2/q=b%2F'/3.parquet"],
    }


def test_symlinks_of_a_dynamic_overwrite_are_those_of_its_partitions(passed):
    job, store = passed({"p=1/f": 1}, table="s3a://b/t", write="dynamic overwrite")
    store.files["s3a://b/links/p=9/manifest"] = b"s3://b/t/p=9/kept\n"
    store.files["s3a://b/links/p=1/manifest"] = b"s3://b/t/p=1/gone\n"
    assert job.write_manifest(None, "s3a://b/links", format="symlink") == 1
    assert symlinks(store) == {
        "p=1/manifest": ["s3://b/t/p=1/f"],
        "p=9/manifest": ["s3://b/t/p=9/kept"],
    }


def test_symlinks_of_an_append_come_to_the_others(passed):
    job, store = passed({"p=1/f": 1}, table="s3a://b/t")
    with pytest.raises(mc.PassingOnError, match=r"appended to p=1.*would hide.*Begin with"):
        job.write_manifest(None, "s3a://b/links", format="symlink")
    assert symlinks(store) == {}
    store.files["s3a://b/links/p=1/manifest"] = b"s3://b/t/p=1/before\n"
    for _ in range(2):
        assert job.write_manifest(None, "s3a://b/links", format="symlink") == 1
        assert symlinks(store) == {"p=1/manifest": ["s3://b/t/p=1/before", "s3://b/t/p=1/f"]}


def test_symlinks_of_an_append_to_new_partitions(passed):
    counters = {"counters": {"committer_partitions_created": 1}}
    job, store = passed({"p=1/f": 1}, table="s3a://b/t", iostatistics=counters)
    assert job.write_manifest(None, "s3a://b/links", format="symlink") == 1
    assert symlinks(store) == {"p=1/manifest": ["s3://b/t/p=1/f"]}


@pytest.mark.parametrize(
    ("files", "write", "cause"),
    [
        ({"p=1/q=a/f": 1}, "overwrite of partitions", "does not name those that are gone"),
        ({}, "overwrite of partitions", "does not name those that are gone"),
        ({"p=1/f": 1}, "", "does not say whether it appended or replaced"),
        ({"file:/else/f": 1}, "overwrite", "lies outside of the table"),
    ],
)
def test_symlinks_that_cannot_be_right(passed, files, write, cause):
    job, store = passed(files, write)
    with pytest.raises(mc.PassingOnError, match=cause):
        job.write_manifest(None, "s3a://b/links", format="symlink")
    assert symlinks(store) == {}


def test_a_table_without_partitions_has_one_manifest_on_this_machine(passed, tmp_path):
    root = f"file:{tmp_path}/links"
    job, _ = passed({"f": 1, "g": 1}, "overwrite")
    assert job.write_manifest(None, root, format="symlink") == 2
    assert [str(f.relative_to(tmp_path)) for f in tmp_path.rglob("*") if f.is_file()] == [
        "links/manifest"
    ]
    assert (tmp_path / "links/manifest").read_text() == "file:/data/t/f\nfile:/data/t/g\n"
    job, _ = passed({}, "overwrite")
    assert job.write_manifest(None, root, format="symlink") == 0
    assert not (tmp_path / "links/manifest").exists()


def test_a_manifest_is_there_whole_or_not_at_all(passed, tmp_path):
    damaged = listed()[:-15]
    job, store = passed(table="gs://b/t")
    store.files["gs://b/t/_SUCCESS.files"] = damaged
    (tmp_path / "m").write_text("before")
    for path in ("gs://b/m", f"file:{tmp_path}/m"):
        with pytest.raises(mc.FileListError, match="damaged"):
            job.write_manifest(None, path, format="bigquery")
    assert "gs://b/m" not in store.files
    assert [file.read_text() for file in tmp_path.iterdir()] == ["before"]
    with pytest.raises(mc.StorageError, match="Could not write"):
        passed(table="gs://b/t")[0].write_manifest(
            None, f"file:{tmp_path}/m/inside", format="bigquery"
        )


def test_a_connect_session_writes_to_this_machine_only(monkeypatch, tmp_path):
    store = _jvm.ConnectSession(None)
    monkeypatch.setattr(_jvm, "open_session", lambda _: store)
    lists = FakeStore({"gs://b/t/_SUCCESS.files": listed(table="gs://b/t")})
    monkeypatch.setattr(store, "find", lists.find)
    monkeypatch.setattr(store, "chunks", lists.chunks)
    job = parse_report(report(diagnostics={"write": "append"}), "gs://b/t/_SUCCESS")
    with pytest.raises(mc.ConnectSessionError, match=r"cannot write gs://b/m.*file:/"):
        job.write_manifest(None, "gs://b/m", format="bigquery")
    assert job.write_manifest(None, f"file:{tmp_path}/m", format="bigquery") == 3


# A million files

MANY = 1_000_000
PARTITIONS = 2_000
LEAST_MIB, MOST_MIB = 10, 60
"""Of a process with 2,000 partitions, Python itself among it; the paths alone have 60 MiB."""


class Stream(FakeStore):
    """A session with the list of many files, made while it is read."""

    def __init__(self, many):
        super().__init__({})
        self.many = many
        self.reads = 0

    def find(self, path):
        return _jvm.RemoteFile(path, False, 1)

    def chunks(self, _):
        self.reads += 1
        yield list_of([{"jobId": "4a5c9b7e-job", "table": "gs://b/t", "files": self.many}])
        for partition in range(PARTITIONS):
            name = f'{{"path":"p={partition}/q=a/part-00000-4a5c9b7e-4a5c9b7e-c000-%05d.parquet"'
            lines = "".join(f'{name % n},"size":{n}}}\n' for n in range(self.many // PARTITIONS))
            yield gzip.compress(lines.encode(), compresslevel=1)


def pass_on_many(directory):
    """Runs in a process of its own; prints what it took."""
    streams = []

    def opened(many):
        streams.append(Stream(many))
        return streams[-1]

    job = parse_report(report(diagnostics={"write": "overwrite"}), "gs://b/t/_SUCCESS")
    _jvm.open_session = lambda _: opened(MANY)
    named = job.write_manifest(None, f"file:{directory}/m", format="bigquery")
    # Takes as much memory with fewer files in as many partitions.
    _jvm.open_session = lambda _: opened(MANY // 10)
    spark = FakeSpark(described(location="gs://b/t"))
    partitions = job.add_partitions(spark, "t")
    # Not by getrusage, which may tell of the process that this one was forked from.
    status = Path("/proc/self/status").read_text()
    most = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024
    lengths = [statement.count("LOCATION") for statement, _ in spark.statements]
    print(json.dumps([named, partitions, lengths, [stream.reads for stream in streams], most]))


def test_a_million_files_in_bounded_memory_and_one_pass(tmp_path):
    paths = [str(Path(__file__).parent), str(Path(mc.__file__).parents[1])]
    program = (
        f"import sys; sys.path[:0] = {paths!r}; "
        f"import test_passing_on as t; t.pass_on_many({str(tmp_path)!r})"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=300
    )
    named, partitions, lengths, reads, most = json.loads(ran.stdout)
    assert (named, reads) == (MANY, [1, 1])
    assert (partitions, lengths) == (PARTITIONS, [1000, 1000])
    assert LEAST_MIB < most < MOST_MIB
    with (tmp_path / "m").open() as file:
        assert sum(1 for line in file if re.match(r"gs://b/t/p=\d+/q=a/part-", line)) == MANY
