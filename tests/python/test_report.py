# SPDX-License-Identifier: Apache-2.0
"""Reports and file lists, from literal JSON."""

import base64
import copy
import dataclasses
import gzip
import json
import pickle
import re
import types
from pathlib import Path

import pytest

import manifest_committer as mc
from manifest_committer import _jvm
from manifest_committer.report import _REQUESTS, _read_file_list, _read_report, parse_report
from manifest_committer.session import PROTOCOL_CLASS, PROTOCOL_KEY

REPORT = """{
  "name": "org.apache.hadoop.fs.s3a.commit.files.SuccessData/1",
  "timestamp": 1767323045678,
  "success": true,
  "date": "2026-01-02T03:04:05.678Z",
  "hostname": "driver-1",
  "committer": "io.manifestcommitter.spark.ManifestCommitProtocol",
  "jobId": "4a5c9b7e-job",
  "jobIdSource": "spark.sql.sources.writeJobUUID",
  "diagnostics": {"principal": "alice"},
  "filenames": ["file:/data/t/p=1/a.parquet", "file:/data/t/p=2/b.parquet"],
  "iostatistics": {
    "counters": {
      "committer_files_committed": 1234,
      "committer_bytes_committed": 5678901,
      "committer_tasks_completed": 17
    },
    "gauges": {"stage.job_commit.heap.memory": 99},
    "minimums": {"committer_task_file_count.min": 1},
    "maximums": {"committer_task_file_count.max": 80},
    "meanstatistics": {"committer_commit_job.mean": {"samples": 1, "sum": 2500}}
  },
  "state": "committed",
  "stage": "committer_commit_job",
  "some_new_field": [1, 2]
}"""
PATH = "file:/data/t/_SUCCESS"
MANIFEST = Path(__file__).resolve().parents[2] / "java/src/main/java/io/manifestcommitter/manifest"
LIST = [
    {"jobId": "4a5c9b7e-job", "table": "file:/data/t", "files": 2},
    {"path": "p=1/a b%20ü.parquet", "size": 10},
    {"path": "abfs://c@a/else/b.parquet", "size": 0, "etag": "0x8D"},
]


def report(**changes):
    """The report with some fields changed; a field that is None is left out."""
    fields = {**json.loads(REPORT), **changes}
    return json.dumps({k: v for k, v in fields.items() if v is not None}).encode()


def test_kinds_of_requests_are_those_of_the_jar():
    recorder = (MANIFEST / "StatisticsRecorder.java").read_text("utf-8")
    (listed,) = re.findall(r"REQUESTS =\s+List\.of\((.*?)\);", recorder, re.DOTALL)
    names = (MANIFEST / "StatisticNames.java").read_text("utf-8")
    constants = dict(re.findall(r'String (\w+) =\s+"(\w+)";', names))
    constant = (name.strip().removeprefix("StatisticNames.") for name in listed.split(","))
    assert tuple(constants[name] for name in constant) == _REQUESTS


def list_of(lines):
    """The content of a file list."""
    return gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode())


class FakeStore:
    """A session that reads from a dict; a value of None is a directory."""

    def __init__(self, files, protocol=PROTOCOL_CLASS, problem=None, chunk=7):
        self.files = files
        self.protocol = protocol
        self.problem = problem
        self.chunk = chunk

    def setting(self, key):
        assert key == PROTOCOL_KEY
        return self.protocol

    def protocol_problem(self, _):
        return self.problem

    def find(self, path):
        if path not in self.files:
            return None
        content = self.files[path]
        return _jvm.RemoteFile(path, content is None, len(content or b""))

    def chunks(self, path):
        content = self.files[path]
        for start in range(0, len(content), self.chunk):
            yield content[start : start + self.chunk]


class FakeConnect:
    """A Connect session whose server reads from a dict, as `FakeStore` does."""

    def __init__(self, files, protocol=PROTOCOL_CLASS):
        self.files = files
        self.protocol = protocol
        self.conf = self

    def get(self, key, _):
        assert key == PROTOCOL_KEY
        return self.protocol

    def sql(self, query):
        asked = re.fullmatch(
            r"SELECT java_method\('io\.manifestcommitter\.cli\.OnServer', 'call', "
            r"'(find|read)', '(.*)'\) FROM VALUES \(0\)",
            query,
        )
        given = json.loads(re.sub(r"\\(.)", r"\1", asked[2]))
        answer = getattr(self, asked[1])(**given)
        return types.SimpleNamespace(collect=lambda: [[json.dumps({"value": answer})]])

    def find(self, path, **_):
        if path not in self.files:
            return None
        content = self.files[path]
        return {"path": path, "isDirectory": content is None, "length": len(content or b"")}

    def read(self, path, offset, length, **_):
        return base64.b64encode(self.files[path][offset : offset + length]).decode()


