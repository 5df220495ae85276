# SPDX-License-Identifier: Apache-2.0
"""Two versions of the jar in one table: what one left unfinished, the other harms nowhere.

A driver of one version dies in an overwrite that has moved old data aside, in the table and at a
custom location; in some cases a recovery takes the commit over, and dies, too. Then the other
version cleans, recovers and appends. In the end the version that wrote the journal recovers the
table. Also the older version meets a job that the newer one holds.
"make test-versions" builds the older version from the history of this repository.
"""

from __future__ import annotations

import os
import re
import subprocess
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILT = REPOSITORY / "target" / "versions"
OPTION = "mapreduce.manifest.committer."
DIED = 42
JAVA = ("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# How the journal of one version is refused by the other, which may not know a state of it either.
REFUSED = re.compile(
    r"is of version \d, and this version of the committer reads version(s \d to)? \d"
    r"|is in a state that this version of the committer does not know"
)

# How long the newer version watches heartbeats. A job has one itself, and has to keep to it.
LOOKING = (f"{OPTION}heartbeat.timeout=1s", f"{OPTION}heartbeat.interval=200ms")
WATCHING = (f"{OPTION}heartbeat.timeout=5s", f"{OPTION}heartbeat.interval=500ms")


class Version:
    """A jar, and the programs of this directory compiled against it."""

    def __init__(self, name: str, tree: Path, jar: Path, to: Path) -> None:
        self.name = name
        libraries = f"{jar}:{(BUILT / 'classpath').read_text('utf-8').strip()}"
        self._class_path = f"{to}:{libraries}"
        sources = [str(source) for source in sorted(Path(__file__).parent.glob("*.java"))]
        helpers = str(tree / "java/src/test/java")
        command = ["javac", "-nowarn", "-proc:none", "-implicit:class", "-d", str(to)]
        done = subprocess.run(
            [*command, "-cp", libraries, "-sourcepath", helpers, *sources],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout

    def run(self, main: str, *arguments: str | Path, code: int = 0) -> str:
        """Runs a program, which has to end with this code; what it printed."""
        done = subprocess.run(
            [*JAVA, "-cp", self._class_path, main, *map(str, arguments)],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert done.returncode == code, f"{self.name} {main}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def write(self, kind: str, *arguments: str | Path, code: int = 0) -> str:
        return self.run("Write", kind, *arguments, code=code)

    def recover(self, *arguments: str | Path, settings: Iterable[str] = (), code: int = 0) -> str:
        return self.program("Recover", *arguments, settings=settings, code=code)

    def clean(self, *arguments: str | Path) -> str:
        """Cleans up what shows no sign of life right now."""
        return self.program("Clean", "--older-than", "0s", *arguments, settings=LOOKING)

    def program(
        self, name: str, *arguments: str | Path, settings: Iterable[str], code: int = 0
    ) -> str:
        given = [f"-D{setting}" for setting in settings]
        return self.run(f"io.manifestcommitter.cli.{name}", *given, *arguments, code=code)


@dataclass(frozen=True)
class Death:
    """Where a process dies: at a rename, as source and destination, before or after its effect."""

    at: str
    when: str

    def settings(self) -> list[str]:
        return [
            *("fs.file.impl=DyingFileSystem", f"dies.at={self.at}", f"dies.when={self.when}"),
            f"{OPTION}io.threads=1",
        ]


PUBLISHING = Death(r"/00/sealed/part-\S+ -> \S+/location/part-", "before")
PUBLISHED = Death(r"/journal-planned-0 -> \S+/journal-committed-0$", "before")
COMMITTED = Death(PUBLISHED.at, "after")

CLAIMED = Death(r"/journal-planned-0 -> \S+/journal-planned-[1-9]", "after")
CLAIMED_TO_COMPLETE = Death(r"/journal-committed-0 -> \S+/journal-committed-[1-9]", "after")
HALF_FENCED = Death(r"/00/old/0 -> \S+/00/old/[1-9]", "after")
FENCED = Death(r"/journal-planned-[1-9]\d* -> \S+/journal-revoked-", "before")
REVOKED = Death(FENCED.at, "after")
FENCED_TO_COMPLETE = Death(r"/location/_manifest_\S+/00/old/0 -> \S+/00/old/[1-9]", "after")
RETURNING = Death(r"/00/old/\S+ -> \S+/location/part-old", "before")

# The overwrite, where its driver dies, and where a recovery that takes the commit over.
Case = tuple[str, Death, "Death | None"]

DRIVERS: dict[str, Case] = {
    f"{kind}-{name}": (kind, death, None)
    for kind in ("static", "dynamic")
    for name, death in (
        ("publishing", PUBLISHING),
        ("published", PUBLISHED),
        ("committed", COMMITTED),
    )
}
CASES: dict[str, dict[str, Case]] = {
    "newer": DRIVERS
    | {
        "static-half-fenced": ("static", PUBLISHED, HALF_FENCED),
        "static-fenced": ("static", PUBLISHED, FENCED),
        "dynamic-fenced": ("dynamic", PUBLISHING, FENCED),
        "static-revoked": ("static", PUBLISHED, REVOKED),
        "dynamic-returning": ("dynamic", PUBLISHED, RETURNING),
        "static-fenced-to-complete": ("static", COMMITTED, FENCED_TO_COMPLETE),
        "dynamic-fenced-to-complete": ("dynamic", COMMITTED, FENCED_TO_COMPLETE),
    },
    "older": DRIVERS
    | {
        "static-claimed": ("static", PUBLISHED, CLAIMED),
        "dynamic-returning": ("dynamic", PUBLISHED, RETURNING),
        "static-claimed-to-complete": ("static", COMMITTED, CLAIMED_TO_COMPLETE),
    },
}


OLD = ("old in p=1", "old in p=3", "old in location")
NEW = ("new in p=1", "new in location")
LAST_REPORT = "the last report"


class Place:
    """A table, one of whose partitions has a custom location."""

    def __init__(self, directory: Path) -> None:
        self.table = directory / "table"
        self.location = directory / "location"
        for file, content in {
            self.table / "p=1" / "part-old": "old in p=1",
            self.table / "p=3" / "part-old": "old in p=3",
            self.location / "part-old": "old in location",
            self.table / "_SUCCESS": LAST_REPORT,
        }.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")

    def rows(self) -> list[str]:
        """What readers see."""
        return sorted(
            file.read_text("utf-8")
            for directory in (self.table, self.location)
            for file in directory.rglob("*")
            if file.is_file()
            and not any(part.startswith(("_", ".")) for part in file.relative_to(directory).parts)
        )

    def asides(self) -> list[str]:
        """The old rows that are moved aside."""
        return sorted(
            file.read_text("utf-8")
            for directory in (self.table, self.location)
            for file in directory.glob("_manifest_*/00/old/**/*")
            if file.is_file() and file.suffix != ".crc" and file.read_bytes().startswith(b"old ")
        )

    def roots(self) -> list[Path]:
        """The staging directories."""
        return sorted([*self.table.glob("_manifest_*"), *self.location.glob("_manifest_*")])

    def everything(self) -> dict[str, bytes | None]:
        """All files with their content, and all directories."""
        return {
            str(path): path.read_bytes() if path.is_file() else None
            for path in sorted(self.table.parent.rglob("*"))
        }

    def age(self) -> None:
        """The last signs of life are old by the store's clock: the older version compares ages."""
        for heartbeat in self.table.glob("_manifest_*/heartbeat"):
            written = heartbeat.stat().st_mtime - 3600
            os.utime(heartbeat, (written, written))


@dataclass
class Tried:
    """A case, and what was seen of it, first and after each step of the other version."""

    place: Place
    dead: dict[str, bytes | None]
    asides: list[str]
    roots: list[Path]
    seen: dict[str, dict[str, bytes | None]] = field(default_factory=dict)


@dataclass
class Trial:
    """All cases of one version, and what the other one said at each step."""

    cases: dict[str, Tried]
    said: dict[str, str]


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Version]:
    older = BUILT / "older"
    assert older.is_dir(), "the older version is not built: make test-versions"
    (older_jar,) = (older / "target").glob("manifest-committer-*.jar")
    # That of the wheel: other builds may write the one beside it while the tests run.
    (wheel,) = (REPOSITORY / "python/dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (packed,) = (name for name in archive.namelist() if name.endswith(".jar"))
        jar = Path(archive.extract(packed, tmp_path_factory.mktemp("wheel")))
    return {
        "newer": Version("newer", REPOSITORY, jar, tmp_path_factory.mktemp("newer")),
        "older": Version("older", older, older_jar, tmp_path_factory.mktemp("older")),
    }


def die(version: Version, case: Case, directory: Path) -> Tried:
    kind, driver, recovery = case
    place = Place(directory)
    version.write(kind, *driver.settings(), place.table, code=DIED)
    place.age()
    if recovery is not None:
        version.recover("--force", place.table, settings=recovery.settings(), code=DIED)
        place.age()
    return Tried(place, place.everything(), place.asides(), place.roots())


def run(version: Version, other: Version, directory: Path) -> Trial:
    cases = CASES[version.name]
    with ThreadPoolExecutor(max_workers=2) as both:
        tried = both.map(die, repeat(version), cases.values(), (directory / name for name in cases))
        trial = Trial(dict(zip(cases, tried, strict=True)), {})
    tables = [case.place.table for case in trial.cases.values()]
    locations = [case.place.location for case in trial.cases.values()]
    for step, act in {
        "clean": lambda: other.clean(*tables, *locations),
        "recover": lambda: other.recover(*tables, settings=LOOKING, code=1),
        "append": lambda: other.write("append", *WATCHING, *tables, code=1),
    }.items():
        trial.said[step] = act()
        for case in trial.cases.values():
            case.seen[step] = case.place.everything()
    # That they are dead is known.
    version.recover("--force", *tables)
    return trial


@pytest.fixture(scope="module")
def trials(
    versions: dict[str, Version], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Trial]:
    newer, older = versions["newer"], versions["older"]
    return {
        "newer": run(newer, older, tmp_path_factory.mktemp("by-newer")),
        "older": run(older, newer, tmp_path_factory.mktemp("by-older")),
    }


EACH = pytest.mark.parametrize(
    ("by", "case"), [(by, case) for by, cases in CASES.items() for case in cases]
)


@EACH
def test_it_died_with_old_data_aside(trials: dict[str, Trial], by: str, case: str) -> None:
    returned = {"old in p=1"} if CASES[by][case][2] == RETURNING else set()
    replaced = set(OLD) if case.startswith("static") else set(OLD) - {"old in p=3"}
    tried = trials[by].cases[case]
    assert set(tried.asides) == replaced - returned
    assert len(tried.roots) == 2


@EACH
@pytest.mark.parametrize("step", ["clean", "recover", "append"])
def test_the_other_version_changes_nothing(
    trials: dict[str, Trial], by: str, case: str, step: str
) -> None:
    tried = trials[by].cases[case]
    assert tried.seen[step] == tried.dead


@EACH
def test_clean_keeps_what_is_unfinished(trials: dict[str, Trial], by: str, case: str) -> None:
    said = trials[by].said["clean"]
    for root in trials[by].cases[case].roots:
        assert f"{root}: unfinished" in said
        assert not re.search(f"{root}: .*removed", said)


@EACH
@pytest.mark.parametrize("step", ["recover", "append"])
def test_it_is_refused_by_its_version(
    trials: dict[str, Trial], by: str, case: str, step: str
) -> None:
    tried = trials[by].cases[case]
    said = trials[by].said[step].splitlines()
    assert any(REFUSED.search(line) and str(tried.place.table) in line for line in said), said


@EACH
def test_its_own_version_makes_it_right(trials: dict[str, Trial], by: str, case: str) -> None:
    place = trials[by].cases[case].place
    kept = set() if case.startswith("static") else {"old in p=3"}
    is_committed = CASES[by][case][1] == COMMITTED
    assert place.rows() == sorted({*NEW, *kept} if is_committed else OLD)
    report = (place.table / "_SUCCESS").read_text("utf-8")
    assert (report == LAST_REPORT) == (not is_committed)
    assert place.roots() == []


@pytest.mark.parametrize("kind", ["append", "static"])
def test_the_older_version_leaves_a_held_job_alone(
    versions: dict[str, Version], tmp_path: Path, kind: str
) -> None:
    """It does not know that jobs can be held, and must not take one for a driver that died."""
    newer, older = versions["newer"], versions["older"]
    place = Place(tmp_path)
    newer.write(kind, f"{OPTION}publish=hold", place.table)
    (root,) = place.table.glob("_manifest_*")
    held = place.everything()
    assert place.rows() == sorted(OLD)

    for said in (
        older.recover(place.table, settings=LOOKING, code=1),
        older.recover("--force", place.table, code=1),
        older.write("append", *WATCHING, place.table, code=1),
    ):
        assert any(REFUSED.search(line) and str(root) in line for line in said.splitlines()), said
        assert place.everything() == held
    assert f"{root}: unfinished" in older.clean(place.table)
    assert place.everything() == held

    job = root.name.removeprefix("_manifest_")
    asked = ("--question", "held", "--given", f'{{"jobId":"{job}","end":"publish"}}')
    assert '"errors":[]' in newer.program("Ask", *asked, place.table, settings=WATCHING)
    assert place.rows() == sorted([*OLD, "new in p=1"] if kind == "append" else NEW)
    assert place.roots() == []


@pytest.mark.parametrize(("by", "to"), [("newer", "older"), ("older", "newer")])
def test_a_job_that_goes_on_beside_it_harms_nothing(
    versions: dict[str, Version], tmp_path: Path, by: str, to: str
) -> None:
    """Told so, a job only warns. Also at the location, which for that job is a table."""
    tried = die(versions[by], CASES[by]["dynamic-published"], tmp_path)
    place = tried.place
    warn = f"{OPTION}unfinished.jobs=warn"
    versions[to].write("append", warn, *WATCHING, place.table, place.location)
    versions[to].clean(place.table, place.location)
    assert place.asides() == tried.asides
    versions[by].recover(place.table, settings=WATCHING)
    assert place.rows() == sorted([*OLD, "new in p=1", "new in p=1"])
    assert place.roots() == []
