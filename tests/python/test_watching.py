# SPDX-License-Identifier: Apache-2.0
"""Commits as values, and the bar of a notebook, from literal JSON."""

import dataclasses
import pickle
import sys
import time
import types

import pytest
from fakes import FakeBuilder

import manifest_committer as mc
from manifest_committer import watching
from manifest_committer.watching import Step, commits_of

COMMIT = {
    "kind": "commit",
    "state": "running",
    "jobId": "1b2c",
    "table": "abfs://c@a/t",
    "step": "job_stage_rename_files",
    "startedAt": 1767323045678,
    "millis": 12000,
    "done": 12040,
    "total": 100000,
    "perSecond": 8100.4,
    "secondsLeft": 11,
    "waitingFor": None,
    "waitingWhy": None,
    "requests": 12100,
    "reportedRequests": None,
    "reportedMillis": None,
    "throttled": 3,
    "counters": {"op_rename": 12040},
    "steps": [{"name": "plan", "start": 40, "millis": 12}],
}


def commit(**changes):
    (one,) = commits_of([{**COMMIT, **changes}])
    return one


def test_a_commit_is_a_line():
    assert str(commit()) == "Commit: rename files (12,040 / 100,000) 8,100/s, 11 s left"
    assert str(commit(total=0, secondsLeft=None)) == "Commit: rename files"
    assert str(commit(waitingFor="77", waitingWhy="which replaces p=3")) == (
        "Commit: waiting for job 77, which replaces p=3"
    )
    assert str(commit(kind="setup")) == "Setup: looking for unfinished jobs"
    assert str(commit(state="rolled_back", kind="recovery")) == (
        "Recovery of job 1b2c: rolled back in 12.00 s, 12,100 requests"
    )
    assert str(commit(state="committed", reportedMillis=250, reportedRequests=12050)) == (
        "Commit of job 1b2c: committed in 250 ms, 12,050 requests; "
        "with its clean-up 12.00 s, 12,100 requests"
    )


def test_a_commit_is_a_value():
    assert commit() == commit()
    assert commit().steps == (Step(name="plan", start=40, millis=12),)
    assert commit().step == "rename_files"


def test_a_commit_can_be_cancelled(monkeypatch):
    session = FakeSession([COMMIT])
    monkeypatch.setattr(watching._jvm, "open_session", lambda _: session)
    (one,) = mc.commits("spark")
    assert one.cancel()
    session.too_late = ("1b2c",)
    assert not one.cancel()
    assert session.cancelled == ["1b2c", "1b2c"]
    assert one == commit(), "the session is no part of the value"
    assert "_session" not in dataclasses.asdict(one)
    copied = pickle.loads(pickle.dumps(one))
    assert copied == one
    with pytest.raises(ValueError, match=r"ask manifest_committer\.commits"):
        copied.cancel()


def test_html_is_escaped():
    page = commit(waitingFor="<b>", waitingWhy="&")._repr_html_()
    assert "&lt;b&gt;, &amp;" in page
    assert "<progress value='12040' max='100000'>" in page


class FakeEvents:
    def __init__(self):
        self.registered = []

    def register(self, name, callback):
        self.registered.append((name, callback))

    def unregister(self, name, callback):
        self.registered.remove((name, callback))

    def trigger(self, name, *arguments):
        for event, callback in list(self.registered):
            if event == name:
                callback(*arguments)


class FakeShell:
    def __init__(self, kernel=None):
        self.events = FakeEvents()
        self.kernel = kernel


class FakeHandle:
    def __init__(self, pages):
        self.pages = pages

    def update(self, page):
        self.pages.append(page)


class FakeSession:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0
        self.thread = 7
        self.cancelled = []
        self.too_late = ()

    def calling_thread(self):
        return self.thread

    def cancel(self, job_id):
        self.cancelled.append(job_id)
        return job_id not in self.too_late

    def commits(self):
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def notebook(monkeypatch):
    """IPython with a kernel; returns the shell, and the pages that it displayed."""
    shell, pages = FakeShell(kernel=object()), []

    def display(page, display_id):
        assert display_id
        pages.append(page)
        return FakeHandle(pages)

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    displays = types.ModuleType("IPython.display")
    displays.HTML = str
    displays.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    monkeypatch.setattr(watching, "_FIRST", 0.01)
    monkeypatch.setattr(watching, "_EVERY", 0.01)
    return shell, pages


def wait(until):
    limit = time.monotonic() + 30
    while not until():
        assert time.monotonic() < limit
        time.sleep(0.005)


def run_cell(shell, until):
    shell.events.trigger("pre_run_cell")
    wait(until)
    shell.events.trigger("post_run_cell")


WRITE = ([COMMIT], [{**COMMIT, "done": 50000}], [{**COMMIT, "state": "committed"}])


def check_bar(pages):
    assert "12,040" in pages[0]
    assert "50,000" in pages[1]
    assert "committed in" in pages[-1]


