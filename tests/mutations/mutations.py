# SPDX-License-Identifier: Apache-2.0
"""Puts one deliberate defect after the other into the committer; a test has to notice each.

Each is compiled by itself, in front of the committer's own classes; the sources are not touched. A
defect that its test class does not notice is a failure, and so is a test class that fails without
any. ``make mutations`` compiles everything and fetches what is needed, then calls this.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from defects import ALL, Defect

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "java/src/main/java/io/manifestcommitter"
TESTS = ROOT / "java/src/test/java"
CLASSES = ROOT / "target/classes"
TEST_CLASSES = ROOT / "target/test-classes"
SCRATCH = ROOT / "target/mutations"
PAGE = ROOT / "docs/evidence/mutations.md"
AS_PRINTED = "## As printed\n"

# A test class takes seconds; one that a defect stops altogether has not noticed it.
PATIENCE = 900
JVM = (
    *("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.nio")),
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)


class BadTableError(Exception):
    """The table of defects does not fit the sources."""


@dataclass(frozen=True)
class Run:
    """How a run of a test class ended."""

    ran: int
    failed: list[str]
    problem: str = ""


def defects() -> list[Defect]:
    return [defect for group in ALL.values() for defect in group]


def mutated(defect: Defect) -> str:
    """The source with the defect in it."""
    text = (SOURCES / defect.file).read_text("utf-8")
    for old, new in defect.edits:
        if text.count(old) != 1:
            raise BadTableError(
                f"{defect.name}: {defect.file} has {text.count(old)} times, and not once:\n{old}"
            )
        text = text.replace(old, new)
    return text


def test_class(name: str) -> str:
    """The full name of a test class."""
    found = list(TESTS.rglob(f"{name}.java"))
    if len(found) != 1:
        raise BadTableError(f"There are {len(found)} test classes {name}")
    return ".".join(found[0].relative_to(TESTS).with_suffix("").parts)


def check() -> None:
    """Whether every defect can be made, has a test class, and is on the page."""
    names = [defect.name for defect in defects()]
    if len(names) != len(set(names)):
        raise BadTableError("Two defects have the same name")
    page = PAGE.read_text("utf-8")
    for defect in defects():
        mutated(defect)
        test_class(defect.test)
        if f"`{defect.name}`" not in page:
            raise BadTableError(f"{PAGE} does not have {defect.name}: run make mutations")


class Runner:
    """Compiles defects and runs tests."""

    def __init__(self, class_path: str, launcher: Path) -> None:
        self.class_path = class_path
        self.launcher = launcher

    def compile(self, defect: Defect, directory: Path) -> str:
        """Compiles the one source file that has the defect; what the compiler says if it fails."""
        source = directory / "source" / Path(defect.file).name
        source.parent.mkdir(parents=True)
        source.write_text(mutated(defect), "utf-8")
        done = subprocess.run(
            [
                *("javac", "-nowarn", "-proc:none", "-implicit:none", "--release", "11"),
                *("-d", str(directory / "classes"), "-cp", f"{CLASSES}:{self.class_path}"),
                str(source),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        return "" if done.returncode == 0 else done.stderr

    def test(self, name: str, directory: Path) -> Run:
        """Runs a test class, with the classes of a defect in front if it has any there."""
        reports = directory / "reports"
        scratch = directory / "tmp"
        scratch.mkdir(parents=True)
        class_path = [directory / "classes", TEST_CLASSES, CLASSES, self.class_path, self.launcher]
        command = ["java", *JVM, f"-Djava.io.tmpdir={scratch}"]
        command += ["-cp", ":".join(map(str, class_path))]
        command += ["org.junit.platform.console.ConsoleLauncher", "execute"]
        command += ["--details=none", "--disable-banner", f"--reports-dir={reports}"]
        command += [f"--select-class={test_class(name)}"]
        log = directory / "log"
        with log.open("w") as out:
            try:
                done = subprocess.run(
                    command, cwd=ROOT, stdout=out, stderr=out, timeout=PATIENCE, check=False
                )
            except subprocess.TimeoutExpired:
                return Run(0, [], f"the tests did not end within {PATIENCE} s, see {log}")
        if done.returncode not in (0, 1):
            return Run(0, [], f"the tests did not run, see {log}")
        # One for each engine.
        cases = [c for xml in reports.glob("*.xml") for c in ET.parse(xml).iter("testcase")]
        failed = [
            f"{case.get('classname', '').rpartition('.')[2]}.{method(case.get('name', ''))}"
            for case in cases
            if case.find("failure") is not None or case.find("error") is not None
        ]
        return Run(len(cases), failed)

    def baseline(self, name: str) -> str:
        """Runs a test class without a defect; what is wrong if it does not pass."""
        run = self.test(name, fresh(f"baseline-{name}"))
        if run.problem or run.failed or not run.ran:
            return f"{name} without a defect: {run.problem or run.failed or 'no tests'}"
        return ""

    def run(self, defect: Defect) -> Run:
        directory = fresh(defect.name)
        errors = self.compile(defect, directory)
        if errors:
            return Run(0, [], f"does not compile:\n{errors}")
        run = self.test(defect.test, directory)
        if not run.problem and not run.failed:
            return Run(run.ran, [], f"SURVIVED {run.ran} tests of {defect.test}")
        return run


def method(name: str) -> str:
    """A test method without its parameters and the number of its run."""
    return re.sub(r"\(.*", "", name)


def fresh(name: str) -> Path:
    directory = SCRATCH / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def table(results: dict[str, Run]) -> str:
    """What was found, in Markdown."""
    lines = []
    for title, group in ALL.items():
        lines += [f"\n### {title}\n", "| defect | | noticed by |", "|---|---|---|"]
        for defect in group:
            if defect.name in results:
                run = results[defect.name]
                noticed = f"`{run.failed[0]}`" if run.failed else "**nothing**"
                lines.append(f"| `{defect.name}` | {defect.what} | {noticed} |")
    return "\n".join(lines) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only that the table fits the sources")
    parser.add_argument("--only", default="", help="those whose names this expression matches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="so many at once")
    parser.add_argument("--class-path", type=Path, help="a file with the tests' class path")
    parser.add_argument("--launcher", type=Path, help="the jar of JUnit's console launcher")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    if args.check:
        check()
        return 0
    chosen = [defect for defect in defects() if re.fullmatch(args.only or ".*", defect.name)]
    runner = Runner(args.class_path.read_text("utf-8").strip(), args.launcher)
    tests = sorted({defect.test for defect in chosen})
    with ThreadPoolExecutor(args.jobs) as pool:
        for problem in pool.map(runner.baseline, tests):
            if problem:
                print(problem)
                return 1
        print(f"{len(tests)} test classes pass without a defect", flush=True)
        results: dict[str, Run] = {}
        for defect, run in zip(chosen, pool.map(runner.run, chosen), strict=True):
            results[defect.name] = run
            print(f"{defect.name}: {run.problem or run.failed[0]}", flush=True)
    printed = table(results)
    print(printed)
    missed = [name for name, run in results.items() if run.problem]
    print(f"{len(results) - len(missed)} of {len(results)} defects noticed")
    if missed:
        print("Not noticed:", ", ".join(missed))
        return 1
    if len(chosen) == len(defects()):
        head = PAGE.read_text("utf-8").partition(AS_PRINTED)[0]
        PAGE.write_text(f"{head}{AS_PRINTED}{printed}", "utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BadTableError as problem:
        sys.exit(str(problem))
