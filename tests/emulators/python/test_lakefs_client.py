# SPDX-License-Identifier: Apache-2.0
"""The emulator of lakeFS as its own Python clients see it, generated and written."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import lakefs
import lakefs_sdk
import pytest
from lakefs.client import Client
from lakefs.exceptions import (
    ConflictException,
    NotAuthorizedException,
    NotFoundException,
    ObjectExistsException,
    ObjectNotFoundException,
)
from lakefs_branches import Repository, configuration, refused

if TYPE_CHECKING:
    from emulated import Emulators

HOSTILE = "dir/a file + ü#?%2F&<>\"'="


@pytest.fixture
def repository(emulators: Emulators) -> Iterator[Repository]:
    yield Repository(emulators)
    emulators.control("POST", "server/lakefs", {"blockstore": "s3", "without": []})


@pytest.fixture
def written(repository: Repository) -> lakefs.Repository:
    """The same through the client that is not generated."""
    settings = configuration(repository.emulators)
    client = Client(host=settings.host, username="key", password="secret")
    return lakefs.Repository(repository.name, client)


def put(url: str, content: bytes) -> str:
    request = urllib.request.Request(url, data=content, method="PUT")
    with urllib.request.urlopen(request) as answer:
        etag: str = answer.headers["ETag"].strip('"')
    return etag


def test_objects_go_through_the_server_and_by_presigned_urls(written: lakefs.Repository) -> None:
    main = written.branch("main")
    for pre_sign in (False, True):
        made = main.object(HOSTILE).upload(
            b"0123", pre_sign=pre_sign, content_type="text/x-test", metadata={"key": "value"}
        )

        stat = made.stat()
        assert (stat.path, stat.size_bytes, stat.content_type) == (HOSTILE, 4, "text/x-test")
        assert stat.metadata == {"key": "value"}
        assert stat.physical_address.startswith(f"s3://emulated/{written.id}/data/")
        assert stat.checksum == "eb62f6b9306db575c2d596b1279627a4"
        for read_signed in (False, True):
            with made.reader(pre_sign=read_signed) as reader:
                assert reader.read(2) == b"01"
                assert reader.read() == b"23"
        assert made.exists()
        with pytest.raises(ObjectExistsException):
            main.object(HOSTILE).upload(b"", mode="xb", pre_sign=pre_sign)
        main.object(HOSTILE).delete()
        assert not main.object(HOSTILE).exists()
    with pytest.raises(ObjectNotFoundException):
        main.object("none").stat()


def test_a_transaction_on_a_branch(written: lakefs.Repository) -> None:
    main = written.branch("main")
    main.object("old").upload(b"1")
    before = main.commit("before", metadata={"key": "value"}).get_commit()
    assert (before.message, before.metadata, len(before.parents)) == ("before", {"key": "value"}, 1)

    with main.transact(commit_message="transaction") as transaction:
        transaction.object("new").upload(b"2")
        transaction.object("old").delete()

    assert [found.path for found in main.objects()] == ["new"]
    merged, *others = [commit.message for commit in main.log()]
    assert merged.startswith("Merge transaction ")
    assert others == ["transaction", "before", "Repository created"]
    assert [branch.id for branch in written.branches()] == ["main"]


def test_branches_differences_and_merges(written: lakefs.Repository) -> None:
    main = written.branch("main")
    job = written.branch("job").create("main")
    with pytest.raises(ConflictException):
        written.branch("job").create("main")
    written.branch("job").create("main", exist_ok=True)
    job.object("a").upload(b"1")

    assert [(each.type, each.path) for each in job.uncommitted()] == [("added", "a")]
    assert list(main.diff("job")) == []
    head = job.commit("job")
    assert [(each.type, each.path, each.size_bytes) for each in main.diff(job)] == [
        ("added", "a", 1)
    ]
    merged = head.merge_into(main, message="merge", metadata={"key": "value"})

    commit = written.commit(merged).get_commit()
    assert commit.metadata == {"key": "value", ".lakefs.merge.strategy": "default"}
    assert commit.parents[1] == head.id
    job.delete()
    with pytest.raises(NotFoundException):
        job.get_commit()


def test_listings_of_more_than_a_page_and_of_a_level(written: lakefs.Repository) -> None:
    main = written.branch("main")
    made = [f"d/{i:04}" for i in range(105)]
    for path in [*made, "d/e/f", "g"]:
        main.object(path).upload(b"", pre_sign=False)

    assert [found.path for found in main.objects()] == [*made, "d/e/f", "g"]
    assert [found.path for found in main.objects(prefix="d/e")] == ["d/e/f"]
    assert [found.path for found in main.objects(delimiter="/")] == ["d/", "g"]
    assert [found.path for found in main.objects(delimiter="/", prefix="d/", after="d/0103")] == [
        "d/0104",
        "d/e/",
    ]
    main.delete_objects(made)
    assert [found.path for found in main.objects()] == ["d/e/f", "g"]


def test_upload_in_parts_by_presigned_urls(repository: Repository) -> None:
    api = repository.api.experimental_api
    begun = api.create_presign_multipart_upload(repository.name, "main", "big", parts=2)
    contents = (b"1" * (5 << 20), b"2")
    renewed = api.upload_part(
        repository.name,
        "main",
        begun.upload_id,
        "big",
        2,
        lakefs_sdk.UploadPartFrom(physical_address=begun.physical_address),
    )
    urls = (begun.presigned_urls[0], renewed.presigned_url)
    etags = [put(url, content) for url, content in zip(urls, contents, strict=True)]
    completion = lakefs_sdk.CompletePresignMultipartUpload(
        physical_address=begun.physical_address,
        parts=[lakefs_sdk.UploadPart(part_number=n, etag=etag) for n, etag in enumerate(etags, 1)],
    )

    stats = api.complete_presign_multipart_upload(
        repository.name, "main", begun.upload_id, "big", completion
    )

    assert stats.checksum.endswith("-2")
    assert repository.get("main", "big") == b"".join(contents)
    begun = api.create_presign_multipart_upload(repository.name, "main", "other", parts=1)
    api.abort_presign_multipart_upload(
        repository.name,
        "main",
        begun.upload_id,
        "other",
        lakefs_sdk.AbortPresignMultipartUpload(physical_address=begun.physical_address),
    )
    with pytest.raises(urllib.request.HTTPError, match="404"):
        put(begun.presigned_urls[0], b"")


def test_objects_are_in_the_bucket(repository: Repository) -> None:
    client: Any = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{repository.emulators.s3_port}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    location = repository.address("main", "f")
    key = location.physical_address.removeprefix("s3://emulated/")
    etag = client.put_object(Bucket="emulated", Key=key, Body=b"1")["ETag"]

    stats = repository.link("main", "f", location, etag)

    assert stats.checksum == etag.strip('"')
    assert repository.get("main", "f") == b"1"
    written = repository.put("main", "g", "2").physical_address.removeprefix("s3://emulated/")
    assert client.get_object(Bucket="emulated", Key=written)["Body"].read() == b"2"
    for used in (key, written):
        client.delete_object(Bucket="emulated", Key=used)


def test_objects_are_in_a_local_directory(emulators: Emulators, tmp_path: Path) -> None:
    repository = Repository(emulators, f"local://{tmp_path}/lake")
    location = repository.address("main", "f")
    file = Path(location.physical_address.removeprefix("local://"))
    file.parent.mkdir(parents=True)
    file.write_bytes(b"1")

    repository.link("main", "f", location)

    assert repository.get("main", "f") == b"1"
    assert Path(
        repository.put("main", "g", "2").physical_address.removeprefix("local://")
    ).read_bytes() == (b"2")
    with refused(500, "not supported"):
        repository.address("main", "f", presign=True)
    with refused(400, "not supported"):
        repository.api.objects_api.stat_object(repository.name, "main", "f", presign=True)


def test_what_the_server_says_of_its_storage(repository: Repository) -> None:
    def config() -> Any:
        return repository.api.config_api.get_config().storage_config

    assert (config().blockstore_type, config().pre_sign_support) == ("s3", True)
    assert (config().pre_sign_multipart_upload, config().import_support) == (True, True)
    repository.emulators.control(
        "POST", "server/lakefs", {"without": ["pre_sign_multipart_upload", "import_support"]}
    )
    assert (config().pre_sign_support, config().pre_sign_multipart_upload) == (True, False)
    assert not config().import_support
    with refused(501, "not supported"):
        repository.api.experimental_api.create_presign_multipart_upload(
            repository.name, "main", "big"
        )
    repository.emulators.control("POST", "server/lakefs", {"blockstore": "local", "without": []})
    assert (config().blockstore_type, config().pre_sign_support) == ("local", False)


def test_wrong_credentials(emulators: Emulators) -> None:
    host = configuration(emulators).host
    client = Client(host=host, username="key", password="wrong")

    with pytest.raises(NotAuthorizedException):
        list(lakefs.Repository("lake", client).branches())


@pytest.mark.parametrize("status", [410, 412, 429, 500, 503])
@pytest.mark.parametrize(("action", "done"), [("refuse", False), ("applyThenFail", True)])
def test_faults_come_as_errors_of_the_service(
    repository: Repository, status: int, action: str, done: bool
) -> None:
    repository.emulators.fault("lakefs", operation="commit", action=action, status=status)
    repository.put("main", "f")

    with refused(status, '"message"'):
        repository.commit("main", "mine")

    head = repository.api.commits_api.get_commit(repository.name, "main")
    assert (head.message == "mine") is done
    log = repository.emulators.control("GET", "log/lakefs")
    assert ("commit", f"/{repository.name}/main", status) in [
        (entry["operation"], entry["path"], entry["status"]) for entry in log
    ]
