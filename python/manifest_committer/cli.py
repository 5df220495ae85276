# SPDX-License-Identifier: Apache-2.0
"""The console script ``manifest-committer``.

Each command that looks at a store starts the Java main of that name in our jar; no Spark
session is needed.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from manifest_committer import _jvm
from manifest_committer._figures import moment
from manifest_committer._spark_home import java_for, spark_defaults, spark_jars_directory
from manifest_committer._version import __version__
from manifest_committer.errors import ManifestCommitterError, WaitTimeoutError
from manifest_committer.holding import held_text
from manifest_committer.info import info_text, printable
from manifest_committer.job_history import history_text
from manifest_committer.page import make_page
from manifest_committer.report import report_of
from manifest_committer.session import is_in_zip, jar_path, settings_files
from manifest_committer.waiting import Awaited, wait_in
from manifest_committer.whole import files_of

_ASK = "io.manifestcommitter.cli.Ask"
_FAILED = 1
_INFO = "io.manifestcommitter.info.CommitterInfo"
_PRINTER = "io.manifestcommitter.cli.ManifestPrinter"
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PERIOD = re.compile(r"(\d{1,9})(ms|s|m|h|d)")
_WRONG_USAGE = 2
_NOT_IN_TIME = 3
_EXIT_CODES = "Exit code: 0 no problem; 1 a problem, which the message names; 2 wrong usage."
_INTERRUPTED = 130
_PROGRAM = "manifest-committer"
_DOCUMENT = ("{", "[{", "[]")
_CALLED = "manifest.committer.called"
"""The property of the JVM by which our Java mains call themselves."""

_BASH = """\
_manifest_committer() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words="{commands}" options="--help --version"
  if [ "$COMP_CWORD" -gt 1 ]; then case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="" options="" ;;
  esac; fi
  case "$current" in -*) words="$options" ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _manifest_committer manifest-committer
"""
_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


@dataclass(frozen=True)
class _Command:
    """One command of the script."""

    name: str
    summary: str
    example: str
    """A line for a shell."""
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script.

    Args:
        arguments: the command line without the program's name; by default the process's own.

    Returns:
        The exit code: 0, 1 (not found, unreadable, something is wrong, or no Java to look with),
        2 (wrong usage), 3 (not in time).
    """
    parsed, unknown = _parser().parse_known_args(arguments)
    parser: argparse.ArgumentParser = parsed.parser
    if unknown:
        parser.error(f"there is no {unknown[0]} here{_meant(parser, unknown[0])}")
    try:
        command: _Command = parsed.command
        code = command.run(parsed)
        if code == _WRONG_USAGE:  # Of values that only our Java mains know to be wrong.
            parser.print_usage(sys.stderr)
        return code
    except ManifestCommitterError as error:
        _complain(parsed, error)
        return _FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # As in "history ... | head".
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_PROGRAM,
        allow_abbrev=False,
        description="Show what jobs of the manifest committer did, or would do; recover and clean.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"manifest-committer {__version__}")
    commands = parser.add_subparsers(metavar="command", required=True)
    for command in _COMMANDS:
        subparser = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.summary,
            epilog=f"Example:\n  {command.example}\n\n{_EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(subparser)
        subparser.set_defaults(command=command, parser=subparser)
    return parser


