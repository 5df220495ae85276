# SPDX-License-Identifier: Apache-2.0
"""The store that a run of the tests is on, chosen once for the process.

Other than the local disk it is an emulator, which serves while the tests run, and which sessions
reach through the store's real connector, with the settings of ``spark-conf``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import independent
import pyspark
import pytest
from places import (
    AbfsStore,
    GcsStore,
    LakefsStore,
    Place,
    S3Store,
    Store,
    StorePath,
    call,
    must,
)

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "emulators" / "python"))

from emulated import Emulators

LOCAL = "local"
S3 = "s3a"
SEAWEEDFS = "s3a-seaweedfs"
"""S3 by a server that others wrote, instead of our emulator. It has no log and no faults."""
MAGIC = "s3a-magic"
"""S3 by our emulator, where tasks write to S3A's magic paths. Needs Hadoop 3.4.1 or newer."""
FOLDERS = "gs-folders"
"""Our emulator's bucket with hierarchical namespace."""
FILESYSTEM = "gs-filesystem"
"""Our emulator's other bucket, with nothing asked through the client inside of the connector."""
FAKE = "gs-fake"
"""Google Cloud Storage by a server that others wrote; without moves, log and faults."""
LAKEFS = "lakefs"
"""lakeFS, whose tables Spark reads through S3A and the gateway: ``s3a://lake/main/``."""
LAKEFS_SCHEME = "lakefs-scheme"
"""The same at ``lakefs://lake/main/``, which Spark reads through a stand-in for its filesystem."""
VARIANTS = {
    LAKEFS_SCHEME: LAKEFS,
    MAGIC: S3,
    SEAWEEDFS: S3,
    FOLDERS: "gs",
    FILESYSTEM: "gs",
    FAKE: "gs",
}
NAMES = (LOCAL, "abfs", "abfss", "gs", S3, LAKEFS, *VARIANTS)
MAGIC_CONF = {
    "spark.hadoop.mapreduce.manifest.committer.s3.write.to": "magic",
    "spark.hadoop.fs.s3a.committer.magic.track.commits.in.memory.enabled": "true",
}
FILESYSTEM_CONF = {
    "spark.hadoop.mapreduce.manifest.committer.gs.requests": "filesystem",
    "spark.hadoop.fs.gs.checksum.type": "CRC32C",
}

FAKE_CONF = {
    **FILESYSTEM_CONF,
    "spark.hadoop.fs.gs.auth.type": "UNAUTHENTICATED",
    "spark.hadoop.fs.gs.project.id": "fake",
    "spark.hadoop.fs.gs.client.type": "HTTP_API_CLIENT",
    "spark.hadoop.fs.gs.storage.service.path": "storage/v1/",
    "spark.hadoop.fs.gs.max.requests.per.batch": "1",
    "spark.hadoop.fs.gs.hierarchical.namespace.folders.enable": "false",
    "spark.hadoop.fs.gs.http.max.retry": "1",
    "spark.hadoop.fs.gs.rewrite.max.chunk.size": "536870912",
    "spark.hadoop.fs.gs.outputstream.buffer.size": "8388608",
    "spark.hadoop.fs.gs.inputstream.inplace.seek.limit": "8388608",
    "spark.hadoop.fs.gs.inputstream.min.range.request.size": "2097152",
    # The server has neither moves nor conditions on a deletion.
    "spark.hadoop.fs.gs.operation.move.enable": "false",
    "spark.hadoop.mapreduce.manifest.committer.atomic.rename.schemes": "gs",
}

CONNECTORS = Path(sys.prefix) / "jars"
"""Where the Makefile puts them, one for each scheme's family."""


FAMILIES = {
    "abfs": ("spark.hadoop.fs.azure.", "abfs.conf", "abfs"),
    "abfss": ("spark.hadoop.fs.azure.", "abfs.conf", "abfs"),
    "gs": ("spark.hadoop.fs.gs.", "gs.conf", "gcs"),
    S3: ("spark.hadoop.fs.s3a.", "s3.conf", "s3"),
    LAKEFS: ("spark.hadoop.fs.s3a.", "lakefs.conf", "lakefs"),
}
"""How settings of a store's connector begin, our settings for it, and its emulator's name."""


