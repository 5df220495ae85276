# SPDX-License-Identifier: Apache-2.0
"""The commits of a driver, while they run and when they have ended; in notebooks as a bar."""

import html
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from manifest_committer import _jvm
from manifest_committer._figures import NAMES, count, duration, words

if TYPE_CHECKING:
    from manifest_committer._jvm import SparkSession

_LOG = logging.getLogger(__name__)
_EVERY = 0.5
_FIRST = 0.5


@dataclass(frozen=True)
class Step:
    """One step of a commit that has ended."""

    name: str
    """As in reports, such as ``rename_files``."""
    start: int
    """How many milliseconds after the commit began."""
    millis: int
    """How long it took."""


@dataclass(frozen=True)
class Commit:
    """Where one commit was when it was asked for."""

    kind: str
    """``setup``, ``commit`` or ``recovery``."""
    state: str
    """``running``, ``committed``, ``failed``, ``rolled_back``; ``skipped``: the table had the data
    of its identity already; or ``held``: its data, or that of its identity, waits to be
    published."""
    job_id: str
    table: str
    step: str
    """The step that it is in, or ended in, such as ``rename_files``."""
    started_at: int
    """When it began, in milliseconds since 1970 UTC."""
    millis: int
    """How long it has run, or ran."""
    done: int
    """How many files, or directories, of the step are done."""
    total: int
    """How many the step has; 0 where nothing is counted."""
    per_second: float
    seconds_left: int | None
    waiting_for: str | None
    """The job that it waits for; None if it waits for none."""
    waiting_why: str | None
    requests: int
    """How many requests it made to the store, with those of its clean-up."""
    report_requests: int | None
    """How many of them its report has; None before there is one."""
    report_millis: int | None
    """How long it took until its report, which says the same; None before there is one."""
    throttled: int
    """How many of them the store refused because there were too many."""
    counters: Mapping[str, int]
    """All that it counted, by the names in reports."""
    steps: tuple[Step, ...]
    _session: ClassVar[_jvm.Session | None] = None
    """Which can be asked to cancel it."""

    def __str__(self) -> str:
        """One line: step, counts, rate and time left."""
        name = self.kind.capitalize()
        if self.state != "running":
            return f"{name} of job {self.job_id}: {words(self.state)} in {self._figures()}"
        if self.waiting_for is not None:
            return f"{name}: waiting for job {self.waiting_for}, {self.waiting_why}"
        if self.kind == "setup":
            return "Setup: looking for unfinished jobs"
        text = f"{name}: {words(self.step)}"
        if self.total:
            text += f" ({self.done:,} / {self.total:,})"
        if self.total and self.seconds_left is not None:
            text += f" {self.per_second:,.0f}/s, {self.seconds_left:,} s left"
        return text

    def _figures(self) -> str:
        whole = f"{duration(self.millis)}, {count(self.requests)} {NAMES['requests']}"
        if self.report_millis is None or self.report_requests is None:
            return whole
        reported = f"{duration(self.report_millis)}, {count(self.report_requests)} requests"
        return f"{reported}; with its clean-up {whole}"

    def cancel(self) -> bool:
        """Cancel this commit, so that it publishes nothing.

        It stops before its next request to the store, is rolled back, and the write fails. See
        with `commits` when it is over. A recovery cannot be cancelled.

        Returns:
            True if it fails. False if it is over, or has come too far and goes to its end.

        Raises:
            ConnectSessionError: the server cannot be asked.
            ValueError: the value does not come from `commits`, or was pickled.
        """
        if self._session is None:
            raise ValueError("this value knows no session: ask manifest_committer.commits(spark)")
        return self._session.cancel(self.job_id)

    def __getstate__(self) -> dict[str, Any]:
        """Without the session, which is of this process."""
        return {name: value for name, value in vars(self).items() if name != "_session"}

    def _repr_html_(self) -> str:
        """A bar, for notebooks."""
        bar = f"<progress value='{self.done}' max='{self.total}'></progress> " if self.total else ""
        return f"<div style='color:inherit'>{bar}{html.escape(str(self))}</div>"


class _Commits(list[Commit]):
    """A list that a notebook shows as its commits do."""

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self) or "No commit has begun yet."


def commits(spark: "SparkSession") -> list[Commit]:
    """The commits of the session's driver that run, and the last 20 that ended.

    May be called from another thread than the one that writes. In a Connect session these are the
    commits of that session.

    Args:
        spark: a session, classic or Connect.

    Returns:
        The running ones, the first first, then those that ended, the last one last. Empty where
        no commit has begun yet.

    Raises:
        JarNotLoadedError: a Connect session does not have our jar.
        ConnectSessionError: a Connect server that cannot be asked.
    """
    session = _jvm.open_session(spark)
    known = _Commits(commits_of(session.commits()))
    for one in known:
        object.__setattr__(one, "_session", session)
    return known


