# SPDX-License-Identifier: Apache-2.0
"""Waiting for a commit, on a table that changes while a clock of the test's own goes on."""

import json
import types
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import pytest

import manifest_committer as mc
from manifest_committer import _jvm, cli, waiting
from manifest_committer.errors import PathNotFoundError, StorageError
from manifest_committer.waiting import Awaited, wait_in

TABLE = "gs://b/t"
MARKER = f"{TABLE}/_SUCCESS"
NOW = 1_769_947_200_000
"""2026-02-01T12:00:00Z"""


def report(job="j-1", at=NOW, commit_id=None, **changes):
    content = {
        "name": "org.apache.hadoop.fs.s3a.commit.files.SuccessData/1",
        "jobId": job,
        "timestamp": at,
        "success": True,
        "diagnostics": {} if commit_id is None else {"commit.id": commit_id},
        **changes,
    }
    return json.dumps(content).encode()


class FakeTable:
    """A table and the requests to it. What happens at a time is done while somebody sleeps."""

    def __init__(self):
        self.files = {}
        self.ids = None
        """What the table remembers; None if there is no table."""
        self.staged = []
        self.asked = []
        self.seconds = 0.0
        self.events = []

    def at(self, seconds, event):
        self.events.append((seconds, event))

    def put(self, content):
        self.files[MARKER] = content

    def monotonic(self):
        return self.seconds

    def sleep(self, seconds):
        self.asked.append(f"sleep {seconds:g}")
        self.seconds += seconds
        for event in [e for e in self.events if e[0] <= self.seconds]:
            self.events.remove(event)
            event[1]()

    def find(self, path):
        self.asked.append(f"find {path.removeprefix(TABLE + '/')}")
        if path not in self.files:
            return None
        content = self.files[path]
        if isinstance(content, Exception):
            raise content
        return _jvm.RemoteFile(path, content is None, len(content or b""))

    def chunks(self, path):
        self.asked.append("read")
        yield self.files[path]

    def commit_ids(self, path, commit_id, *, forget):
        assert (path, forget) == (TABLE, False)
        self.asked.append("ids")
        if self.ids is None:
            raise PathNotFoundError("look for commits in", path)
        return [one for one in self.ids if one["id"] == commit_id]

    def clean(self, path, *, older_than, dry_run, discard_unfinished, force):
        assert (path, older_than, dry_run) == (TABLE, "0ms", True)
        assert (discard_unfinished, force) == (False, False)
        self.asked.append("staged")
        return self.staged


@pytest.fixture
def table(monkeypatch):
    fake = FakeTable()
    monkeypatch.setattr(waiting, "time", fake)
    return fake


def wait(table, limit=60.0, interval=10.0, path=TABLE, **awaited):
    return wait_in(table, path, Awaited(**awaited), limit, interval)


def test_a_report_that_comes_later_is_found_with_a_request_a_look(table):
    table.at(15, lambda: table.put(report()))
    found = wait(table, job="j-1")
    assert (found.job_id, found.at, found.report.job_id) == ("j-1", NOW, "j-1")
    look = ["find _SUCCESS"]
    assert table.asked == [*look, "sleep 10", *look, "sleep 10", *look, "read"]


def test_the_last_look_is_at_the_limit(table):
    table.at(25, lambda: table.put(report()))
    assert wait(table, limit=25, job="j-1").job_id == "j-1"
    assert [line for line in table.asked if "sleep" in line] == ["sleep 10", "sleep 10", "sleep 5"]


@pytest.mark.parametrize("limit", [0, 20])
def test_after_the_limit_it_is_said_what_is_there_instead(table, limit):
    table.put(report("j-0", at=NOW))
    with pytest.raises(mc.WaitTimeoutError) as caught:
        wait(table, limit=limit, after=NOW)
    assert isinstance(caught.value, TimeoutError)
    assert str(caught.value) == (
        "There is no report made after 2026-02-01 12:00:00 UTC in gs://b/t: the last one, of job "
        "j-0, was made at 2026-02-01 12:00:00 UTC. Look whether its job runs, or failed, and wait "
        "again."
    )
    assert table.seconds == limit