@dataclass
class Chosen:
    """The store, and how to reach it while its emulator runs."""

    name: str
    variant: str = ""
    root: str = ""
    conf: dict[str, str] = field(default_factory=dict)
    store: Store | None = None
    control: Control | None = None


_chosen = Chosen(LOCAL)


def choose(name: str) -> None:
    global _chosen
    _chosen = Chosen(VARIANTS.get(name, name), name if name in VARIANTS else "")


def name() -> str:
    return _chosen.name


def scheme() -> str:
    """Of paths on the store."""
    if _chosen.name == LOCAL:
        return "file"
    if _chosen.name == LAKEFS:
        return "lakefs" if _chosen.variant == LAKEFS_SCHEME else S3
    return _chosen.name


def place(scratch: Path) -> Place:
    """The directory that is as much a test's own as ``scratch`` is; it does not exist yet."""
    if _chosen.name == LOCAL:
        return scratch
    return StorePath(_chosen.store, f"tests/{scratch.name}")


def at(uri: str) -> Place:
    """The place of a URI on the store, or of a path."""
    if _chosen.name == LOCAL:
        return Path(uri.removeprefix("file:"))
    return StorePath(_chosen.store, uri.removeprefix(_chosen.root))


def conf() -> dict[str, str]:
    """What a session sets to reach the store; nothing for the local disk."""
    return dict(_chosen.conf)


def control() -> Control:
    assert _chosen.control is not None, "the local disk cannot be steered"
    return _chosen.control


def shipped(file: str) -> dict[str, str]:
    """The settings that the repository offers for a store."""
    return properties((REPOSITORY / "spark-conf" / file).read_text("utf-8").splitlines())


def class_path() -> str:
    """What a session needs to reach the store."""
    return class_path_of(_chosen.name)


def on_class_path() -> dict[str, str]:
    return {f"spark.{side}.extraClassPath": class_path() for side in ("driver", "executor")}


def class_path_of(name: str) -> str:
    """What a session needs to reach a store that is emulated."""
    if name not in (S3, LAKEFS):
        return str(_connector(name))
    jars = sorted((CONNECTORS / "s3a").glob("*.jar"))
    assert jars, f"{CONNECTORS / 's3a'} is empty; the Makefile fills it"
    return os.pathsep.join(map(str, jars))


def connector() -> Path:
    """The jar of the store's connector."""
    return _connector(_chosen.name)


def _connector(name: str) -> Path:
    kind = "gcs-connector" if name == "gs" else "hadoop-azure"
    jar = CONNECTORS / f"{kind}.jar"
    assert jar.is_file(), f"{jar} is missing; the Makefile fetches it for its test-stores targets"
    return jar


def is_one_of(names: Iterable[str]) -> bool:
    """Whether it has one of these names: its own, or that of the store of which it is a variant."""
    return not {_chosen.name, _chosen.variant}.isdisjoint(names)


def is_emulated() -> bool:
    """Whether it is an emulator of ours, with a log and with faults on demand."""
    return _chosen.name != LOCAL and _chosen.variant not in (FAKE, SEAWEEDFS)


def drops_directories() -> bool:
    """Whether a directory is gone with the last object in it; SeaweedFS shows it for a while."""
    return _chosen.variant != SEAWEEDFS


def reads_lines() -> bool:
    """Whether Spark can read files of lines there.

    gcs-connector 3.1 is built for Hadoop 3.3.5 and newer and Spark 3.5 brings 3.3.4: opening a file
    for Hadoop's reader of lines fails there, as ``manifest-committer info`` tells.
    """
    return _chosen.name != "gs" or not pyspark.__version__.startswith("3.")