def commits_of(answer: Iterable[Mapping[str, Any]]) -> list[Commit]:
    """What the Java side answers, as values."""
    return [
        Commit(
            kind=one["kind"],
            state=one["state"],
            job_id=one["jobId"],
            table=one["table"],
            step=one["step"].removeprefix("job_stage_"),
            started_at=one["startedAt"],
            millis=one["millis"],
            done=one["done"],
            total=one["total"],
            per_second=one["perSecond"],
            seconds_left=one["secondsLeft"],
            waiting_for=one["waitingFor"],
            waiting_why=one["waitingWhy"],
            requests=one["requests"],
            report_requests=one["reportedRequests"],
            report_millis=one["reportedMillis"],
            throttled=one["throttled"],
            counters=one["counters"],
            steps=tuple(Step(**step) for step in one["steps"]),
        )
        for one in answer
    ]


def show_in_notebook(spark: Any = None) -> bool:
    """Show commits as a bar in each cell that writes, beginning with the one that calls this.

    If a cell is interrupted, the commit that it waits for is cancelled.

    Only in a Jupyter kernel, by IPython's own display; a terminal has Spark's console bar. While
    no cell runs, and in cells shorter than half a second, nobody asks.

    Args:
        spark: the classic session whose commits to show; without it, those of the session that this
            process has by then, if it has one.

    Returns:
        Whether this is a notebook.
    """
    ipython: Any = sys.modules.get("IPython")  # A kernel has it; nobody else is to load it.
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or getattr(shell, "kernel", None) is None:
        return False
    old = getattr(shell, "_manifest_committer_bar", None)
    if old is not None:
        old.uninstall()
    driver = None if spark is None else _jvm.open_classic(spark)
    shell._manifest_committer_bar = _CellBar(shell, lambda: driver or _jvm.open_process())
    return True


_Driver = _jvm.ProcessJvm | _jvm.ClassicSession


class _CellBar:
    """Asks for the commits while a cell runs, and shows those that run."""

    def __init__(self, shell: Any, open_driver: Callable[[], _Driver | None]) -> None:
        self._events = shell.events
        self._open = open_driver
        self._thread_of_cell: Callable[[int | None], bool] = lambda _: False
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._events.register("pre_run_cell", self._begin)
        self._events.register("post_run_cell", self._end)
        self._begin()

    def uninstall(self) -> None:
        self._events.unregister("pre_run_cell", self._begin)
        self._events.unregister("post_run_cell", self._end)
        self._end()

    def _begin(self, *_: Any) -> None:
        self._end()
        self._over.clear()
        self._thread_of_cell = self._calling_thread()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="manifest-committer")
        self._thread.start()

    def _end(self, result: Any = None) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error = getattr(result, "error_in_exec", None)
        # In the cell that starts Spark, PySpark's own handler of the signal breaks the connection.
        if isinstance(error, KeyboardInterrupt) or _jvm.is_lost_call(error):
            self._cancel()

    def _calling_thread(self) -> Callable[[int | None], bool]:
        """Tells the JVM's thread that this cell's calls run in; all, if the cell starts the JVM."""
        try:
            driver = self._open()
            if driver is None:
                return lambda _: True
            caller = driver.calling_thread()
        except Exception:
            _LOG.debug("The JVM is gone", exc_info=True)
            caller = None
        return lambda thread: thread is not None and thread == caller

    def _cancel(self) -> None:
        """Cancels what the cell waited for: Spark goes on with it when the cell is interrupted."""
        driver = self._open()
        if driver is None:
            return
        for one in driver.commits():
            if one["state"] == "running" and self._thread_of_cell(one.get("thread")):
                if driver.cancel(one["jobId"]):
                    what = "is cancelled, and rolls back. Nothing of it will stay."
                else:
                    what = (
                        "can no longer be cancelled, and goes on. Look at "
                        "manifest_committer.commits(spark) before you run this cell again."
                    )
                kind, job_id, table = one["kind"], one["jobId"], one["table"]
                _LOG.warning("The %s of job %s into %s %s", kind, job_id, table, what)

    def _ask(self) -> list[Commit]:
        """Nothing where the session was stopped in this cell, or its JVM is gone."""
        try:
            driver = self._open()
            return [] if driver is None else commits_of(driver.commits())
        except Exception:
            _LOG.debug("The commits of this cell are not known", exc_info=True)
            return []

    def _watch(self) -> None:
        from IPython.display import HTML, display

        handle = None
        seen: set[str] = set()
        wait = _FIRST
        while not self._over.wait(wait):
            wait = _EVERY
            running = [one for one in self._ask() if one.state == "running"]
            seen.update(one.job_id for one in running)
            if running:
                shown = HTML("".join(one._repr_html_() for one in running))
                if handle is None:
                    handle = display(shown, display_id=True)
                else:
                    handle.update(shown)
        if handle is not None:
            handle.update(HTML(self._ends(seen)))

    def _ends(self, seen: set[str]) -> str:
        ended = (one for one in self._ask() if one.state != "running" and one.job_id in seen)
        return "".join(one._repr_html_() for one in ended)
