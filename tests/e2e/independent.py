# SPDX-License-Identifier: Apache-2.0
"""Servers of S3's and Google's protocols that others wrote, on free ports of 127.0.0.1."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPException
from pathlib import Path

from places import call

IDENTITIES = {
    "identities": [
        {
            "name": "sessions",
            "credentials": [{"accessKey": "key", "secretKey": "secret"}],
            "actions": ["Admin"],
        },
        {"name": "anonymous", "actions": ["Admin"]},
    ]
}
"""SeaweedFS looks at signatures; the tests' own client gives none."""

VENVS = Path(__file__).parents[2] / ".venv"


@contextmanager
def seaweedfs(scratch: Path) -> Iterator[int]:
    """SeaweedFS, which writes to the disk, as the port of its gateway for S3."""
    ports = _free_ports(8)
    options = ["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={scratch}", "-s3"]
    names = ("master", "volume", "filer", "s3")
    options += [f"-{name}.port={port}" for name, port in zip(names, ports[:4], strict=True)]
    options += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[4:], strict=True)]
    options += ["-s3.port.iceberg=0", "-s3.port.lance=0"]
    identities = scratch / "seaweedfs.json"
    identities.write_text(json.dumps(IDENTITIES), "utf-8")
    options.append(f"-s3.config={identities}")
    # A bucket takes several volumes, and each reserves its size.
    options += ["-volume.max=400", "-master.volumeSizeLimitMB=64"]
    with _serving("s3/bin/weed", options, scratch, ports[3], "/"):
        yield ports[3]


@contextmanager
def fake_gcs(scratch: Path) -> Iterator[int]:
    """fake-gcs-server with one bucket, in memory, as its port."""
    (port,) = _free_ports(1)
    options = ["-scheme=http", "-host=127.0.0.1", f"-port={port}", "-backend=memory"]
    options += [f"-public-host=127.0.0.1:{port}", f"-external-url=http://127.0.0.1:{port}"]
    buckets = "/storage/v1/b?project=fake"
    with _serving("gcs/bin/fake-gcs-server", options, scratch, port, buckets):
        call(port, "POST", buckets, json.dumps({"name": "bucket"}).encode())
        yield port


@contextmanager
def _serving(name: str, options: list[str], scratch: Path, port: int, path: str) -> Iterator[None]:
    """The program serves for the length of the block, which begins once the path answers."""
    program = VENVS / name
    assert program.is_file(), f"{program} is missing: make .venv/{name.partition('/')[0]}/.done"
    log = scratch / f"{program.name}.log"
    with log.open("w") as output:
        process = subprocess.Popen([program, *options], stdout=output, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + 60
            while not _answers(port, path):
                assert process.poll() is None, f"The server ended:\n{log.read_text()}"
                assert time.monotonic() < end, f"The server does not answer:\n{log.read_text()}"
                time.sleep(0.2)
            yield
        finally:
            process.terminate()
            process.wait(timeout=60)


def _free_ports(count: int) -> list[int]:
    """All at once, so that none comes twice."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _answers(port: int, path: str) -> bool:
    try:
        _, answer = call(port, "GET", path)
    except (OSError, HTTPException):
        return False
    return answer.status == 200