@pytest.mark.parametrize(
    ("awaited", "arrives"),
    [
        ({"after": NOW - 1}, True),
        ({"after": NOW}, False),
        ({"job": "j-1"}, True),
        ({"job": "j-2"}, False),
        ({"job": "j-1", "after": NOW}, False),
        ({"job": "j-1", "after": NOW - 1}, True),
        ({"commit_id": "day"}, True),
        ({"commit_id": "day", "job": "j-2"}, False),
        ({"commit_id": "day", "after": NOW}, False),
        ({"commit_id": "other"}, False),
    ],
)
def test_all_that_is_given_has_to_fit(table, awaited, arrives):
    table.put(report(commit_id="day"))
    if arrives:
        assert wait(table, 0, **awaited).report is not None
        assert table.asked == ["find _SUCCESS", "read"]
    else:
        with pytest.raises(mc.WaitTimeoutError):
            wait(table, 0, **awaited)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "is a directory"),
        (b"", "another committer commits there"),
        (b"{", "it is not JSON"),
        (b"[1]", "not the report of a committer"),
        (report(success=False), "says that its job failed"),
    ],
)
def test_what_is_no_report_is_that_of_an_earlier_job(table, content, why):
    """As it is in each table that comes from another committer."""
    table.files[MARKER] = content
    with pytest.raises(mc.WaitTimeoutError, match=why):
        wait(table, 0, job="j-1")
    table.at(5, lambda: table.put(report()))
    assert wait(table, job="j-1").job_id == "j-1"


def test_a_store_that_fails_is_not_waited_for(table):
    table.files[MARKER] = StorageError("look up", MARKER, "403")
    with pytest.raises(StorageError, match="403"):
        wait(table, job="j-1")
    assert table.asked == ["find _SUCCESS"]


def test_a_report_that_is_replaced_while_it_is_read_is_read_again(table):
    table.put(report("j-0"))

    def replaced(path):
        table.put(report("j-1"))
        table.chunks = lambda path: iter([table.files[path]])
        raise StorageError("read", path, "it is gone")

    table.chunks = replaced
    assert wait(table, 0, job="j-1").job_id == "j-1"
    assert table.asked == ["find _SUCCESS"] * 2


def test_a_report_that_goes_while_it_is_read_is_waited_for(table):
    table.put(report("j-0"))
    table.at(10, lambda: table.put(report("j-1")))
    read = table.chunks

    def gone(path):
        del table.files[path]
        table.chunks = read
        raise StorageError("read", path, "it is gone")

    table.chunks = gone
    assert wait(table, job="j-1").job_id == "j-1"


def test_a_report_that_nobody_may_read_fails(table):
    table.put(report())

    def refused(path):
        raise StorageError("read", path, "403")

    table.chunks = refused
    with pytest.raises(StorageError, match="403"):
        wait(table, job="j-1")
    assert (table.asked, table.seconds) == (["find _SUCCESS"] * 3, 0)


ENTRY = {"id": "day", "jobId": "j-1", "application": None, "at": NOW}


def test_an_identity_outlives_the_report_of_its_job(table):
    """A later job has replaced it; or the first run committed, and its repetition was skipped."""
    table.put(report("j-2", at=NOW + 1))
    table.ids = [ENTRY]
    found = wait(table, 0, commit_id="day")
    assert (found.job_id, found.at, found.report) == ("j-1", NOW, None)
    look = ["find _SUCCESS", "read"]
    assert table.asked == [*look, "ids", "find _manifest_j-1", *look]
    with pytest.raises(mc.WaitTimeoutError, match="the last one is of job j-1"):
        wait(table, 0, commit_id="day", job="j-2")


def test_a_report_that_comes_between_two_requests_is_handed_on(table):
    table.ids = [ENTRY]
    find = table.find

    def ends(path):
        found = find(path)
        table.put(report(commit_id="day", at=NOW + 63))
        return found

    table.find = ends
    found = wait(table, 0, commit_id="day")
    assert (found.job_id, found.at, found.report.timestamp) == ("j-1", NOW + 63, NOW + 63)
    assert table.asked == ["find _SUCCESS", "ids", "find _manifest_j-1", "find _SUCCESS", "read"]


