# SPDX-License-Identifier: Apache-2.0
"""The emulator of S3 as Amazon's own Python client sees it."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from emulated import Emulators

BUCKET = "emulated"
PART = 5 << 20
HOSTILE = "dir/a file + ü#?%2F&<>\"'=\n"


@pytest.fixture
def client(emulators: Emulators) -> Iterator[Any]:
    """Of the bucket that is there from the start, empty before and after."""
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{emulators.s3_port}",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 2}),
    )
    assert keys(client) == []
    yield client
    for key in keys(client):
        client.delete_object(Bucket=BUCKET, Key=key)


def keys(client: Any) -> list[str]:
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    return [found["Key"] for page in pages for found in page.get("Contents", [])]


def refused(code: str) -> Any:
    return pytest.raises(ClientError, match=f"\\({code}\\)")


def test_put_and_get(client: Any) -> None:
    body = b"0123456789"
    put = client.put_object(
        Bucket=BUCKET, Key=HOSTILE, Body=body, ContentType="text/x-test", Metadata={"key": "value"}
    )

    head = client.head_object(Bucket=BUCKET, Key=HOSTILE)
    got = client.get_object(Bucket=BUCKET, Key=HOSTILE)

    assert keys(client) == [HOSTILE]
    assert head["ContentLength"] == 10
    assert head["ETag"] == got["ETag"] == put["ETag"]
    assert got["Body"].read() == body
    assert (got["ContentType"], got["Metadata"]) == ("text/x-test", {"key": "value"})
    part = client.get_object(Bucket=BUCKET, Key=HOSTILE, Range="bytes=2-4")
    assert part["Body"].read() == b"234"
    assert part["ContentRange"] == "bytes 2-4/10"
    with refused("InvalidRange"):
        client.get_object(Bucket=BUCKET, Key=HOSTILE, Range="bytes=10-")
    with refused("NoSuchKey"):
        client.get_object(Bucket=BUCKET, Key="dir")
    with refused("PreconditionFailed"):
        client.put_object(Bucket=BUCKET, Key=HOSTILE, Body=b"", IfNoneMatch="*")


def test_upload_in_parts(client: Any) -> None:
    content = random.Random(1).randbytes(2 * PART + 1)
    client.upload_fileobj(
        io.BytesIO(content),
        BUCKET,
        "big",
        Config=TransferConfig(multipart_threshold=PART, multipart_chunksize=PART),
    )

    got = client.get_object(Bucket=BUCKET, Key="big")

    assert got["Body"].read() == content
    assert got["ETag"].strip('"').endswith("-3")
    assert client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == []


def test_uploads_that_wait(client: Any) -> None:
    begun = {}
    for key in ("t/a", "t/b", "t2/a"):
        upload = client.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
        client.upload_part(Bucket=BUCKET, Key=key, UploadId=upload, PartNumber=1, Body=key.encode())
        begun[key] = upload

    assert keys(client) == []
    pages = client.get_paginator("list_multipart_uploads").paginate(
        Bucket=BUCKET, Prefix="t/", PaginationConfig={"PageSize": 1}
    )
    listed = [(u["Key"], u["UploadId"]) for page in pages for u in page.get("Uploads", [])]
    assert listed == [(key, begun[key]) for key in ("t/a", "t/b")]
    for key, upload in begun.items():
        client.abort_multipart_upload(Bucket=BUCKET, Key=key, UploadId=upload)
        with refused("NoSuchUpload"):
            client.complete_multipart_upload(
                Bucket=BUCKET,
                Key=key,
                UploadId=upload,
                MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": '"0"'}]},
            )


def test_what_may_not_be_completed(client: Any) -> None:
    upload = client.create_multipart_upload(Bucket=BUCKET, Key="k")["UploadId"]
    etags = [
        client.upload_part(Bucket=BUCKET, Key="k", UploadId=upload, PartNumber=n, Body=b"x")["ETag"]
        for n in (1, 2)
    ]

    def complete(*etags: str, key: str = "k") -> None:
        parts = [{"PartNumber": n, "ETag": etag} for n, etag in enumerate(etags, 1)]
        client.complete_multipart_upload(
            Bucket=BUCKET, Key=key, UploadId=upload, MultipartUpload={"Parts": parts}
        )

    with refused("InvalidPart"):
        complete('"0"')
    with refused("EntityTooSmall"):
        complete(*etags)
    with refused("NoSuchUpload"):
        complete(etags[0], key="other")
    assert keys(client) == []
    complete(etags[0])
    client.put_object(Bucket=BUCKET, Key="k", Body=b"theirs")
    complete(etags[0])
    assert client.get_object(Bucket=BUCKET, Key="k")["Body"].read() == b"theirs"
    with refused("BadDigest"):
        client.put_object(Bucket=BUCKET, Key="k", Body=b"x", ContentMD5="AAAAAA==")


def test_copy(client: Any) -> None:
    client.put_object(Bucket=BUCKET, Key=HOSTILE, Body=b"x", Metadata={"key": "value"})

    client.copy_object(Bucket=BUCKET, Key="copy", CopySource={"Bucket": BUCKET, "Key": HOSTILE})

    copy = client.get_object(Bucket=BUCKET, Key="copy")
    assert (copy["Body"].read(), copy["Metadata"]) == (b"x", {"key": "value"})
    with refused("PreconditionFailed"):
        client.copy_object(
            Bucket=BUCKET, Key="other", CopySource=f"{BUCKET}/copy", CopySourceIfMatch='"0"'
        )
    with refused("InvalidRequest"):
        client.copy_object(Bucket=BUCKET, Key="copy", CopySource=f"{BUCKET}/copy")


def test_listing_and_deletion_of_many(client: Any) -> None:
    made = [f"d/{i:04}" for i in range(1005)]
    for key in [*made, "d/e/f", "g"]:
        client.put_object(Bucket=BUCKET, Key=key, Body=b"")

    assert keys(client) == [*made, "d/e/f", "g"]
    level = client.list_objects_v2(Bucket=BUCKET, Delimiter="/")
    assert [found["Prefix"] for found in level["CommonPrefixes"]] == ["d/"]
    assert [found["Key"] for found in level["Contents"]] == ["g"]

    objects = [{"Key": key} for key in [*made[:999], "none"]]
    deleted = client.delete_objects(Bucket=BUCKET, Delete={"Objects": objects})["Deleted"]
    assert len(deleted) == 1000
    client.delete_object(Bucket=BUCKET, Key="none")
    assert keys(client) == [*made[999:], "d/e/f", "g"]


def test_faults_come_as_errors_of_the_service(client: Any, emulators: Emulators) -> None:
    emulators.fault("s3", operation="put", action="refuse", status=503, times=2)
    emulators.fault("s3", operation="get", action="refuse", status=403)

    with refused("SlowDown"):
        client.put_object(Bucket=BUCKET, Key="a", Body=b"x")
    client.put_object(Bucket=BUCKET, Key="a", Body=b"x")
    with refused("AccessDenied"):
        client.get_object(Bucket=BUCKET, Key="a")

    log = emulators.control("GET", "log/s3")
    assert [(entry["operation"], entry["status"]) for entry in log if entry["path"] == "/a"] == [
        ("put", 503),
        ("put", 503),
        ("put", 200),
        ("get", 403),
    ]
