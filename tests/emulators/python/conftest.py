# SPDX-License-Identifier: Apache-2.0
"""One set of emulators for all clients; every test starts with empty logs and no faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from emulated import Emulators


@pytest.fixture(scope="session")
def running_emulators() -> Iterator[Emulators]:
    # Empty and 0, as make passes them on: ports that are picked.
    with Emulators("--abfs-port=", "--gcs-port=0", "--s3-port=", "--lakefs-port=") as started:
        yield started


@pytest.fixture
def emulators(running_emulators: Emulators) -> Emulators:
    for store in ("abfs", "gcs", "s3", "lakefs"):
        running_emulators.control("DELETE", f"faults/{store}")
        running_emulators.control("DELETE", f"log/{store}")
    return running_emulators