def test_an_identity_without_a_table_is_waited_for(table):
    def commits():
        table.ids = [ENTRY]

    table.at(5, commits)
    assert wait(table, commit_id="day").job_id == "j-1"


@pytest.mark.parametrize("state", ["running", "unfinished"])
def test_an_identity_is_there_once_its_commit_has_ended(table, state):
    """The table remembers it from the point of no return on, while old data may still go."""
    table.ids = [ENTRY]
    table.files[f"{TABLE}/_manifest_j-1"] = None
    table.staged = [{"jobId": "j-0", "state": "abandoned"}, {"jobId": "j-1", "state": state}]
    with pytest.raises(mc.WaitTimeoutError, match="job j-1 has not ended its commit"):
        wait(table, 0, commit_id="day")
    table.at(5, lambda: table.staged.pop())
    assert wait(table, commit_id="day").job_id == "j-1"


def test_what_a_job_keeps_on_purpose_does_not_hold_it_up(table):
    """As by keep.replaced: its journal says that it has ended."""
    table.ids = [ENTRY]
    table.files[f"{TABLE}/_manifest_j-1"] = None
    table.staged = [{"jobId": "j-1", "state": "abandoned"}, {"jobId": "j-9", "state": "running"}]
    assert wait(table, 0, commit_id="day").job_id == "j-1"


@pytest.mark.parametrize(
    ("awaited", "message"),
    [
        ({}, "say which commit to wait for"),
        ({"job": ""}, "is empty"),
        ({"commit_id": "", "after": 1}, "is empty"),
    ],
)
def test_a_wait_that_any_old_report_would_end_is_refused(awaited, message):
    with pytest.raises(ValueError, match=message):
        Awaited(**awaited)


@pytest.mark.parametrize(("limit", "interval"), [(-1, 1), (1, 0), (1, -1)])
def test_times_that_would_not_end_are_refused(table, limit, interval):
    with pytest.raises(ValueError, match="is not negative"):
        wait(table, limit, interval, job="j-1")
    assert table.asked == []


def test_the_path_of_the_report_is_that_of_its_table(table):
    table.put(report())
    assert wait(table, 0, path=MARKER, job="j-1").job_id == "j-1"
    assert wait(table, 0, path=f"{TABLE}/", job="j-1").job_id == "j-1"


def test_the_function_takes_times_with_a_zone(table, monkeypatch):
    monkeypatch.setattr(_jvm, "open_session", lambda _: table)
    monkeypatch.setattr(_jvm, "open_ready", lambda _: table)
    table.put(report())
    zone = timezone(timedelta(hours=2))
    before = datetime(2026, 2, 1, 13, 59, 59, tzinfo=zone)
    assert mc.wait_for(None, TABLE, after=before, timeout=0).job_id == "j-1"
    assert mc.wait_for(None, TABLE, after=NOW - 1, timeout=0).timestamp == NOW
    with pytest.raises(mc.WaitTimeoutError):
        mc.wait_for(None, TABLE, after=before + timedelta(seconds=1), timeout=0)
    with pytest.raises(ValueError, match="has no zone"):
        mc.wait_for(None, TABLE, after=datetime(2026, 2, 1), timeout=0)
    table.put(report("j-2"))
    table.ids = [ENTRY]
    assert mc.wait_for(None, TABLE, commit_id="day", timeout=0) is None


@pytest.fixture
def command(table, jar, tmp_path, monkeypatch):
    """Runs the command on the fake table."""
    opened = []

    @contextmanager
    def own_jvm(java, jars, class_path, options):
        opened.append(options)
        if "-D" in options and options[options.index("-D") + 1] == "bad=1":
            raise _jvm.SettingError("bad is bad")
        yield table

    monkeypatch.setattr(_jvm, "own_jvm", own_jvm)
    monkeypatch.setattr(cli, "spark_jars_directory", lambda: tmp_path)
    monkeypatch.setattr(cli, "java_for", lambda _: tmp_path / "java")
    run = types.SimpleNamespace(opened=opened)
    run.main = lambda *arguments: cli.main(["wait", TABLE, *arguments])
    return run