@pytest.fixture(params=["classic", "connect"])
def store_of(request, monkeypatch):
    """Makes a session that has these files; each test reads by both kinds."""
    if request.param == "classic":
        return FakeStore
    monkeypatch.setattr(_jvm, "_CHUNK", 7)
    return lambda *args, **kwargs: _jvm.ConnectSession(FakeConnect(*args, **kwargs))


def test_every_field():
    parsed = parse_report(REPORT.encode(), PATH)
    assert parsed == mc.SuccessReport(
        path=PATH,
        job_id="4a5c9b7e-job",
        job_id_source="spark.sql.sources.writeJobUUID",
        committer="io.manifestcommitter.spark.ManifestCommitProtocol",
        hostname="driver-1",
        timestamp=1767323045678,
        date="2026-01-02T03:04:05.678Z",
        success=True,
        state="committed",
        stage="committer_commit_job",
        description="",
        files=1234,
        bytes=5678901,
        statistics=mc.Statistics(
            counters={
                "committer_files_committed": 1234,
                "committer_bytes_committed": 5678901,
                "committer_tasks_completed": 17,
            },
            gauges={"stage.job_commit.heap.memory": 99},
            minimums={"committer_task_file_count.min": 1},
            maximums={"committer_task_file_count.max": 80},
            means={"committer_commit_job.mean": mc.Mean(1, 2500)},
        ),
        diagnostics={"principal": "alice"},
        filenames=("file:/data/t/p=1/a.parquet", "file:/data/t/p=2/b.parquet"),
    )
    assert parsed.table == "file:/data/t"
    assert (mc.Mean(4, 10).mean, mc.Mean(0, 0).mean) == (2.5, 0)


def test_a_report_is_a_value():
    parsed = parse_report(REPORT.encode(), PATH)
    with pytest.raises(dataclasses.FrozenInstanceError):
        parsed.files = 0
    with pytest.raises(TypeError):
        parsed.statistics.counters["x"] = 1
    assert pickle.loads(pickle.dumps(parsed)) == parsed
    assert copy.deepcopy(parsed) == parsed
    assert hash(parsed) == hash(parse_report(REPORT.encode(), PATH))
    assert dataclasses.asdict(parsed)["statistics"]["counters"]["committer_tasks_completed"] == 17


def test_what_a_committer_may_leave_out():
    parsed = parse_report(report(iostatistics=None, hostname=None, diagnostics=None), PATH)
    assert (parsed.files, parsed.bytes, parsed.hostname) == (2, 0, "")
    assert dict(parsed.diagnostics) == {}
    assert parse_report(report(iostatistics={}, filenames=[]), PATH).files == 0


def test_str():
    assert str(parse_report(REPORT.encode(), PATH)) == (
        "Job 4a5c9b7e-job: committed\n"
        "  table        file:/data/t\n"
        "  files        1,234\n"
        "  bytes        5,678,901 (5.4 MiB)\n"
        "  tasks        17\n"
        "  commit time  2.50 s\n"
        "  finished     2026-01-02 03:04:05 UTC on driver-1\n"
        "  committer    io.manifestcommitter.spark.ManifestCommitProtocol"
    )


def test_a_summary_is_short_and_shows_more_on_demand():
    """Also one that says all there is to say, with a cause of many lines."""
    counters = ("tasks_completed", "partitions_created", "partitions_replaced")
    told = {
        "write": "dynamic overwrite",
        "application.name": "nightly",
        "exception": "java.io.IOException: full\n\tat a\n\tat b\x1b[2J",
        "steps": json.dumps([{"name": "seal_output", "start": 1, "millis": 2345}]),
        "partitions": json.dumps(
            [{"path": "p=\x1b[2J", "outcome": "appended to", "files": 3, "bytes": 4096}]
        ),
    }
    statistics = {
        "counters": {
            **{f"committer_{name}": 2 for name in counters},
            "op_rename": 1200,
            "op_get_file_status": 7,
            "store_io_throttled": 3,
        },
        "meanstatistics": {"committer_commit_job.mean": {"samples": 1, "sum": 185_000}},
    }
    failed = parse_report(
        report(success=False, stage="job_stage_plan", diagnostics=told, iostatistics=statistics),
        PATH,
    )
    summary = str(failed).splitlines()
    assert len(summary) == 15
    assert summary[-1] == "  cause        java.io.IOException: full"
    assert "  partitions   2 created, 2 replaced" in summary
    assert "  commit time  3 min 5 s" in summary
    assert "  requests     1,207" in summary
    steps = failed.text(steps=True)
    assert "  seal output  1 ms   2.35 s\n" in steps
    assert "  rename           1,200" in steps
    assert failed.text(partitions=True).endswith("  p=\\x1b[2J     appended to  3      4.0 KiB")
    everything = failed.text(steps=True, partitions=True)
    assert everything.startswith(str(failed))
    bare = parse_report(report(), PATH).text(steps=True, partitions=True)
    assert "No step is in this report." in bare
    assert "No partition is in this report." in bare
    assert "seal output" in everything
    assert "appended to" in everything


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0"), (1023, "1,023"), (1024, "1,024 (1.0 KiB)"), (3 * 2**50, f"{3 * 2**50:,} (3.0 PiB)")],
)
def test_str_of_sizes(size, shown):
    counters = {"committer_bytes_committed": size}
    parsed = parse_report(report(iostatistics={"counters": counters}), PATH)
    assert ("bytes", shown) in parsed.rows()