@contextmanager
def running(scratch: Path) -> Iterator[None]:
    """The emulator of the chosen store serves for the length of the block."""
    if _chosen.name == LOCAL:
        yield
        return
    if _chosen.variant == SEAWEEDFS:
        with independent.seaweedfs(scratch) as port:
            _chosen.root = "s3a://bucket/"
            bucket = S3Store(_chosen.root, port, "bucket")
            must("/bucket", call(port, "PUT", "/bucket"))
            _chosen.conf = {
                **shipped("s3.conf"),
                "spark.hadoop.fs.s3a.endpoint": f"http://127.0.0.1:{port}",
                "spark.hadoop.fs.s3a.path.style.access": "true",
                "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
                "spark.hadoop.fs.s3a.access.key": "key",
                "spark.hadoop.fs.s3a.secret.key": "secret",
                "spark.hadoop.fs.s3a.buffer.dir": str(scratch / "s3a"),
                **on_class_path(),
            }
            _chosen.store = bucket
            yield
        return
    if _chosen.variant == FAKE:
        with independent.fake_gcs(scratch) as port:
            _chosen.root = "gs://bucket/"
            _chosen.store = GcsStore(_chosen.root, port, "bucket")
            _chosen.conf = {
                **shipped("gs.conf"),
                **FAKE_CONF,
                "spark.hadoop.fs.gs.storage.root.url": f"http://127.0.0.1:{port}/",
                **on_class_path(),
            }
            yield
        return
    with emulators() as emulated:
        family, file, log = FAMILIES[_chosen.name]
        options = ("spark.driver.", "spark.executor.") if _chosen.name == "abfss" else ()
        settings = emulated.settings.items()
        _chosen.conf = {
            **shipped(file),
            **{k: v for k, v in settings if k.startswith((family, *options))},
            **on_class_path(),
        }
        _chosen.control = Control(emulated, log)
        if _chosen.name != LAKEFS:
            _chosen.root = emulated.uris["folders" if _chosen.variant == FOLDERS else _chosen.name]
            _chosen.store = _client(emulated)
        if _chosen.name in (S3, LAKEFS):
            _chosen.conf["spark.hadoop.fs.s3a.buffer.dir"] = str(scratch / "s3a")
        if _chosen.name == LAKEFS:
            _use_lakefs(emulated, scratch)
        if _chosen.variant == MAGIC:
            _chosen.conf.update(MAGIC_CONF)
        if _chosen.variant == FILESYSTEM:
            _chosen.conf.update(FILESYSTEM_CONF)
        yield


def _use_lakefs(emulated: Emulators, scratch: Path) -> None:
    """The API's address and keys, and a class path with what reads at ``lakefs://``."""
    api = emulated.settings["spark.hadoop.fs.lakefs.endpoint"]
    bucket = "spark.hadoop.fs.s3a.bucket.lake."
    _chosen.root = f"{scheme()}://lake/main/"
    _chosen.store = LakefsStore(_chosen.root, emulated.lakefs_port, "lake", "main")
    # Where the server gives no presigned URLs, objects go to its bucket through S3A.
    _chosen.conf["spark.hadoop.fs.s3a.bucket.emulated.endpoint"] = emulated.settings[
        "spark.hadoop.fs.s3a.endpoint"
    ]
    if scheme() == S3:
        # The gateway and the API take the same keys.
        _chosen.conf[f"{bucket}lakefs.endpoint"] = api
        return
    stand_in = scratch / "stand-in"
    compile_stand_in("LakefsStandIn", stand_in)
    settings = emulated.settings.items()
    _chosen.conf.update(
        {
            **{k: v for k, v in settings if k.startswith("spark.hadoop.fs.lakefs.")},
            "spark.hadoop.fs.lakefs.impl": "LakefsStandIn",
        }
    )
    for side in ("driver", "executor"):
        _chosen.conf[f"spark.{side}.extraClassPath"] += os.pathsep + str(stand_in)


def compile_stand_in(name: str, classes: Path) -> None:
    """Compiles one of the programs in ``standin`` with Spark's jars and the store's connector."""
    jars = [class_path(), str(Path(pyspark.__file__).parent / "jars" / "*")]
    source = Path(__file__).parent / "standin" / f"{name}.java"
    subprocess.run(
        ["javac", "-nowarn", "-d", classes, "-cp", os.pathsep.join(jars), source], check=True
    )


def emulators() -> Emulators:
    """What is sent again long after its answer was lost is a new request to the service."""
    return Emulators("--forget-tokens")


