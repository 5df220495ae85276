# SPDX-License-Identifier: Apache-2.0
"""A session with tables on every store at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import stores
from sessions import run_program

pytestmark = [
    pytest.mark.local_disk,
    pytest.mark.once,
    pytest.mark.classic(because="starts classic sessions of its own"),
]

NAMES = ("abfs", "gs", "s3a")


def test_one_configuration_serves_all_stores(tmp_path: Path) -> None:
    expected = [[i, i % 4] for i in range(16) if i % 4 > 1] + [[100, 0], [101, 1]]
    with stores.emulators(tmp_path) as lines:
        settings = stores.properties(lines)
        uris = stores.uris(lines)
        class_path = os.pathsep.join(stores.class_path_of(name) for name in NAMES)
        answer = run_program(
            "all_stores.py",
            json.dumps(
                {
                    **{k: v for k, v in settings.items() if k.startswith("spark.hadoop.")},
                    "spark.hadoop.fs.s3a.buffer.dir": str(tmp_path / "s3a"),
                    "spark.driver.extraClassPath": class_path,
                }
            ),
            json.dumps(
                {"file": f"file:{tmp_path}", **{name: uris[name] + "all" for name in NAMES}}
            ),
        )
    assert set(answer) == {"file", *NAMES}
    for store, found in answer.items():
        assert found["rows"] == expected, store
        first, appended, replaced = found["files"]
        # Eight rows by two tasks into four partitions; four rows, of which two are left.
        assert (first, appended, replaced) == (8, 8, 2), store
    by_rdd = {store: found["rdd"] for store, found in answer.items()}
    ours = "io.manifestcommitter.ManifestCommitter"
    assert by_rdd == {"file": "", "abfs": ours, "gs": ours, "s3a": "magic"}


def test_the_root_of_a_store_is_a_table_without_its_slash(tmp_path: Path) -> None:
    """By ``s3://`` also where S3A is only bound to that scheme."""
    with stores.emulators(tmp_path) as lines:
        settings = stores.properties(lines)
        uris = stores.uris(lines)
        roots = {name: uris[name].rstrip("/") for name in NAMES}
        roots["s3"] = roots["s3a"].replace("s3a:", "s3:")
        class_path = os.pathsep.join(stores.class_path_of(name) for name in NAMES)
        answer = run_program(
            "roots.py",
            json.dumps(
                {
                    **{k: v for k, v in settings.items() if k.startswith("spark.hadoop.")},
                    **stores.MAGIC_CONF,
                    "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
                    "spark.hadoop.fs.s3a.buffer.dir": str(tmp_path / "s3a"),
                    "spark.driver.extraClassPath": class_path,
                    "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
                }
            ),
            json.dumps(roots),
        )
    assert set(answer) == {*NAMES, "s3"}
    for store, found in answer.items():
        assert found["flat"] == list(range(12)), store
        assert found["parts"] == [i for i in range(16) if i % 4 > 1] + [100, 101], store
        (report,) = found["reports"]
        assert report[1] == 2, store
        assert (found["recovered"], found["cleaned"]) == (0, 0), store
        assert found["served"], store
