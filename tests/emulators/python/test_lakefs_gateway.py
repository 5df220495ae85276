# SPDX-License-Identifier: Apache-2.0
"""The S3 gateway of the emulator of lakeFS, as Amazon's own Python client sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from lakefs_branches import Repository

if TYPE_CHECKING:
    from emulated import Emulators

HOSTILE = "main/a file + ü#?%2F&<>\"'="


@pytest.fixture
def repository(emulators: Emulators) -> Repository:
    return Repository(emulators)


@pytest.fixture
def client(repository: Repository) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{repository.emulators.lakefs_port}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )


class Upload:
    """An upload of one part."""

    def __init__(self, client: Any, bucket: str, key: str) -> None:
        self.client = client
        self.named = {"Bucket": bucket, "Key": key}
        self.named["UploadId"] = client.create_multipart_upload(**self.named)["UploadId"]
        part = client.upload_part(**self.named, PartNumber=1, Body=b"1")
        self.parts = [{"PartNumber": 1, "ETag": part["ETag"]}]

    def complete(self, **conditions: str) -> Any:
        parts = {"Parts": self.parts}
        return self.client.complete_multipart_upload(
            **self.named, MultipartUpload=parts, **conditions
        )

    def abort(self) -> None:
        self.client.abort_multipart_upload(**self.named)


@pytest.fixture
def upload(repository: Repository, client: Any) -> Upload:
    return Upload(client, repository.name, "main/f")


def refused(code: str) -> Any:
    return pytest.raises(ClientError, match=f"\\({code}\\)")


def keys(client: Any, bucket: str, prefix: str = "main/") -> list[str]:
    listed = client.list_objects_v2(Bucket=bucket, Prefix=prefix)
    return [found["Key"] for found in listed.get("Contents", [])]


def test_what_is_put_is_staged(repository: Repository, client: Any) -> None:
    client.put_object(Bucket=repository.name, Key=HOSTILE, Body=b"0123", Metadata={"key": "value"})

    got = client.get_object(Bucket=repository.name, Key=HOSTILE, Range="bytes=1-2")

    assert (got["Body"].read(), got["Metadata"]) == (b"12", {"key": "value"})
    assert keys(client, repository.name) == [HOSTILE]
    assert repository.paths("main") == [HOSTILE.removeprefix("main/")]
    assert repository.paths("main@") == []
    client.delete_object(Bucket=repository.name, Key=HOSTILE)
    assert keys(client, repository.name) == []


def test_what_is_committed_is_seen(repository: Repository, client: Any) -> None:
    commit = repository.commit_file(repository.branch("job"), "d/f")

    assert keys(client, repository.name, "job/d/") == ["job/d/f"]
    assert client.get_object(Bucket=repository.name, Key=f"{commit}/d/f")["Body"].read() == b"x"


def test_a_listing_tells_the_size_that_was_linked(repository: Repository, client: Any) -> None:
    repository.link("main", "f", repository.address("main", "f"))

    (listed,) = client.list_objects_v2(Bucket=repository.name)["Contents"]

    assert listed["Size"] == 1


def test_a_copy(repository: Repository, client: Any) -> None:
    repository.put("main", "f", "1")

    client.copy_object(
        Bucket=repository.name, Key="main/copy", CopySource=f"{repository.name}/main/f"
    )

    assert repository.get("main", "copy") == b"1"


def test_a_repository_that_is_not_there(client: Any) -> None:
    with refused("NoSuchBucket"):
        client.list_objects_v2(Bucket="nowhere")


def test_a_branch_that_is_not_there(repository: Repository, client: Any) -> None:
    with refused("NoSuchBucket"):
        client.put_object(Bucket=repository.name, Key="nowhere/f", Body=b"")


def test_a_protected_branch(repository: Repository, client: Any) -> None:
    repository.protect("main")

    with refused("ErrWriteToProtectedBranch"):
        client.put_object(Bucket=repository.name, Key="main/f", Body=b"")


def test_the_etag_of_a_completion_ends_in_its_parts(upload: Upload) -> None:
    assert upload.complete()["ETag"].endswith('-1"')


def test_the_etag_afterwards_does_not(client: Any, upload: Upload) -> None:
    etag = upload.complete()["ETag"]

    (listed,) = client.list_objects_v2(Bucket=upload.named["Bucket"])["Contents"]

    head = client.head_object(Bucket=upload.named["Bucket"], Key="main/f")
    assert head["ETag"] == listed["ETag"] == etag.replace("-1", "")


def test_a_completion_that_is_repeated(upload: Upload) -> None:
    upload.complete()

    with refused("InternalError"):
        upload.complete()


def test_a_completion_after_an_abort(upload: Upload) -> None:
    upload.abort()

    with refused("InternalError"):
        upload.complete()


def test_an_abort_after_a_completion(upload: Upload) -> None:
    upload.complete()

    with refused("NoSuchKey"):
        upload.abort()


def test_an_abort_that_is_repeated(upload: Upload) -> None:
    upload.abort()

    with refused("NoSuchKey"):
        upload.abort()


def test_uploads_are_not_listed_by_prefix(client: Any, upload: Upload) -> None:
    with refused("NotImplemented"):
        client.list_multipart_uploads(Bucket=upload.named["Bucket"], Prefix="main/")


def test_uploads_are_listed_without_their_branches(client: Any, upload: Upload) -> None:
    (listed,) = client.list_multipart_uploads(Bucket=upload.named["Bucket"])["Uploads"]

    assert (listed["Key"], listed["UploadId"]) == ("f", upload.named["UploadId"])


def test_a_file_only_if_new(repository: Repository, client: Any) -> None:
    repository.put("main", "f")

    with refused("PreconditionFailed"):
        client.put_object(Bucket=repository.name, Key="main/f", Body=b"", IfNoneMatch="*")


def test_a_file_if_it_matches(repository: Repository, client: Any) -> None:
    repository.put("main", "f")

    with refused("NotImplemented"):
        client.put_object(Bucket=repository.name, Key="main/f", Body=b"", IfMatch="*")


def test_a_completion_only_if_new(repository: Repository, upload: Upload) -> None:
    repository.put("main", "f")

    with refused("PreconditionFailed"):
        upload.complete(IfNoneMatch="*")


def test_faults_and_the_log(client: Any, upload: Upload, emulators: Emulators) -> None:
    emulators.fault("lakefs", operation="s3-complete", action="refuse", status=503)

    with refused("SlowDown"):
        upload.complete()

    assert emulators.control("GET", "counts/lakefs")["s3-complete"] == 1