def test_a_cell_that_writes_gets_a_bar(notebook, monkeypatch):
    shell, pages = notebook
    session = FakeSession([])
    monkeypatch.setattr(watching._jvm, "open_classic", lambda _: session)
    assert watching.show_in_notebook("spark")
    assert watching.show_in_notebook("spark"), "the second time in the place of the first"
    assert len(shell.events.registered) == 2
    shell.events.trigger("post_run_cell")
    assert pages == []

    session.answers, session.asked = list(WRITE), 0
    run_cell(shell, lambda: session.asked >= 3)
    check_bar(pages)

    assert shell._manifest_committer_bar._thread is None, "between cells nobody asks"


def test_the_cell_that_makes_the_session_gets_one_too(notebook, monkeypatch):
    """By the builder: there is no session yet, and it need not be told of."""
    shell, pages = notebook
    process = FakeSession(*WRITE)
    processes = [None, None]
    monkeypatch.setattr(
        watching._jvm, "open_process", lambda: processes.pop() if processes else process
    )
    assert watching.show_in_notebook()
    wait(lambda: process.asked >= 3)
    shell.events.trigger("post_run_cell")
    check_bar(pages)


def test_a_builder_shows_it(notebook, monkeypatch, jar):
    shell, _ = notebook
    monkeypatch.setattr(watching._jvm, "open_process", lambda: None)
    mc.configure_builder(FakeBuilder())
    assert [name for name, _ in shell.events.registered] == ["pre_run_cell", "post_run_cell"]
    shell.events.trigger("post_run_cell")


class Interrupted:
    """How a cell ended, as IPython tells it."""

    def __init__(self, error):
        self.error_in_exec = error


@pytest.fixture
def py4j(monkeypatch):
    """Its errors; PySpark's handler of the signal causes the first, where it is in force."""
    errors = types.ModuleType("py4j.protocol")
    errors.Py4JError = type("Py4JError", (Exception,), {})
    errors.Py4JJavaError = type("Py4JJavaError", (errors.Py4JError,), {})
    monkeypatch.setitem(sys.modules, "py4j.protocol", errors)
    return errors


RUNNING = [
    {**COMMIT, "jobId": "mine", "thread": 7},
    {**COMMIT, "jobId": "of a stream", "thread": 8},
    {**COMMIT, "jobId": "over", "thread": 7, "state": "committed"},
    {**COMMIT, "jobId": "of an older jar"},
]


def interrupted(shell, error=None):
    shell.events.trigger("pre_run_cell")
    shell.events.trigger("post_run_cell", Interrupted(error or KeyboardInterrupt()))


def test_an_interrupted_cell_cancels_what_it_waits_for(notebook, monkeypatch, caplog, py4j):
    shell, _ = notebook
    session = FakeSession(RUNNING)
    monkeypatch.setattr(watching._jvm, "open_classic", lambda _: session)
    watching.show_in_notebook("spark")
    interrupted(shell)
    assert session.cancelled == ["mine"]
    assert "commit of job mine into abfs://c@a/t is cancelled, and rolls back" in caplog.text
    session.too_late = ("mine",)
    interrupted(shell)
    assert "Look at manifest_committer.commits(spark) before" in caplog.text

    session.cancelled.clear()
    session.thread = None
    interrupted(shell)
    assert session.cancelled == [], "it is not known which is the cell's"
    session.thread = 7
    interrupted(shell, ValueError("of the cell"))
    shell.events.trigger("post_run_cell", Interrupted(None))
    assert session.cancelled == []
    interrupted(shell, py4j.Py4JJavaError("what Java threw"))
    assert session.cancelled == []
    interrupted(shell, py4j.Py4JError("An error occurred while calling o1.parquet"))
    assert session.cancelled == ["mine"]


def test_the_cell_that_starts_spark_cancels_all_it_began(notebook, monkeypatch, py4j):
    shell, _ = notebook
    process = FakeSession(RUNNING)
    monkeypatch.setattr(watching._jvm, "open_process", lambda: None)
    watching.show_in_notebook()
    monkeypatch.setattr(watching._jvm, "open_process", lambda: process)
    shell.events.trigger("post_run_cell", Interrupted(py4j.Py4JError("lost")))
    assert process.cancelled == ["mine", "of a stream", "of an older jar"]


def test_a_session_that_is_stopped_ends_the_bar(notebook, monkeypatch):
    shell, pages = notebook
    session = FakeSession(OSError("the JVM is gone"))
    monkeypatch.setattr(watching._jvm, "open_classic", lambda _: session)
    watching.show_in_notebook("spark")
    run_cell(shell, lambda: session.asked >= 1)
    assert pages == []


def test_elsewhere_there_is_no_bar(notebook, monkeypatch):
    shell, _ = notebook
    shell.kernel = None
    assert not watching.show_in_notebook("spark")
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert not watching.show_in_notebook("spark")