def _client(emulated: Emulators) -> Store:
    bucket = urlsplit(_chosen.root).netloc
    if _chosen.name == S3:
        return S3Store(_chosen.root, emulated.s3_port, bucket)
    if _chosen.name == "gs":
        return GcsStore(_chosen.root, emulated.gcs_port, bucket, _chosen.variant == FOLDERS)
    # Over plain HTTP for both schemes: they reach the same files.
    parts = urlsplit(emulated.uris["abfs"])
    account = (parts.hostname or "").partition(".")[0]
    return AbfsStore(_chosen.root, emulated.abfs_port, f"/{account}/{parts.username}")


FAILURES = {
    "refused": {"action": "refuse", "status": 503},
    "denied": {"action": "refuse", "status": 403},
    "lost": {"action": "applyThenFail", "status": 500},
}


class Control:
    """Steers the emulator: what goes wrong, how fast it is, what it was asked for."""

    def __init__(self, emulated: Emulators, store: str) -> None:
        self._emulated = emulated
        self._store = store

    def _ask(self, method: str, what: str, body: dict[str, Any] | None = None) -> Any:
        return self._emulated.control(method, what.replace("*", self._store), body)

    def fault(self, operation: str, action: str, **rule: Any) -> Callable[[], int]:
        """Adds a rule; the function that is returned tells how often it was applied."""
        body = {"operation": operation, "action": action, **rule}
        number = self._ask("POST", "faults/*", body)["number"]
        return lambda: int(self._ask("GET", f"faults/*/{number}")["applied"])

    def hold(self, operation: str, **rule: Any) -> tuple[Callable[[], bool], Callable[[], None]]:
        """Adds a rule that holds requests: a function tells whether one is held, one lets it go.

        A held request is done once it is let go, whether its client is still there or not.
        """
        body = {"operation": operation, "action": "hold", **rule}
        url = f"faults/*/{self._ask('POST', 'faults/*', body)['number']}"
        return (
            lambda: self._ask("GET", url)["held"] > 0,
            lambda: self._ask("POST", f"{url}/release"),
        )

    def limit(self, per_second: int) -> None:
        """Refuses what is beyond so many requests a second; 0 for no limit."""
        self._ask("POST", "limit/*", {"perSecond": per_second})

    def forget(self) -> None:
        """Empties the log of requests."""
        self._ask("DELETE", "log/*")

    def log(self) -> list[dict[str, Any]]:
        """The requests since it was emptied."""
        return list(self._ask("GET", "log/*"))

    def repair(self) -> None:
        """Nothing goes wrong any more."""
        self._ask("DELETE", "faults/*")
        self.limit(0)

    def asked(self) -> list[str]:
        """What was asked since this was last called: operation and path."""
        entries = self.log()
        self.forget()
        return [f"{entry['operation']} {entry['path']}" for entry in entries]

    def fail(self, operation: str, first: int, how: str, times: int = 1) -> Callable[[], int]:
        """Has requests fail, from the first on; a function ends that, and tells how often.

        Those that are ``refused`` or ``denied`` are not done, of ``lost`` ones only the answer is
        an error.
        """
        applied = self.fault(operation, call=first, times=times, **FAILURES[how])

        def failed() -> int:
            count = applied()
            self.repair()
            return count

        return failed


def settle() -> None:
    """Commits what Spark's catalog left on a branch of lakeFS, as a user has to."""
    if isinstance(_chosen.store, LakefsStore):
        _chosen.store.commit()


def lakefs() -> LakefsStore:
    assert isinstance(_chosen.store, LakefsStore)
    return _chosen.store


def s3() -> S3Store:
    assert isinstance(_chosen.store, S3Store)
    return _chosen.store


def steering() -> Control:
    """Of the server that speaks S3's protocol."""
    if _chosen.variant == SEAWEEDFS:
        pytest.skip("SeaweedFS has no log, and nothing goes wrong there on demand")
    return control()


def properties(lines: list[str]) -> dict[str, str]:
    """Lines of a spark-defaults.conf, with comments."""
    stripped = (line.strip() for line in lines)
    pairs = [line.split(None, 1) for line in stripped if line and not line.startswith("#")]
    return dict(pairs)
