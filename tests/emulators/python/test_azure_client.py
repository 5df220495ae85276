# SPDX-License-Identifier: Apache-2.0
"""The ABFS emulator with Microsoft's own client, azure-storage-file-datalake."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
)
from azure.storage.filedatalake import (
    DataLakeFileClient,
    DataLakeServiceClient,
    FileSystemClient,
)
from emulated import HADOOP, Emulators

ACCOUNT = "emulated"


@pytest.fixture
def service(emulators: Emulators) -> Iterator[DataLakeServiceClient]:
    key = emulators.settings[f"{HADOOP}fs.azure.account.key.{ACCOUNT}.dfs.core.windows.net"]
    client = DataLakeServiceClient(
        f"http://127.0.0.1:{emulators.abfs_port}/{ACCOUNT}",
        credential={"account_name": ACCOUNT, "account_key": key},
        retry_total=0,
    )
    with client:
        yield client


@pytest.fixture
def filesystem(service: DataLakeServiceClient) -> Iterator[FileSystemClient]:
    """The one that is there, empty before and after."""
    client = service.get_file_system_client("data")
    assert names(client) == []
    yield client
    for name in names(client, recursive=False):
        client.delete_directory(name)


def written(filesystem: FileSystemClient, path: str, content: bytes) -> DataLakeFileClient:
    file = filesystem.create_file(path)
    file.append_data(content, 0)
    file.flush_data(len(content))
    return file


def names(filesystem: FileSystemClient, path: str | None = None, **kwargs: object) -> list[str]:
    return [entry.name for entry in filesystem.get_paths(path, **kwargs)]


def test_a_file_is_created_appended_flushed_and_read(filesystem: FileSystemClient) -> None:
    file = filesystem.create_file("a/b/part-0")
    # Out of order, as a driver's parallel uploads arrive.
    file.append_data(b"world", 6)
    file.append_data(b"hello ", 0)
    assert file.get_file_properties().size == 0

    file.flush_data(11)

    assert file.get_file_properties().size == 11
    assert file.download_file().readall() == b"hello world"
    assert file.download_file(offset=6, length=3).readall() == b"wor"
    assert file.get_file_properties().metadata == {}
    assert filesystem.get_directory_client("a/b").get_directory_properties().metadata == {
        "hdi_isfolder": "true"
    }


def test_a_flush_with_a_gap_is_refused(filesystem: FileSystemClient) -> None:
    file = filesystem.create_file("gap")
    file.append_data(b"later", 5)

    with pytest.raises(HttpResponseError) as refused:
        file.flush_data(10)

    assert refused.value.status_code == 400
    assert refused.value.error_code == "InvalidFlushPosition"
    assert file.get_file_properties().size == 0


def test_paths_are_listed_in_pages(filesystem: FileSystemClient) -> None:
    for name in ("d/a b", "d/c=1/ä%+", "d/c=1/z", "d/e", "f"):
        written(filesystem, name, b"12")

    everything = ["d", "d/a b", "d/c=1", "d/c=1/z", "d/c=1/ä%+", "d/e", "f"]
    assert names(filesystem) == everything
    assert names(filesystem, max_results=2) == everything
    assert names(filesystem, "d", recursive=False) == ["d/a b", "d/c=1", "d/e"]
    entries = {entry.name: entry for entry in filesystem.get_paths("d")}
    assert entries["d/c=1"].is_directory
    assert not entries["d/e"].is_directory
    assert entries["d/e"].content_length == 2
    assert entries["d/e"].owner == "$superuser"
    with pytest.raises(ResourceNotFoundError):
        names(filesystem, "nowhere")


def test_a_rename_keeps_the_etag(filesystem: FileSystemClient) -> None:
    file = written(filesystem, "from/file", b"content")
    filesystem.create_directory("to")
    etag = file.get_file_properties().etag

    moved = file.rename_file(f"{filesystem.file_system_name}/to/file")

    assert moved.get_file_properties().etag == etag
    assert moved.download_file().readall() == b"content"
    assert not file.exists()
    with pytest.raises(ResourceNotFoundError) as gone:
        file.rename_file(f"{filesystem.file_system_name}/to/other")
    assert gone.value.error_code == "SourcePathNotFound"


def test_a_rename_takes_preconditions(filesystem: FileSystemClient) -> None:
    source = written(filesystem, "source", b"new")
    target = written(filesystem, "target", b"old")
    to = f"{filesystem.file_system_name}/target"

    with pytest.raises(ResourceExistsError):
        source.rename_file(to, match_condition=MatchConditions.IfMissing)
    with pytest.raises(HttpResponseError) as refused:
        source.rename_file(
            to, source_etag="0x1", source_match_condition=MatchConditions.IfNotModified
        )
    assert refused.value.status_code == 412
    assert target.download_file().readall() == b"old"

    source.rename_file(
        to,
        source_etag=source.get_file_properties().etag,
        source_match_condition=MatchConditions.IfNotModified,
    )

    assert names(filesystem) == ["target"]
    assert target.download_file().readall() == b"new"


def test_a_directory_moves_with_all_below_it(filesystem: FileSystemClient) -> None:
    written(filesystem, "old/x/1", b"1")
    written(filesystem, "old/x/y/2", b"22")

    filesystem.get_directory_client("old").rename_directory(f"{filesystem.file_system_name}/new")

    assert names(filesystem) == ["new", "new/x", "new/x/1", "new/x/y", "new/x/y/2"]


def test_a_create_takes_preconditions(filesystem: FileSystemClient) -> None:
    file = written(filesystem, "file", b"first")
    etag = file.get_file_properties().etag

    with pytest.raises(ResourceExistsError):
        file.create_file(match_condition=MatchConditions.IfMissing)
    with pytest.raises(ResourceModifiedError):
        file.create_file(etag="0x1", match_condition=MatchConditions.IfNotModified)
    assert file.download_file().readall() == b"first"

    file.create_file(etag=etag, match_condition=MatchConditions.IfNotModified)

    assert file.get_file_properties().size == 0
    assert file.get_file_properties().etag != etag


def test_a_read_takes_preconditions(filesystem: FileSystemClient) -> None:
    file = written(filesystem, "file", b"content")
    with pytest.raises(ResourceModifiedError):
        file.download_file(etag="0x1", match_condition=MatchConditions.IfNotModified)


def test_files_and_directories_are_deleted(filesystem: FileSystemClient) -> None:
    file = written(filesystem, "d/file", b"x")
    written(filesystem, "d/e/file", b"x")

    file.delete_file()
    assert names(filesystem) == ["d", "d/e", "d/e/file"]
    filesystem.delete_directory("d")

    assert names(filesystem) == []
    with pytest.raises(ResourceNotFoundError):
        file.delete_file()


def test_access_rights_are_kept(filesystem: FileSystemClient) -> None:
    directory = filesystem.create_directory("d", permissions="0751", umask="0000")
    access = directory.get_access_control()
    assert access["permissions"] == "rwxr-x--x"
    assert access["acl"] == "user::rwx,group::r-x,other::--x"
    assert access["owner"] == "$superuser"


def test_a_fault_is_injected_through_the_control_endpoint(
    emulators: Emulators, filesystem: FileSystemClient
) -> None:
    file = written(filesystem, "from", b"x")
    rule = emulators.fault("abfs", operation="rename", action="applyThenFail", status=503)

    with pytest.raises(HttpResponseError) as failed:
        file.rename_file(f"{filesystem.file_system_name}/to")

    assert failed.value.status_code == 503
    assert failed.value.error_code == "ServerBusy"
    assert names(filesystem) == ["to"]
    assert emulators.control("GET", f"faults/abfs/{rule}") == {"applied": 1, "held": 0}
    renames = [
        entry for entry in emulators.control("GET", "log/abfs") if entry["operation"] == "rename"
    ]
    assert [(entry["path"], entry["status"], entry["cause"]) for entry in renames] == [
        ("/to", 503, "fault")
    ]
