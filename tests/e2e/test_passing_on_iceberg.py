# SPDX-License-Identifier: Apache-2.0
"""What an Iceberg table takes of a job's files, and what it refuses; without Spark."""

from __future__ import annotations

import datetime
import gc
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import manifest_committer as mc
from manifest_committer import _iceberg
from manifest_committer._listing import published

pytestmark = [pytest.mark.local_disk, pytest.mark.once]

DYNAMIC = "dynamic overwrite"


@dataclass(frozen=True)
class File:
    path: str
    size: int


@dataclass
class Lake:
    """A table of directories, and one of Iceberg."""

    root: Path
    jobs: int = 0
    catalog: Any = None
    table: Any = None
    kept: list[tuple[Any, list[str]]] = field(default_factory=list)

    @property
    def source(self) -> str:
        return f"file:{self.root}/source"

    def create(self, columns: dict[str, Any], by: tuple[str, ...] = ("p",), **more: Any) -> Any:
        """Makes the Iceberg table; the columns are optional."""
        from pyiceberg.partitioning import PartitionField, PartitionSpec
        from pyiceberg.schema import Schema
        from pyiceberg.transforms import IdentityTransform
        from pyiceberg.types import NestedField

        fields = [NestedField(i, name, kind) for i, (name, kind) in enumerate(columns.items(), 1)]
        schema = more.pop("schema", None) or Schema(*fields)
        ids = {f.name: f.field_id for f in schema.fields}
        spec = more.pop("partition_spec", None) or PartitionSpec(
            *(PartitionField(ids[n], 1000 + i, IdentityTransform(), n) for i, n in enumerate(by))
        )
        self.table = self.catalog.create_table("db.t", schema, partition_spec=spec, **more)
        return self.table

    def job(self, files: dict[str, Any], write: str = "append") -> tuple[Any, list[File]]:
        """What a job wrote: Arrow tables by their paths."""
        import pyarrow.parquet

        self.jobs += 1
        listed = []
        for path, rows in files.items():
            target = self.root / "source" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(rows, bytes):
                target.write_bytes(rows)
            else:
                pyarrow.parquet.write_table(rows, target, use_deprecated_int96_timestamps=False)
            listed.append(File(path, target.stat().st_size))
        job = type(
            "Job", (), {"job_id": f"job-{self.jobs}", "timestamp": self.jobs, "write": write}
        )
        return job, listed

    def pass_on(self, job: tuple[Any, list[File]]) -> int:
        made, listed = job
        return _iceberg.add_files(self.table, made, published(self.source, listed))

    def remove(self, path: str) -> None:
        place = self.root / "source" / path
        shutil.rmtree(place) if place.is_dir() else place.unlink()

    def rows(self) -> list[Any]:
        rows = self.table.refresh().scan().to_arrow().to_pylist()
        return sorted((tuple(row.values()) for row in rows), key=str)

    def state(self) -> Any:
        metadata = self.table.refresh().metadata
        return metadata.current_snapshot_id, dict(metadata.properties)


def numbers(*values: int) -> Any:
    import pyarrow

    return pyarrow.table({"v": pyarrow.array(values, pyarrow.int64())})


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog(
        "local", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/iceberg"
    )
    catalog.create_namespace("db")
    yield Lake(tmp_path, catalog=catalog)
    catalog.close()


@pytest.fixture
def simple(lake: Lake) -> Lake:
    """Numbers in partitions of numbers."""
    from pyiceberg.types import IntegerType, LongType

    lake.create({"v": LongType(), "p": IntegerType()})
    return lake


def test_values_of_partitions_are_read_back(lake: Lake) -> None:
    from pyiceberg import types

    columns = {
        "v": types.LongType(),
        "b": types.BooleanType(),
        "i": types.IntegerType(),
        "l": types.LongType(),
        "s": types.StringType(),
        "d": types.DateType(),
        "n": types.DecimalType(6, 2),
        "t": types.TimestampType(),
    }
    lake.create(columns, tuple(columns)[1:])
    odd = "b=true/i=01/l=-3/s=a%2Fb c/d=2024-02-29/n=1.50/t=2024-01-01 00%3A00%3A00.5"
    null = "/".join(f"{name}=__HIVE_DEFAULT_PARTITION__" for name in tuple(columns)[1:])
    assert (
        lake.pass_on(lake.job({f"{odd}/f.parquet": numbers(1), f"{null}/f.parquet": numbers(2)}))
        == 2
    )
    day, time = datetime.date(2024, 2, 29), datetime.datetime(2024, 1, 1, 0, 0, 0, 500_000)
    assert lake.rows() == [
        (1, True, 1, -3, "a/b c", day, Decimal("1.50"), time),
        (2, *[None] * 7),
    ]
    found = lake.table.scan(row_filter="s = 'a/b c' AND d = '2024-02-29'").to_arrow()
    assert found["v"].to_pylist() == [1]


