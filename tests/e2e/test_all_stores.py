# SPDX-License-Identifier: Apache-2.0
"""A session with tables on every store at once."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
import stores
from sessions import run_program

pytestmark = [
    pytest.mark.local_disk,
    pytest.mark.once,
    pytest.mark.classic(because="starts classic sessions of its own"),
]

NAMES = ("abfs", "gs", "s3a")


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """By ``s3://`` the root is also written to where S3A is only bound to that scheme."""
    scratch = tmp_path_factory.mktemp("stores")
    with stores.emulators() as emulated:
        settings = emulated.settings.items()
        conf = {
            **{key: value for key, value in settings if key.startswith("spark.hadoop.")},
            **stores.MAGIC_CONF,
            "spark.hadoop.mapreduce.manifest.committer.s3.write.to": "disk",
            "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
            "spark.hadoop.fs.s3a.buffer.dir": str(scratch / "s3a"),
            "spark.driver.extraClassPath": os.pathsep.join(map(stores.class_path_of, NAMES)),
            "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        }
        tables = {name: emulated.uris[name] + "all" for name in NAMES}
        roots = {name: emulated.uris[name].rstrip("/") for name in NAMES}
        return run_program(
            "all_stores.py",
            json.dumps(conf),
            json.dumps({"file": f"file:{scratch}", **tables}),
            json.dumps({**roots, "s3": roots["s3a"].replace("s3a:", "s3:")}),
        )


def test_one_configuration_serves_all_stores(answer: Any) -> None:
    expected = [[i, i % 4] for i in range(16) if i % 4 > 1] + [[100, 0], [101, 1]]
    assert set(answer["tables"]) == {"file", *NAMES}
    for store, found in answer["tables"].items():
        assert found["rows"] == expected, store
        first, appended, replaced = found["files"]
        # Eight rows by two tasks into four partitions; four rows, of which two are left.
        assert (first, appended, replaced) == (8, 8, 2), store
    by_rdd = {store: found["rdd"] for store, found in answer["tables"].items()}
    ours = "io.manifestcommitter.ManifestCommitter"
    assert by_rdd == {"file": "", "abfs": ours, "gs": ours, "s3a": "magic"}


def test_the_root_of_a_store_is_a_table_without_its_slash(answer: Any) -> None:
    assert set(answer["roots"]) == {*NAMES, "s3"}
    for store, found in answer["roots"].items():
        assert found["flat"] == list(range(12)), store
        assert found["parts"] == [i for i in range(16) if i % 4 > 1] + [100, 101], store
        (report,) = found["reports"]
        assert report[1] == 2, store
        assert (found["recovered"], found["cleaned"]) == (0, 0), store
        assert found["served"], store