def test_the_command_tells_what_came(command, table, capfd):
    table.put(report("j\x1b"))
    assert command.main("--job", "j\x1b", "--conf", "a=1") == 0
    assert capfd.readouterr().out == f"{TABLE}: job j\\x1b committed at 2026-02-01 12:00:00 UTC\n"
    assert command.opened == [["-D", "a=1", TABLE]]
    assert command.main("--job", "j\x1b", "--json") == 0
    assert json.loads(capfd.readouterr().out) == {"table": TABLE, "jobId": "j\x1b", "at": NOW}


def test_the_command_ends_with_3_and_tells_each_reason_once(command, table, capfd):
    table.at(60, lambda: table.put(report("j-0")))
    assert command.main("--job", "j-1", "--timeout", "2m", "--interval", "20s") == 3
    shown = capfd.readouterr()
    assert shown.out == ""
    assert [line.partition(": ")[2] for line in shown.err.splitlines()] == [
        "still waiting: there is no _SUCCESS",
        "still waiting: the last one is of job j-0",
        "There is no report of job j-1 in gs://b/t: the last one is of job j-0. Look whether its "
        "job runs, or failed, and wait again.",
    ]
    assert table.seconds == 120


def test_the_command_waits_an_hour_by_default(command, table):
    assert command.main("--job", "j-1") == 3
    assert table.seconds == waiting.LIMIT == 3600
    assert table.asked.count(f"sleep {waiting.INTERVAL:g}") == 120


def test_an_error_of_the_store_is_none_of_time(command, table, capfd):
    table.files[MARKER] = StorageError("look up", MARKER, "no such bucket")
    assert command.main("--job", "j-1") == 1
    assert "no such bucket" in capfd.readouterr().err
    assert table.seconds == 0


def test_an_interrupted_wait(command, table):
    def interrupt():
        raise KeyboardInterrupt

    table.at(1, interrupt)
    assert command.main("--job", "j-1") == 130


@pytest.mark.parametrize(
    ("time", "millis"),
    [
        ("2026-02-01T12:00:00Z", NOW),
        ("2026-02-01T14:00:00.5+02:00", NOW + 500),
        ("1769947200", NOW),
        ("1769947200.25", NOW + 250),
        ("1769947200123", NOW + 123),
    ],
)
def test_times_that_the_command_takes(time, millis):
    assert cli._zoned_time(time) == millis


def test_a_period_ends_now():
    ago = datetime.now(timezone.utc).timestamp() * 1000 - cli._zoned_time("2h")
    assert abs(ago - 7_200_000) < 60_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "say which commit: --commit-id, --job or --after"),
        ("--timeout 5m", "say which commit: --commit-id, --job or --after"),
        ("--after 2026-02-01T12:00:00", "'2026-02-01T12:00:00' has no zone"),
        ("--after 2026-02-01", "'2026-02-01' has no zone"),
        ("--after 17699472", "'17699472' "),
        ("--after soon", "'soon' is no time"),
        ("--after=", "'' is no time"),
        ("--job=", "argument --job: it is empty"),
        ("--commit-id=", "argument --commit-id: it is empty"),
        ("--job a --timeout 5", "'5' is no period such as 90s, 30m or 2h"),
        ("--job a --timeout -1s", "expected one argument"),
        ("--job a --interval 0s", "--interval is longer than nothing"),
        ("--job a --conf bad=1", "bad is bad"),
    ],
)
def test_wrong_usage_of_the_command(command, table, capfd, arguments, message):
    with pytest.raises(SystemExit, match="2"):
        command.main(*arguments.split())
    assert message in capfd.readouterr().err
    assert table.asked == []


def test_own_jvm_needs_py4j(tmp_path):
    with (
        pytest.raises(mc.SparkMissingError, match="py4j was not found"),
        _jvm.own_jvm(tmp_path / "java", tmp_path / "jars", "", []),
    ):
        pass