def _meant(parser: argparse.ArgumentParser, unknown: str) -> str:
    """A proposal instead of an option that does not exist; empty if none is close."""
    close = difflib.get_close_matches(unknown.partition("=")[0], _options(parser), 1)
    return f"; did you mean {close[0]}?" if close else ""


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Its long options."""
    return [name for a in parser._actions for name in a.option_strings if name.startswith("--")]


def _complain(parsed: argparse.Namespace, problem: object) -> None:
    """Say what went wrong in a command, as the Java mains do."""
    print(f"{_PROGRAM} {parsed.command.name}: {problem}", file=sys.stderr)


def _print_arguments(parser: argparse.ArgumentParser) -> None:
    _paths_and_json(
        parser,
        "path",
        "a table, a _SUCCESS file, a report file or a task manifest, on any filesystem",
    )
    for flag, text in (
        ("--steps", "of a report also the steps in time, and the requests by kind"),
        ("--partitions", "of a report also what became of partitions"),
        ("--all", "of a report every field, as it stands in the file"),
    ):
        parser.add_argument(flag, action="store_true", help=text)
    _missing_argument(parser)


def _print(parsed: argparse.Namespace) -> int:
    options = _flags(parsed, "json", "missing-ok")
    if parsed.json or parsed.all:
        return _run_java(_PRINTER, options, parsed)
    unreadable = 0
    with _java_stream(_PRINTER, ["--json-reports", *options], parsed) as java:
        for line in java.stdout or ():  # A list of files has a line for each.
            try:
                _show(_printed(line, parsed))
            except ManifestCommitterError as error:
                _complain(parsed, printable(str(error)))
                unreadable = _FAILED
    return max(unreadable, _exit_code(java))


def _printed(line: bytes, parsed: argparse.Namespace) -> str:
    """A line of the Java program, or the summary of the report that it is."""
    text = line.decode("utf-8").rstrip("\r\n")
    if not text.startswith('{"path":'):
        return text
    found = _document(text)
    report = report_of(found["content"], found["path"])
    return report.text(steps=parsed.steps, partitions=parsed.partitions)


def _info_arguments(parser: argparse.ArgumentParser) -> None:
    _paths_and_json(parser, "path", "a path that a job would write to; the command writes nothing")
    parser.add_argument("--verbose", action="store_true", help="classes, places and notes, too")


def _info(parsed: argparse.Namespace) -> int:
    if parsed.json:
        return _run_java(_INFO, ["--json"], parsed)
    ran = _java_process(_INFO, ["--json"], parsed, subprocess.PIPE)
    for found in _documents(ran):
        _show(info_text(found, verbose=parsed.verbose))
    return _exit_code(ran)


def _history_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="directory",
        help="a directory of reports (mapreduce.manifest.committer.summary.report.directory)",
    )
    parser.add_argument(
        "--since",
        type=_time,
        default=0,
        metavar="time",
        help="only jobs that ended after a time (2026-01-31, 2026-01-31T12:00:00Z), "
        "or within a period until now (36h, 7d)",
    )
    parser.add_argument(
        "--table",
        default="",
        metavar="text",
        help="only jobs whose table's path contains this text",
    )
    parser.add_argument("--failed", action="store_true", help="only jobs that did not succeed")
    _missing_argument(parser)
    _json_argument(parser)
    _java_arguments(parser)


def _time(text: str, zone: timezone | None = timezone.utc) -> int:
    """Milliseconds since 1970, of a time in a zone if it says none, or before now."""
    try:
        if _PERIOD.fullmatch(text):
            return int((datetime.now(timezone.utc).timestamp() - _seconds(text)) * 1000)
        time = datetime.fromisoformat(re.sub("Z$", "+00:00", text))
        time = time.replace(tzinfo=time.tzinfo or zone)
        if time.tzinfo is not None:
            return int(time.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"'{printable(text)}' is no time such as 2026-01-31, 2026-01-31T12:00:00Z, 36h or 7d"
        ) from None
    raise argparse.ArgumentTypeError(
        f"'{printable(text)}' has no zone: write 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00"
    )


def _zoned_time(text: str) -> int:
    """The same of a time that says its zone, or that needs none."""
    if re.fullmatch(r"\d{13}", text):  # As a report has it.
        return int(text)
    if re.fullmatch(r"\d{10}(\.\d+)?", text):  # As of `date +%s`.
        return int(float(text) * 1000)
    return _time(text, zone=None)


def _seconds(text: str) -> float:
    """How long a period is."""
    period = _PERIOD.fullmatch(text)
    if period is None:
        raise argparse.ArgumentTypeError(f"'{printable(text)}' is no period such as 90s, 30m or 2h")
    return int(period[1]) * _SECONDS[period[2]]


def _history(parsed: argparse.Namespace) -> int:
    answers, code = _ask(parsed, "history")
    for found in answers:
        jobs = [
            job
            for job in found["jobs"]
            if job["ended"] >= parsed.since
            and parsed.table in job["table"]
            and not (parsed.failed and job["success"])
        ]
        if parsed.json:
            for job in jobs:
                print(_jvm.encoded(job))
        else:
            _show(history_text(found["path"], jobs))
        for problem in found["problems"]:
            _complain(parsed, printable(problem))
            code = max(code, _FAILED)
    return code


def _report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs=1,
        metavar="path",
        help="a table, a _SUCCESS file, a report file, or a directory of reports",
    )
    parser.add_argument("--html", required=True, metavar="file", help="the HTML file to write")
    _java_arguments(parser)


def _report(parsed: argparse.Namespace) -> int:
    answers, code = _ask(parsed, "report")
    if code != 0:
        return code
    page = make_page(answers[0])
    try:
        # A report may hold half a surrogate pair, which UTF-8 cannot write.
        Path(parsed.html).write_text(page, "utf-8", errors="backslashreplace")
    except OSError as error:
        raise ManifestCommitterError(f"the page could not be written: {error}") from error
    return 0


def _recover_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="table", help="a table with jobs that died in their commit"
    )
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument(
        "--rollback",
        action="store_true",
        help="roll back jobs that died before their point of no return (the default)",
    )
    direction.add_argument(
        "--complete",
        action="store_true",
        help="complete those jobs instead of rolling them back",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="do not watch heartbeats first (45 s), and recover also a job that may be alive; use "
        "only if you know that it is dead",
    )
    _missing_argument(parser)
    _java_arguments(parser)


def _recover(parsed: argparse.Namespace) -> int:
    options = _flags(parsed, "rollback", "complete", "force", "missing-ok")
    return _run_java("io.manifestcommitter.cli.Recover", options, parsed)


def _clean_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="+", metavar="table", help="a table with staging directories of dead jobs"
    )
    parser.add_argument(
        "--older-than",
        default="24h",
        metavar="time",
        help="only if the job showed no sign of life for this long: 90s, 30m, 24h (default: 24h)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="list what would be removed, and remove nothing"
    )
    parser.add_argument(
        "--discard-unfinished",
        action="store_true",
        help="also remove directories of jobs that died in their commit; nothing can recover "
        "these jobs then",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="remove directories of any age, and do not watch heartbeats first (45 s); use only if "
        "you know that their jobs are dead",
    )
    parser.add_argument(
        "--uploads",
        action="store_true",
        help="on s3a, also abort multipart uploads below the table that are older than "
        "the time of --older-than",
    )
    _missing_argument(parser)
    _java_arguments(parser)


def _clean(parsed: argparse.Namespace) -> int:
    flags = _flags(parsed, "dry-run", "discard-unfinished", "force", "uploads", "missing-ok")
    options = ["--older-than", parsed.older_than, *flags]
    return _run_java("io.manifestcommitter.cli.Clean", options, parsed)


def _ids_arguments(parser: argparse.ArgumentParser) -> None:
    _paths_and_json(parser, "table", "a table that jobs write to under identities (commit.id)")
    parser.add_argument(
        "--id", default="", help="only this identity; code 1 if the table does not remember it"
    )
    parser.add_argument(
        "--forget",
        action="store_true",
        help="forget the identity of --id: a job that has it commits its data again",
    )
    _missing_argument(parser)


def _ids(parsed: argparse.Namespace) -> int:
    if parsed.forget and not parsed.id:
        parsed.parser.error("--forget needs --id")
    answers, code = _ask(parsed, "ids", commitId=parsed.id, forget=parsed.forget)
    for found in answers:
        lines = (f"{moment(one['at'])}  job {one['jobId']}  {one['id']}" for one in found)
        _tell(parsed, found, *lines)
        if parsed.id and not found:
            code = max(code, _FAILED)
    return code


def _held_arguments(parser: argparse.ArgumentParser) -> None:
    _paths_and_json(parser, "table", "a table that jobs write to with publish = hold")
    _missing_argument(parser)


def _held(parsed: argparse.Namespace) -> int:
    answers, code = _ask(parsed, "held", jobId="", end="")
    for jobs in answers:
        _tell(parsed, jobs, *map(held_text, jobs))
    return code


def _end_held_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs=1, metavar="table", help="the table")
    parser.add_argument("job", help="the job's id, as 'manifest-committer held' prints it")
    _json_argument(parser)
    _java_arguments(parser)


def _end_held(parsed: argparse.Namespace) -> int:
    end = parsed.command.name
    answers, code = _ask(parsed, "held", jobId=parsed.job, end=end)
    for (answer,) in answers:
        if answer["errors"]:
            _complain(parsed, "\n  ".join(map(printable, answer["errors"])))
            return _FAILED
        told = f"{end}ed"
        outcome = {"jobId": parsed.job, "outcome": told}
        _tell(parsed, outcome, f"{parsed.paths[0]}: job {parsed.job} is {told}")
    return code


def _wait_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs=1, metavar="table", help="a table that a job writes to; it may come later"
    )
    parser.add_argument(
        "--commit-id",
        type=_not_empty,
        metavar="id",
        help="a commit with this identity (mapreduce.manifest.committer.commit.id), also one of "
        "an earlier run",
    )
    parser.add_argument("--job", type=_not_empty, metavar="id", help="the commit of this job")
    parser.add_argument(
        "--after",
        type=_zoned_time,
        metavar="time",
        help="a report that was made after a time (2026-01-31T12:00:00Z, seconds since 1970), or "
        "within a period until now (2h), by the clock of the job's driver",
    )
    for flag, default, text in (
        ("--timeout", "1h", "how long to wait, then end with code 3; 0s looks once"),
        ("--interval", "30s", "from one look to the next"),
    ):
        parser.add_argument(
            flag,
            type=_seconds,
            default=default,
            metavar="period",
            help=f"{text} (default: {default})",
        )
    _json_argument(parser)
    _java_arguments(parser)


def _not_empty(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _wait(parsed: argparse.Namespace) -> int:
    (path,) = parsed.paths
    try:
        awaited = Awaited(parsed.after, parsed.job, parsed.commit_id)
    except ValueError:
        parsed.parser.error("say which commit: --commit-id, --job or --after")
    jars = spark_jars_directory()
    options = [*_settings(parsed), *_as_paths(parsed.paths)]
    shown = ""

    def tell(why: str) -> None:
        nonlocal shown
        if why != shown:  # Once, and not at each look.
            _complain(parsed, printable(f"still waiting: {why}"))
            shown = why

    if parsed.interval == 0:
        parsed.parser.error("--interval is longer than nothing")
    class_path = _class_path(parsed.class_path, jars)
    try:
        with _jvm.own_jvm(java_for(jars), jars, class_path, options) as store:
            found = wait_in(store, path, awaited, parsed.timeout, parsed.interval, tell)
    except _jvm.SettingError as error:
        parsed.parser.error(str(error))
    except WaitTimeoutError as error:
        _complain(parsed, printable(str(error)))
        return _NOT_IN_TIME
    answer = {"table": path, "jobId": found.job_id, "at": found.at}
    _tell(parsed, answer, f"{path}: job {found.job_id} committed at {moment(found.at)}")
    return 0


def _files_arguments(parser: argparse.ArgumentParser) -> None:
    _paths_and_json(parser, "table", "a table that jobs write to")
    _missing_argument(parser)


def _files(parsed: argparse.Namespace) -> int:
    answers, code = _ask(parsed, "files")
    for found in answers:
        for file in files_of(found):
            _tell(parsed, asdict(file), f"{file.size}  {file.path}")
    return code


def _verify_store_arguments(parser: argparse.ArgumentParser) -> None:
    _paths_and_json(
        parser,
        "directory",
        "a directory on abfs or gs; the command writes files below it, and removes them",
    )
    parser.add_argument("--verbose", action="store_true", help="also what the store did, for each")


def _verify_store(parsed: argparse.Namespace) -> int:
    options = _flags(parsed, "json", "verbose")
    return _run_java("io.manifestcommitter.cli.VerifyStore", options, parsed)


def _paths_and_json(parser: argparse.ArgumentParser, metavar: str, paths: str) -> None:
    parser.add_argument("paths", nargs="+", metavar=metavar, help=paths)
    _json_argument(parser)
    _java_arguments(parser)


def _json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def _missing_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--missing-ok",
        action="store_true",
        help="a path where nothing is counts as done, and is told; by default it ends with code 1",
    )


def _java_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--conf",
        action="append",
        type=_key_and_value,
        default=[],
        metavar="key=value",
        help="a setting of Spark or Hadoop, as a job would have it",
    )
    parser.add_argument(
        "--properties-file",
        default="",
        metavar="file",
        help="a file of Spark settings (default: the spark-defaults.conf that Spark would read)",
    )
    parser.add_argument(
        "--class-path",
        default="",
        metavar="jars",
        help="more jars, written as for `java -cp`, such as the connector of a cloud store",
    )


def _key_and_value(text: str) -> str:
    if not text.partition("=")[0].strip() or "=" not in text:
        raise argparse.ArgumentTypeError(f"'{printable(text)}' is not key=value")
    return text


def _settings(parsed: argparse.Namespace) -> list[str]:
    """The settings, as the Java mains take them."""
    options = []
    properties = parsed.properties_file
    if not properties:
        defaults = spark_defaults()
        properties = str(defaults) if defaults is not None and defaults.is_file() else ""
    if properties:
        options += ["--properties-file", properties]
    for setting in parsed.conf:
        options += ["-D", setting]
    return options


def _flags(parsed: argparse.Namespace, *names: str) -> list[str]:
    """Those of these flags that are given."""
    return [f"--{name}" for name in names if getattr(parsed, name.replace("-", "_"), False)]


def _as_paths(names: Sequence[str]) -> list[str]:
    """The paths, such that the Java main takes none that starts with a dash for an option."""
    return [f"./{name}" if name.startswith("-") else name for name in names]


def _completion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh"), help="the shell that reads it")


def _completion(parsed: argparse.Namespace) -> int:
    cases = []
    for command in _COMMANDS:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        words = " ".join(choice for a in parser._actions for choice in a.choices or ())
        options = " ".join(_options(parser))
        cases.append(f'    {command.name}) words="{words}" options="{options}" ;;')
    names = " ".join(command.name for command in _COMMANDS)
    script = _BASH.format(cases="\n".join(cases), commands=names)
    print((_ZSH if parsed.shell == "zsh" else "") + script, end="")
    return 0


def _no_arguments(_: argparse.ArgumentParser) -> None:
    pass


def _print_jar(_: argparse.Namespace) -> int:
    if is_in_zip():
        raise ManifestCommitterError(
            f"{jar_path()} is a copy that goes when this process ends, since the package is in a "
            "zip. Install the wheel with pip, and ask again."
        )
    print(jar_path())
    return 0


def _conf_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "store",
        choices=("abfs", "gs", "hdfs", "lakefs", "local", "s3"),
        help="the store that jobs write to: Azure, Google Cloud Storage, HDFS, lakeFS, a disk, or "
        "Amazon S3",
    )


def _print_conf(parsed: argparse.Namespace) -> int:
    _show(settings_files()[parsed.store].rstrip())
    return 0


_COMMANDS = (
    _Command(
        "print",
        "Print the report of a table's last job, another report, or a task manifest.",
        "manifest-committer print abfs://container@account.dfs.core.windows.net/table",
        _print_arguments,
        _print,
    ),
    _Command(
        "info",
        "Show which committer a path gets, which setting chose it, and what is wrong.",
        "manifest-committer info abfs://container@account.dfs.core.windows.net/table",
        _info_arguments,
        _info,
    ),
    _Command(
        "history",
        "List the jobs whose reports are in a directory.",
        "manifest-committer history gs://bucket/reports --since 7d --failed",
        _history_arguments,
        _history,
    ),
    _Command(
        "report",
        "Write a page with pictures of a table's last job, or of a directory of reports.",
        "manifest-committer report gs://bucket/table --html table.html",
        _report_arguments,
        _report,
    ),
    _Command(
        "recover",
        "Roll back or complete jobs that died while they committed into a table.",
        "manifest-committer recover gs://bucket/table",
        _recover_arguments,
        _recover,
    ),
    _Command(
        "clean",
        "List the staging directories in a table, and remove those of dead jobs.",
        "manifest-committer clean gs://bucket/table --dry-run",
        _clean_arguments,
        _clean,
    ),
    _Command(
        "ids",
        "List the identities (commit.id) whose data a table has, or forget one.",
        "manifest-committer ids gs://bucket/table --id nightly-2026-01-31",
        _ids_arguments,
        _ids,
    ),
    _Command(
        "held",
        "List the held jobs of a table, which nobody sees before they are published.",
        "manifest-committer held gs://bucket/table",
        _held_arguments,
        _held,
    ),
    _Command(
        "publish",
        "Publish a held job.",
        "manifest-committer publish gs://bucket/table 2f0c1a9e-5a55-4c2e-8f6e-3f4b0c1d2e3f",
        _end_held_arguments,
        _end_held,
    ),
    _Command(
        "discard",
        "Discard a held job, or one whose publication died.",
        "manifest-committer discard gs://bucket/table 2f0c1a9e-5a55-4c2e-8f6e-3f4b0c1d2e3f",
        _end_held_arguments,
        _end_held,
    ),
    _Command(
        "wait",
        "Wait until a job has committed to a table; code 3 if it does not in time.",
        "manifest-committer wait gs://bucket/table --commit-id nightly-2026-01-31 --timeout 2h",
        _wait_arguments,
        _wait,
    ),
    _Command(
        "files",
        "List the files of a table as it was before or after each commit, and never between.",
        "manifest-committer files gs://bucket/table --json",
        _files_arguments,
        _files,
    ),
    _Command(
        "verify-store",
        "Check whether a real store does what the committer relies on, a line for each.",
        "manifest-committer verify-store gs://bucket/scratch",
        _verify_store_arguments,
        _verify_store,
    ),
    _Command(
        "jar",
        "Print the path of the jar, for --jars.",
        'spark-submit --jars "$(manifest-committer jar)" job.py',
        _no_arguments,
        _print_jar,
    ),
    _Command(
        "conf",
        "Print Spark's settings for a store, for --properties-file.",
        "manifest-committer conf abfs > abfs.conf",
        _conf_arguments,
        _print_conf,
    ),
    _Command(
        "completion",
        "Print what completes these commands in a shell.",
        "source <(manifest-committer completion bash)",
        _completion_arguments,
        _completion,
    ),
)


def _run_java(main_class: str, options: Sequence[str], parsed: argparse.Namespace) -> int:
    """Run a main of our jar on Spark's jars, and hand on its exit code."""
    return _exit_code(_java_process(main_class, options, parsed))