def test_str_of_a_failed_job():
    failed = parse_report(
        report(success=False, diagnostics={"exception": "java.io.IOException: full"}),
        "file:/reports/summary-4a5c9b7e-job.json",
    )
    text = str(failed)
    assert text.startswith("Job 4a5c9b7e-job: failed\n")
    assert "summary-4a5c9b7e-job.json" in text
    assert "java.io.IOException: full" in text
    assert failed.table is None


def test_html_is_escaped():
    page = parse_report(report(jobId="<b>&", hostname="<script>"), PATH)._repr_html_()
    assert "&lt;b&gt;&amp;" in page
    assert "<script>" not in page
    assert "1,234" in page


def test_steps_and_partitions_are_json():
    step = {"name": "plan", "start": 1, "millis": 2}
    partition = {"path": "p=1", "outcome": "appended to", "files": 3, "bytes": 4}
    told = {"steps": json.dumps([step]), "partitions": json.dumps([partition])}
    parsed = parse_report(report(diagnostics=told), PATH)
    assert parsed.steps == (mc.Step("plan", 1, 2),)
    assert parsed.partitions == (mc.PartitionTotal("p=1", "appended to", 3, 4),)
    prose = parse_report(report(diagnostics={"steps": "plan 1+2", "partitions": "7"}), PATH)
    assert (prose.steps, prose.partitions) == ((), ())
    for damaged in ([1], [{**step, "start": "1"}], [{"name": "plan"}]):
        parsed = parse_report(report(diagnostics={"steps": json.dumps(damaged)}), PATH)
        with pytest.raises(mc.InvalidReportError, match="_SUCCESS, steps"):
            assert parsed.steps


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"PAR1", "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        (REPORT.encode()[:-20], "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not an object"),
        (b"{}", "'name' is ''"),
        (report(name="other/1"), "'other/1'"),
        (report(name=3), "'name' is 3"),
        (report(timestamp="now"), "'timestamp' is 'now'"),
        (report(timestamp=10**17), "not a time"),
        (report(success="yes"), "'success' is 'yes'"),
        (report(filenames="a"), "'filenames' is not a list"),
        (report(filenames=[1]), "'filenames' is not a list"),
        (report(iostatistics=[]), "'iostatistics'"),
        (report(iostatistics={"counters": {"x": "1"}}), "'x' is '1'"),
        (report(iostatistics={"counters": {"x": True}}), "'x' is True"),
        (report(iostatistics={"meanstatistics": {"x": 1}}), "'x'"),
        (report(diagnostics={"x": 1}), "'x' is 1"),
    ],
)
def test_what_is_no_report(content, cause):
    with pytest.raises(mc.InvalidReportError) as caught:
        parse_report(content, PATH)
    assert PATH in str(caught.value)
    assert cause in str(caught.value)


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("file:/data/t", PATH),
        (PATH, PATH),
        ("gs://bucket/", "gs://bucket/_SUCCESS"),
        ("file:/reports/summary-1.json", "file:/reports/summary-1.json"),
    ],
)
def test_read_by_table_or_by_file(store_of, path, file):
    store = store_of({path: None, file: REPORT.encode()})
    assert _read_report(store, path) == parse_report(REPORT.encode(), file)


def test_nothing_there(store_of):
    with pytest.raises(mc.ReportNotFoundError, match="nothing at file:/no"):
        _read_report(store_of({}), "file:/no")


