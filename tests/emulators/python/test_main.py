# SPDX-License-Identifier: Apache-2.0
"""The main: what it prints, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest
from emulated import HADOOP, Emulators, command


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def trust_store(emulators: Emulators) -> Path:
    options = emulators.settings["spark.driver.extraJavaOptions"].split()
    values = dict(option.split("=", 1) for option in options)
    return Path(values["-Djavax.net.ssl.trustStore"])


def test_it_serves_on_the_ports_that_are_asked_for_until_its_input_ends() -> None:
    abfs, gcs, s3, lakefs = ports = free_port(), free_port(), free_port(), free_port()

    with Emulators(
        f"--abfs-port={abfs}", f"--gcs-port={gcs}", f"--s3-port={s3}", f"--lakefs-port={lakefs}"
    ) as started:
        assert (
            started.abfs_port,
            started.gcs_port,
            started.s3_port,
            started.lakefs_port,
        ) == ports
        for port in ports:
            socket.create_connection(("127.0.0.1", port)).close()
        # Only this machine reaches it.
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", abfs))
        trusted = trust_store(started)
        assert trusted.exists()

    assert started.returncode == 0
    assert not trusted.parent.exists()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", abfs))


def test_what_it_prints_reaches_all_stores(emulators: Emulators) -> None:
    assert emulators.uris["abfs"] == "abfs://data@emulated.dfs.core.windows.net/"
    assert emulators.uris["abfss"] == "abfss://data@emulatedtls.dfs.core.windows.net/"
    assert emulators.uris["gs"] == "gs://emulated/"
    assert emulators.uris["folders"] == "gs://hierarchical/"
    assert emulators.uris["s3a"] == "s3a://emulated/"
    assert emulators.uris["lakefs"] == "lakefs://lake/main/"
    assert emulators.settings[f"{HADOOP}fs.azure.always.use.https"] == "false"
    gateway = f"http://127.0.0.1:{emulators.lakefs_port}"
    assert emulators.settings[f"{HADOOP}fs.s3a.bucket.lake.endpoint"] == gateway
    for store in ("abfs", "gcs", "s3", "lakefs"):
        assert emulators.control("GET", f"log/{store}") == []
    driver = emulators.settings["spark.driver.extraJavaOptions"]
    assert driver == emulators.settings["spark.executor.extraJavaOptions"]
    assert trust_store(emulators).stat().st_size > 0


def test_a_signal_ends_it() -> None:
    signals = (signal.SIGINT, signal.SIGTERM)
    children = [
        # A shell's background jobs ignore SIGINT, and so would all that they start.
        subprocess.Popen(
            command(),
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        for _ in signals
    ]
    for child in children:
        assert child.stdout is not None
        assert "# ready\n" in iter(child.stdout.readline, "")

    for child, number in zip(children, signals, strict=True):
        child.send_signal(number)

    for child, number in zip(children, signals, strict=True):
        child.communicate()
        # A JVM's exit code for a signal by which it ended in an orderly way.
        assert child.returncode == 128 + number


@pytest.mark.parametrize(
    "argument", ["--abfs-port=x", "--gcs-port=70000", "--s3-port=-1", "--lakefs-port=x", "--port=1"]
)
def test_wrong_usage_is_explained(argument: str) -> None:
    ended = subprocess.run(command(argument), capture_output=True, text=True, check=False)

    assert ended.returncode == 2
    assert argument in ended.stderr
    assert "Usage:" in ended.stderr


def test_a_port_that_is_taken_is_named(emulators: Emulators) -> None:
    argument = f"--abfs-port={emulators.abfs_port}"

    ended = subprocess.run(command(argument), capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert str(emulators.abfs_port) in ended.stderr
    assert "ready" not in ended.stdout