def test_a_table_without_partitions(lake: Lake) -> None:
    from pyiceberg.types import LongType

    lake.create({"v": LongType()}, ())
    assert lake.pass_on(lake.job({"a.parquet": numbers(1)})) == 1
    lake.remove("a.parquet")
    assert lake.pass_on(lake.job({"b.parquet": numbers(2)}, "overwrite")) == 1
    assert lake.rows() == [(2,)]
    lake.remove("b.parquet")
    assert lake.pass_on(lake.job({}, "overwrite")) == 0
    assert lake.rows() == []


@pytest.mark.parametrize(
    ("write", "kept"),
    [
        ("overwrite", [3]),
        ("overwrite (new table)", [3]),
        (DYNAMIC, [2, 3]),
        ("append that replaces partitions", [2, 3]),
        ("dynamic overwrite (new table)", [3]),
    ],
)
def test_what_an_overwrite_replaced_goes_with_the_same_snapshot(
    simple: Lake, write: str, kept: list[int]
) -> None:
    simple.pass_on(simple.job({"p=1/a.parquet": numbers(1), "p=2/a.parquet": numbers(2)}))
    simple.remove("p=1/a.parquet")
    if 2 not in kept:
        simple.remove("p=2/a.parquet")
    job = simple.job({"p=1/b.parquet": numbers(3)}, write)
    assert (simple.pass_on(job), simple.pass_on(job)) == (1, 0)
    assert [row[0] for row in simple.rows()] == kept
    assert len(simple.table.metadata.snapshots) == 2


