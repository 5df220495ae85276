# SPDX-License-Identifier: Apache-2.0
"""The emulators as a child process, and their control endpoint."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

BUILT = Path(__file__).resolve().parents[3] / "target" / "emulators"
READY = "# ready"
HADOOP = "spark.hadoop."


def command(*arguments: str) -> list[str]:
    """What starts the main.

    Raises:
        RuntimeError: It is not built.
    """
    jars = sorted(BUILT.glob("manifest-committer-emulators-*.jar"))
    if len(jars) != 1 or not (BUILT / "classpath").exists():
        raise RuntimeError(
            f"Not exactly one jar of the emulators and a class path in {BUILT}: "
            "run mvn package -pl tests/emulators"
        )
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else "java"
    class_path = os.pathsep.join([str(jars[0]), (BUILT / "classpath").read_text().strip()])
    # It lives for seconds: what counts is how fast it starts.
    options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", class_path]
    return [java, *options, "io.manifestcommitter.emulator.Emulators", *arguments]


class Emulators:
    """All stores, from entering the context to leaving it.

    Attributes:
        settings: What the child printed, by key: those of Hadoop start with ``spark.hadoop.``.
        uris: "abfs", "abfss", "gs", "s3a", "lakefs" and "control".
    """

    def __init__(self, *arguments: str) -> None:
        """Starts nothing yet; the arguments are those of the main."""
        self.settings: dict[str, str] = {}
        self.uris: dict[str, str] = {}
        self._arguments = arguments

    def __enter__(self) -> Emulators:
        """Starts the child and reads what it prints.

        Raises:
            RuntimeError: It is not built, or ended instead of getting ready.
        """
        self._child = subprocess.Popen(
            command("--until-stdin-ends", *self._arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._child.stdout is not None
        for line in self._child.stdout:
            words = line.rstrip("\n").split(None, 1)
            if line.rstrip("\n") == READY:
                return self
            if words[0] == "#":
                name, _, uri = words[1].partition(" ")
                if "://" in uri:
                    self.uris[name] = uri
            else:
                self.settings[words[0]] = words[1]
        raise RuntimeError(f"The emulators ended with {self._child.wait()}: see above")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends the child by ending its input."""
        self._child.communicate()

    @property
    def returncode(self) -> int | None:
        """The child's exit code, once it ended."""
        return self._child.returncode

    @property
    def abfs_port(self) -> int:
        """Of the DFS protocol through plain HTTP."""
        account = urlsplit(self.uris["abfs"]).hostname
        return int(self.settings[f"{HADOOP}fs.azure.abfs.endpoint.{account}"].rsplit(":", 1)[1])

    @property
    def gcs_port(self) -> int:
        """Of the JSON protocol."""
        port = urlsplit(self.settings[f"{HADOOP}fs.gs.storage.root.url"]).port
        assert port is not None
        return port

    @property
    def s3_port(self) -> int:
        """Of S3's REST API."""
        port = urlsplit(self.settings[f"{HADOOP}fs.s3a.endpoint"]).port
        assert port is not None
        return port

    @property
    def lakefs_port(self) -> int:
        """Of lakeFS's REST API."""
        port = urlsplit(self.settings[f"{HADOOP}fs.lakefs.endpoint"]).port
        assert port is not None
        return port

    def control(self, method: str, path: str, body: object = None) -> Any:
        """Asks the control endpoint: ``control("GET", "log/abfs")``."""
        request = urllib.request.Request(
            self.uris["control"] + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def fault(self, store: str, **rule: object) -> int:
        """Adds a fault rule and gives its number."""
        number: int = self.control("POST", f"faults/{store}", rule)["number"]
        return number