def _ask(parsed: argparse.Namespace, question: str, **given: Any) -> tuple[list[Any], int]:
    """What our jar answers to a question about each path, and the exit code so far."""
    options = ["--question", question, "--given", _jvm.encoded(given)]
    options += _flags(parsed, "missing-ok")
    ran = _java_process(_ASK, options, parsed, subprocess.PIPE)
    return list(_documents(ran)), _exit_code(ran)


def _tell(parsed: argparse.Namespace, answer: Any, *lines: str) -> None:
    """Print an answer as JSON, or as lines of text."""
    for line in [_jvm.encoded(answer)] if parsed.json else map(printable, lines):
        _show(line)


def _java_process(
    main_class: str, options: Sequence[str], parsed: argparse.Namespace, stdout: int | None = None
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(_command(main_class, options, parsed), check=False, stdout=stdout)


def _java_stream(
    main_class: str, options: Sequence[str], parsed: argparse.Namespace
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(_command(main_class, options, parsed), stdout=subprocess.PIPE)


def _command(main_class: str, options: Sequence[str], parsed: argparse.Namespace) -> list[str]:
    jars = spark_jars_directory()
    command = [str(java_for(jars)), "-cp", _class_path(parsed.class_path, jars)]
    command += [f"-D{_CALLED}={_PROGRAM} {parsed.command.name}", main_class]
    return [*command, *options, *_settings(parsed), *_as_paths(parsed.paths)]


def _documents(ran: "subprocess.CompletedProcess[bytes]") -> Iterator[Any]:
    """What our program printed; a JVM may log warnings of its own between."""
    for line in ran.stdout.decode("utf-8").splitlines():
        if line.startswith(_DOCUMENT):
            yield _document(line)
        else:
            print(line, file=sys.stderr)


def _document(line: str | bytes) -> Any:
    """A line of our program, which hands on what is in the file of a report."""
    try:
        return _jvm.decoded(line)
    except ValueError as error:
        raise ManifestCommitterError(f"a report cannot be read: {error}") from error


def _show(text: str) -> None:
    """Print names as they are, whatever the locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{text}\n".encode())
    sys.stdout.buffer.flush()


def _exit_code(ran: "subprocess.CompletedProcess[bytes] | subprocess.Popen[bytes]") -> int:
    code = ran.returncode
    # Ended by a signal: the number that a shell would give.
    return code if code >= 0 else 128 - code


def _class_path(more: str, jars: Path) -> str:
    """Our jar, what the user adds, the settings of Hadoop and Spark, then Spark's jars."""
    entries = [jar_path(), more]
    entries += [os.environ.get(name, "") for name in ("HADOOP_CONF_DIR", "SPARK_CONF_DIR")]
    entries.append(str(jars / "*"))
    return os.pathsep.join(entry for entry in entries if entry)
