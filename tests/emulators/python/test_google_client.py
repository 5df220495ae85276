# SPDX-License-Identifier: Apache-2.0
"""The emulator of Google Cloud Storage as Google's own Python client sees it."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import google_crc32c
import pytest
from google.api_core.exceptions import (
    NotFound,
    PreconditionFailed,
    RequestRangeNotSatisfiable,
)
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

if TYPE_CHECKING:
    from emulated import Emulators

CHUNK = 256 * 1024


@pytest.fixture
def client(emulators: Emulators) -> storage.Client:
    return storage.Client(
        project="emulated",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": f"http://127.0.0.1:{emulators.gcs_port}"},
    )


@pytest.fixture
def bucket(client: storage.Client) -> Iterator[storage.Bucket]:
    """The bucket that is there from the start, empty before and after."""
    bucket = client.get_bucket("emulated")
    assert list(bucket.list_blobs()) == []
    yield bucket
    for blob in bucket.list_blobs():
        blob.delete()


def make(bucket: storage.Bucket, name: str, content: str = "x") -> storage.Blob:
    blob = bucket.blob(name)
    blob.upload_from_string(content)
    return blob


def names(bucket: storage.Bucket) -> list[str]:
    return [blob.name for blob in bucket.list_blobs()]


def test_upload_and_download(bucket: storage.Bucket) -> None:
    blob = bucket.blob("dir/a file + ü#?%2F")
    blob.metadata = {"key": "value"}
    blob.upload_from_string("0123456789", content_type="text/x-test", if_generation_match=0)

    found = bucket.get_blob(blob.name)

    assert found.size == 10
    assert found.content_type == "text/x-test"
    assert found.metadata == {"key": "value"}
    assert found.generation == blob.generation
    assert found.time_created.tzinfo is not None
    checksum = google_crc32c.Checksum(b"0123456789").digest()
    assert found.crc32c == base64.b64encode(checksum).decode()
    # The client compares the content with the hash that comes with it.
    assert found.download_as_bytes() == b"0123456789"
    assert found.download_as_bytes(start=2, end=4) == b"234"
    assert found.download_as_bytes(start=8) == b"89"
    with pytest.raises(RequestRangeNotSatisfiable):
        found.download_as_bytes(start=10)
    assert bucket.get_blob("dir") is None


def test_resumable_upload_of_several_chunks(bucket: storage.Bucket) -> None:
    content = random.Random(1).randbytes(3 * CHUNK + 17)
    blob = bucket.blob("large", chunk_size=CHUNK)

    with blob.open("wb", chunk_size=CHUNK, if_generation_match=0) as stream:
        for start in range(0, len(content), 100_000):
            stream.write(content[start : start + 100_000])

    blob.reload()
    assert blob.size == len(content)
    with blob.open("rb", chunk_size=CHUNK) as stream:
        assert stream.read() == content
    # Of unknown size, so in a session, which is refused when it starts.
    with pytest.raises(PreconditionFailed):
        blob.upload_from_file(io.BytesIO(content), if_generation_match=0)


def test_list_with_delimiter_and_pages(client: storage.Client, bucket: storage.Bucket) -> None:
    for name in ("a", "d/", "d/1", "d/2", "d/e/3", "d/f/", "z"):
        make(bucket, name)

    level = client.list_blobs(bucket, prefix="d/", delimiter="/", page_size=2)
    assert [blob.name for blob in level] == ["d/", "d/1", "d/2"]
    assert level.prefixes == {"d/e/", "d/f/"}

    folders = client.list_blobs(bucket, prefix="d/", delimiter="/", include_trailing_delimiter=True)
    assert [blob.name for blob in folders] == ["d/", "d/1", "d/2", "d/f/"]
    assert folders.prefixes == {"d/e/", "d/f/"}

    pages = [
        [blob.name for blob in page]
        for page in client.list_blobs(bucket, start_offset="d/1", end_offset="z", page_size=2).pages
    ]
    assert pages == [["d/1", "d/2"], ["d/e/3", "d/f/"]]


def test_move(bucket: storage.Bucket) -> None:
    source = make(bucket, "d/source", "content")
    taken = make(bucket, "d/taken", "other")

    with pytest.raises(PreconditionFailed):
        bucket.move_blob(source, "d/taken", if_generation_match=0)
    with pytest.raises(PreconditionFailed):
        bucket.move_blob(source, "d/new", if_source_generation_match=taken.generation)
    moved = bucket.move_blob(source, "d/new", if_generation_match=0)

    assert names(bucket) == ["d/new", "d/taken"]
    assert moved.generation > source.generation
    assert moved.crc32c == source.crc32c
    assert moved.download_as_text() == "content"
    with pytest.raises(NotFound):
        bucket.move_blob(source, "d/newer")

    bucket.move_blob(moved, "d/taken", if_generation_match=taken.generation)
    assert names(bucket) == ["d/taken"]
    assert bucket.get_blob("d/taken").download_as_text() == "content"


def test_preconditions_and_delete(bucket: storage.Bucket) -> None:
    blob = make(bucket, "f", "first")
    first = blob.generation
    with pytest.raises(PreconditionFailed):
        bucket.blob("f").upload_from_string("second", if_generation_match=0)
    blob.upload_from_string("second", if_generation_match=first)
    assert blob.generation > first

    with pytest.raises(PreconditionFailed):
        bucket.blob("f").delete(if_generation_match=first)
    with pytest.raises(NotFound):
        bucket.blob("f", generation=first).reload()
    bucket.blob("f").delete(if_generation_match=blob.generation)
    with pytest.raises(NotFound):
        blob.delete()
    assert not blob.exists()


def test_a_lost_answer_of_a_move_is_a_move_that_finds_nothing(
    emulators: Emulators, bucket: storage.Bucket
) -> None:
    source = make(bucket, "source", "content")
    # The client repeats a move by itself only where it has this condition.
    emulators.fault("gcs", operation="move", action="applyThenFail", status=503)

    with pytest.raises(NotFound):
        bucket.move_blob(source, "destination", if_generation_match=0)

    assert names(bucket) == ["destination"]
    moves = [e for e in emulators.control("GET", "log/gcs") if e["operation"] == "move"]
    assert [(move["path"], move["status"]) for move in moves] == [
        ("/destination", 503),
        ("/destination", 404),
    ]