def test_of_many_files_few_are_in_memory_and_all_appear_at_once(
    simple: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a thousand times as many; those that it replaces, too."""
    from pyiceberg.manifest import DataFile

    monkeypatch.setattr(_iceberg, "_AT_ONCE", 3)
    monkeypatch.setattr(_iceberg, "_A_SNAPSHOT", 10)
    simple.pass_on(simple.job({f"p=1/a{n}.parquet": numbers(0) for n in range(45)}))
    simple.remove("p=1")
    at_commit = []
    commit = simple.catalog.commit_table

    def counting(*arguments: Any) -> Any:
        at_commit.append(sum(isinstance(found, DataFile) for found in gc.get_objects()))
        return commit(*arguments)

    monkeypatch.setattr(simple.catalog, "commit_table", counting)
    before = sum(isinstance(found, DataFile) for found in gc.get_objects())
    files = {f"p=1/b{n}.parquet": numbers(n) for n in range(1, 36)}
    job = simple.job(files, "overwrite")
    assert (simple.pass_on(job), simple.pass_on(job)) == (35, 0)
    assert [row[0] for row in simple.rows()] == sorted(range(1, 36), key=lambda n: str((n, 1)))
    (held,) = at_commit
    assert held - before < 40, "of 80"
    assert len(simple.table.metadata.snapshots) == 5 + 5


def test_static_partitions_that_are_gone_are_found_by_their_files(simple: Lake) -> None:
    files = {f"p={n}/a.parquet": numbers(n) for n in range(3)}
    simple.pass_on(simple.job(files))
    simple.remove("p=1/a.parquet")
    simple.remove("p=2/a.parquet")
    assert simple.pass_on(simple.job({"p=1/b.parquet": numbers(3)}, "overwrite of partitions")) == 1
    assert [row[0] for row in simple.rows()] == [0, 3]


def test_files_that_are_not_of_the_job_stay(simple: Lake) -> None:
    """Those of other directories, and those of a job that ended later."""
    simple.table.append(numbers_in(9, 9))
    overwrite = simple.job({"p=1/a.parquet": numbers(1)}, "overwrite")
    later = simple.job({"p=1/b.parquet": numbers(2)})
    simple.pass_on(later)
    assert simple.pass_on(overwrite) == 1
    assert [row[0] for row in simple.rows()] == [1, 2, 9]


def numbers_in(value: int, partition: int) -> Any:
    import pyarrow

    return pyarrow.table(
        {
            "v": pyarrow.array([value], pyarrow.int64()),
            "p": pyarrow.array([partition], pyarrow.int32()),
        }
    )


def test_a_replaced_file_that_is_still_there_stops_an_overwrite(simple: Lake) -> None:
    simple.pass_on(simple.job({"p=1/a.parquet": numbers(1)}))
    before = simple.state()
    for write in ("overwrite", DYNAMIC, "overwrite of partitions"):
        job = simple.job({"p=1/b.parquet": numbers(2)}, write)
        with pytest.raises(
            mc.PassingOnError, match=r"a\.parquet is still there.*recover and clean"
        ):
            simple.pass_on(job)
    assert simple.state() == before


def test_another_who_passes_on_the_same_report(simple: Lake, monkeypatch: Any) -> None:
    """Between the look and the commit: the data is there once."""
    job = simple.job({"p=1/a.parquet": numbers(1)})
    commit = _iceberg._commit_once
    other = Lake(simple.root, catalog=simple.catalog, table=simple.catalog.load_table("db.t"))

    def late(*arguments: Any) -> None:
        monkeypatch.setattr(_iceberg, "_commit_once", commit)
        assert other.pass_on(job) == 1
        commit(*arguments)

    monkeypatch.setattr(_iceberg, "_commit_once", late)
    assert simple.pass_on(job) == 0
    assert [row[0] for row in simple.rows()] == [1]
    second = simple.job({"p=1/b.parquet": numbers(2)})

    def busy(*arguments: Any) -> None:
        monkeypatch.setattr(_iceberg, "_commit_once", commit)
        other.table.refresh().append(numbers_in(3, 3))
        commit(*arguments)

    monkeypatch.setattr(_iceberg, "_commit_once", busy)
    assert simple.pass_on(second) == 1
    assert [row[0] for row in simple.rows()] == [1, 2, 3]


def test_a_table_that_changes_its_columns_meanwhile(simple: Lake, monkeypatch: Any) -> None:
    from pyiceberg.types import LongType

    other = simple.catalog.load_table("db.t")
    partition = _iceberg._Adding._partition

    def late(*arguments: Any) -> Any:
        monkeypatch.undo()
        with other.update_schema() as change:
            change.add_column("w", LongType())
        return partition(*arguments)

    monkeypatch.setattr(_iceberg._Adding, "_partition", late)
    job = simple.job({"p=1/a.parquet": numbers(1)})
    with pytest.raises(mc.PassingOnError, match=r"db\.t were changed meanwhile.*call it again"):
        simple.pass_on(job)
    assert simple.rows() == []
    assert simple.pass_on(job) == 1
    assert simple.rows() == [(1, 1, None)]


def test_a_table_with_other_partitions_before(lake: Lake) -> None:
    from pyiceberg.types import IntegerType, LongType

    lake.create({"v": LongType(), "p": IntegerType()}, ())
    lake.pass_on(lake.job({"old.parquet": arrow(v=(1, "long"), p=(1, "int"))()}))
    with lake.table.update_spec() as change:
        change.add_identity("p")
    lake.remove("old.parquet")
    assert lake.pass_on(lake.job({"p=1/a.parquet": numbers(2)}, "overwrite")) == 1
    assert lake.rows() == [(2, 1)]


def test_a_report_whose_snapshot_is_forgotten_or_rolled_back(
    simple: Lake, monkeypatch: Any
) -> None:
    first = simple.job({"p=1/a.parquet": numbers(1), "p=2/a.parquet": numbers(2)})
    simple.pass_on(first)
    before = simple.state()
    monkeypatch.setattr(_iceberg, "_was_passed_on", lambda *_: False)
    assert simple.pass_on(first) == 0
    with pytest.raises(mc.PassingOnError, match="1 of the 2 files of job job-2 are in"):
        simple.pass_on(simple.job({"p=1/a.parquet": numbers(1), "p=1/c.parquet": numbers(3)}))
    assert simple.state() == before
    monkeypatch.undo()
    second = simple.job({"p=3/d.parquet": numbers(4)})
    simple.pass_on(second)
    simple.table.manage_snapshots().rollback_to_snapshot(before[0]).commit()
    assert simple.pass_on(second) == 1
    assert [row[0] for row in simple.rows()] == [1, 2, 4]


def test_many_partitions(simple: Lake) -> None:
    files = {f"p={n}/a.parquet": numbers(n) for n in range(300)}
    simple.pass_on(simple.job(files))
    shutil.rmtree(simple.root / "source")
    assert simple.pass_on(simple.job({"p=7/b.parquet": numbers(7)}, "overwrite")) == 1
    assert [row[0] for row in simple.rows()] == [7]


def arrow(**columns: Any) -> Callable[[], Any]:
    def make() -> Any:
        import pyarrow

        types = {"int": pyarrow.int32(), "text": pyarrow.string(), "ns": pyarrow.timestamp("ns")}
        arrays = {
            n: pyarrow.array([v], types.get(k, pyarrow.int64())) for n, (v, k) in columns.items()
        }
        return pyarrow.table(arrays)

    return make


@pytest.mark.parametrize(
    ("path", "rows", "cause"),
    [
        ("p=1/f.orc", arrow(v=(1, "long")), "no Parquet file by its name"),
        ("p=1/f.parquet", lambda: b"no parquet", r"db.t cannot take file:.*f\.parquet"),
        ("p=1/f.parquet", arrow(v=("a", "text")), "cannot take.*string"),
        ("p=1/f.parquet", arrow(V=(1, "long")), "cannot take.*more columns: V"),
        ("p=1/f.parquet", arrow(v=(1, "long"), w=(1, "long")), "cannot take.*more columns: w"),
        ("p=1/f.parquet", arrow(v=(1, "ns")), "cannot take.*TIMESTAMP_MICROS"),
        ("P=1/f.parquet", arrow(v=(1, "long")), r"columns \(P\).*are of \(p\).*written alike"),
        ("f.parquet", arrow(v=(1, "long")), r"columns \(\).*are of \(p\)"),
        ("q=1/p=1/f.parquet", arrow(v=(1, "long")), r"columns \(q, p\).*are of \(p\)"),
        ("p=one/f.parquet", arrow(v=(1, "long")), "'one' is no value of p, a int"),
        ("p=1.5/f.parquet", arrow(v=(1, "long")), "'1.5' is no value of p"),
        ("p=3000000000/f.parquet", arrow(v=(1, "long")), "out of range"),
        ("p=1#/f.parquet", arrow(v=(1, "long")), "has a . or a # in its path"),
        ("file:/else/f.parquet", None, "lies outside of the table"),
        ("p=1/gone.parquet", None, "is gone: a later job"),
    ],
)
def test_what_iceberg_cannot_take(simple: Lake, path: str, rows: Any, cause: str) -> None:
    """By name, and nothing is changed: not even for the files that it could take."""
    job, listed = simple.job({"p=1/good.parquet": numbers(1)})
    listed += simple.job({path: rows()})[1] if rows is not None else [File(path, 1)]
    before = simple.state()
    with pytest.raises(mc.PassingOnError, match=f"(?s){cause}"):
        simple.pass_on((job, listed))
    assert simple.state() == before
    assert simple.rows() == []


def test_columns_that_are_required(lake: Lake) -> None:
    """Spark's files say that any column may be null; pyiceberg reads none that is not in them."""
    from pyiceberg.schema import Schema
    from pyiceberg.types import IntegerType, LongType, NestedField

    for required, cause in (("v", "cannot take"), ("p", r"p is required.*Make it optional")):
        v = NestedField(1, "v", LongType(), required=required == "v")
        p = NestedField(2, "p", IntegerType(), required=required == "p")
        lake.create({}, schema=Schema(v, p))
        with pytest.raises(mc.PassingOnError, match=cause):
            lake.pass_on(lake.job({"p=1/a.parquet": numbers(1)}))
        lake.catalog.drop_table("db.t")


def test_partitions_that_directories_do_not_say(lake: Lake) -> None:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import BucketTransform, IdentityTransform
    from pyiceberg.types import LongType, TimestamptzType

    columns = {"v": LongType(), "t": TimestamptzType()}
    for spec, cause in (
        (PartitionField(1, 1000, BucketTransform(4), "v_bucket"), r"v_bucket = bucket\[4\]\(v\)"),
        (PartitionField(1, 1000, IdentityTransform(), "other"), r"other = identity\(v\)"),
        (PartitionField(2, 1000, IdentityTransform(), "t"), "does not say such a value"),
    ):
        lake.create(columns, partition_spec=PartitionSpec(spec))
        with pytest.raises(mc.PassingOnError, match=cause):
            lake.pass_on(lake.job({"t=1/a.parquet": numbers(1)}))
        lake.catalog.drop_table("db.t")


def test_a_name_mapping_that_would_read_files_wrong(simple: Lake) -> None:
    key = "schema.name-mapping.default"
    with simple.table.transaction() as change:
        change.set_properties({key: '[{"field-id": 2, "names": ["v"]}]'})
    with pytest.raises(mc.PassingOnError, match=r"does not have the column v.*Repair its property"):
        simple.pass_on(simple.job({"p=1/a.parquet": numbers(1)}))
    with simple.table.transaction() as change:
        mapping = simple.table.metadata.schema().name_mapping.model_dump_json()
        change.set_properties({key: mapping})
    assert simple.pass_on(simple.job({"p=1/a.parquet": numbers(1)})) == 1
    with simple.table.update_schema() as change:
        change.rename_column("v", "w")
    assert simple.pass_on(simple.job({"p=1/b.parquet": arrow(w=(2, "long"))()})) == 1
    assert [row[0] for row in simple.rows()] == [1, 2]


def test_a_report_that_does_not_say_what_it_did(simple: Lake) -> None:
    with pytest.raises(mc.PassingOnError, match="does not say whether it appended or replaced"):
        simple.pass_on(simple.job({"p=1/a.parquet": numbers(1)}, ""))