def test_no_marker(store_of):
    empty = {"file:/data/t": None}
    with pytest.raises(mc.ReportNotFoundError) as caught:
        _read_report(store_of(empty), "file:/data/t")
    for part in ("file:/data/t has no _SUCCESS", "no job has finished", "marksuccessfuljobs"):
        assert part in str(caught.value)
    assert "This session" not in str(caught.value)
    with pytest.raises(mc.ReportNotFoundError, match=r"is a\.Typo, not .*configure_session"):
        _read_report(store_of(empty, protocol="a.Typo"), "file:/data/t")


def test_no_marker_and_a_protocol_that_cannot_be_loaded():
    store = FakeStore({"file:/data/t": None}, problem="the class is missing")
    with pytest.raises(mc.ReportNotFoundError, match=r"the class is missing.*configure_session"):
        _read_report(store, "file:/data/t")


def test_a_report_that_goes_while_it_is_read():
    class Committing(FakeStore):
        def chunks(self, path):
            self.files = {"abfs://c@a/t": None}
            raise mc.StorageError("read", path, "FileNotFoundException")
            yield

    session = Committing({"abfs://c@a/t": None, "abfs://c@a/t/_SUCCESS": REPORT.encode()})
    with pytest.raises(mc.ReportNotFoundError, match="another job commits"):
        _read_report(session, "abfs://c@a/t")


def test_an_empty_marker(store_of):
    store = store_of({"file:/data/t": None, PATH: b""}, protocol="spark.Own")
    with pytest.raises(mc.EmptyReportError, match=r"another committer.*spark\.Own") as caught:
        _read_report(store, "file:/data/t")
    assert "configure_session" in str(caught.value)


@pytest.fixture
def read_list(store_of):
    """Reads a list of files with this content."""

    def read(content, **changes):
        store = store_of({f"{PATH}.files": content})
        return list(_read_file_list(store, parse_report(report(**changes), PATH)))

    return read


def test_the_complete_list(read_list):
    assert read_list(list_of(LIST)) == [
        ("p=1/a b%20ü.parquet", 10, None),
        ("abfs://c@a/else/b.parquet", 0, "0x8D"),
    ]


def test_an_empty_list(read_list):
    assert read_list(list_of([{**LIST[0], "files": 0}])) == []


def test_a_long_list_in_chunks(read_list):
    lines = [{**LIST[0], "files": 5000}]
    lines += [{"path": f"p={n}/f-{n}", "size": n} for n in range(5000)]
    files = read_list(list_of(lines))
    assert len(files) == 5000
    assert files[-1] == ("p=4999/f-4999", 4999, None)


def test_the_list_of_another_job(read_list):
    with pytest.raises(mc.FileListError, match="another job has committed") as caught:
        read_list(list_of(LIST), jobId="older-job")
    for part in ("4a5c9b7e-job", "older-job", f"{PATH}.files"):
        assert part in str(caught.value)


@pytest.mark.parametrize(("files", "named"), [(1, "more"), (3, "2")])
def test_a_list_with_a_wrong_count(read_list, files, named):
    with pytest.raises(mc.FileListError, match=f"should name {files} files and names {named}"):
        read_list(list_of([{**LIST[0], "files": files}, *LIST[1:]]))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip",
        list_of(LIST)[:-9],
        list_of(LIST)[:40] + b"\0\0\0" + list_of(LIST)[43:],
        gzip.compress(b""),
        gzip.compress(b"no json\n"),
        list_of(["a"]),
        list_of([{"files": 2}]),
        list_of([LIST[0], {"path": "a"}, LIST[2]]),
        list_of([LIST[0], {"path": 1, "size": 1}, LIST[2]]),
        list_of([LIST[0], {"path": "a", "size": 1, "etag": 5}, LIST[2]]),
    ],
)
def test_a_damaged_list(read_list, content):
    with pytest.raises(mc.FileListError, match=r"file:/data/t/_SUCCESS\.files.*damaged"):
        read_list(content)


@pytest.mark.parametrize(
    ("report", "list_file"),
    [(PATH, f"{PATH}.files"), ("file:/r/summary-1.json", "file:/r/_summary-1.json.files")],
)
def test_the_list_is_beside_its_report_and_hidden(store_of, report, list_file):
    parsed = parse_report(REPORT.encode(), report)
    found = list(_read_file_list(store_of({list_file: list_of(LIST)}), parsed))
    assert [file.path for file in found] == [file["path"] for file in LIST[1:]]
    with pytest.raises(mc.FileListError, match="does not exist: the job failed") as caught:
        _read_file_list(store_of({}), parsed)
    assert list_file in str(caught.value)
    assert "names 2 of 1234 files" in str(caught.value)
