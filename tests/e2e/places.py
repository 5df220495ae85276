# SPDX-License-Identifier: Apache-2.0
"""Directories to write to: on the local disk, or on an emulated store.

A `StorePath` has what the tests use of `pathlib.Path`, so that a test need not know where it
runs. It speaks the store's own protocol, not Hadoop's connector: what the tests see is what the
store has. It goes with the functions that Spark's workers run.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import quote, unquote_plus, urlencode, urlsplit
from xml.etree import ElementTree

from pyspark import cloudpickle

OK, NOT_FOUND = 200, 404


class Store(Protocol):
    """What a store can do, by paths without a leading slash; the root is the empty one."""

    root: str

    def tree(self, directory: str) -> dict[str, int | None]:
        """All that is below a directory: full paths with their sizes, None for directories."""

    def read(self, file: str) -> bytes: ...
    def write(self, file: str, content: bytes) -> None: ...
    def make_directory(self, directory: str) -> None: ...
    def delete(self, file: str) -> None: ...


def call(
    port: int, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[bytes, HTTPResponse]:
    """One request to 127.0.0.1; fails on every status but success and "not found"."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    if not OK <= response.status < OK + 100 and response.status != NOT_FOUND:
        raise OSError(f"{method} {path}: {response.status} {content!r}")
    return content, response


def must(path: str, answer: tuple[bytes, HTTPResponse]) -> bytes:
    content, response = answer
    if response.status == NOT_FOUND:
        raise FileNotFoundError(path)
    return content


def entries(prefix: str, name: str, size: int) -> dict[str, int | None]:
    """An object, and the directories below a prefix that its name tells of."""
    ends = [end for end, letter in enumerate(name) if letter == "/" and end > len(prefix)]
    directories: dict[str, int | None] = dict.fromkeys(name[:end] for end in ends)
    return directories if name.endswith("/") else {**directories, name: size}


@dataclass(frozen=True)
class AbfsStore:
    """ADLS Gen2: a filesystem of an account, over plain HTTP."""

    root: str
    port: int
    base: str
    """Of URLs: ``/account/filesystem``."""

    def _url(self, path: str, **query: str) -> str:
        return f"{self.base}/{quote(path)}" + (f"?{urlencode(query)}" if query else "")

    def tree(self, directory: str) -> dict[str, int | None]:
        found: dict[str, int | None] = {}
        query = {"resource": "filesystem", "recursive": "true", "directory": directory}
        while True:
            content, response = call(self.port, "GET", f"{self.base}?{urlencode(query)}")
            if response.status == NOT_FOUND:
                return {}
            for path in json.loads(content)["paths"]:
                is_directory = str(path.get("isDirectory", "false")) == "true"
                found[path["name"]] = None if is_directory else int(path["contentLength"])
            token = response.headers.get("x-ms-continuation")
            if not token:
                found.pop(directory, None)
                return found
            query["continuation"] = token

    def read(self, file: str) -> bytes:
        return must(file, call(self.port, "GET", self._url(file)))

    def write(self, file: str, content: bytes) -> None:
        call(self.port, "PUT", self._url(file, resource="file"))
        if content:
            append = self._url(file, action="append", position="0")
            call(self.port, "PATCH", append, content)
        call(self.port, "PATCH", self._url(file, action="flush", position=str(len(content))))

    def make_directory(self, directory: str) -> None:
        call(self.port, "PUT", self._url(directory, resource="directory"))

    def delete(self, file: str) -> None:
        must(file, call(self.port, "DELETE", self._url(file, recursive="true")))


@dataclass(frozen=True)
class GcsStore:
    """Google Cloud Storage: a bucket, in which directories are objects or parts of names."""

    root: str
    port: int
    bucket: str
    has_folders: bool = False
    """Whether directories are folders, too, which stay when the last object in them goes."""

    def _object(self, name: str) -> str:
        return f"/storage/v1/b/{self.bucket}/o/{quote(name, safe='')}"

    def tree(self, directory: str) -> dict[str, int | None]:
        prefix = f"{directory}/" if directory else ""
        found: dict[str, int | None] = {}
        query = {"prefix": prefix}
        while True:
            url = f"/storage/v1/b/{self.bucket}/o?{urlencode(query)}"
            answer = json.loads(must(url, call(self.port, "GET", url)))
            for item in answer.get("items", []):
                found.update(entries(prefix, item["name"], int(item["size"])))
            if "nextPageToken" not in answer:
                break
            query["pageToken"] = answer["nextPageToken"]
        if self.has_folders:
            url = f"/storage/v1/b/{self.bucket}/folders?{urlencode({'prefix': prefix})}"
            for folder in json.loads(must(url, call(self.port, "GET", url))).get("items", []):
                if folder["name"] != prefix:
                    found[folder["name"].rstrip("/")] = None
        return found

    def read(self, file: str) -> bytes:
        return must(file, call(self.port, "GET", self._object(file) + "?alt=media"))

    def write(self, file: str, content: bytes) -> None:
        query = urlencode({"uploadType": "media", "name": file})
        call(self.port, "POST", f"/upload/storage/v1/b/{self.bucket}/o?{query}", content)

    def make_directory(self, directory: str) -> None:
        self.write(f"{directory}/", b"")

    def delete(self, file: str) -> None:
        must(file, call(self.port, "DELETE", self._object(file)))


@dataclass(frozen=True)
class S3Store:
    """S3: a bucket, in which directories are objects or parts of names."""

    root: str
    port: int
    bucket: str

    def _object(self, name: str) -> str:
        return f"/{self.bucket}/{quote(name)}"

    def tree(self, directory: str) -> dict[str, int | None]:
        prefix = f"{directory}/" if directory else ""
        found: dict[str, int | None] = {}
        query = {"list-type": "2", "prefix": prefix, "encoding-type": "url"}
        while True:
            url = f"/{self.bucket}?{urlencode(query)}"
            answer = ElementTree.fromstring(must(url, call(self.port, "GET", url)))
            for item in answer.findall("{*}Contents"):
                name = unquote_plus(item.findtext("{*}Key", ""))
                found.update(entries(prefix, name, int(item.findtext("{*}Size", "0"))))
            token = answer.findtext("{*}NextContinuationToken")
            if not token:
                return found
            query["continuation-token"] = token

    def read(self, file: str) -> bytes:
        return must(file, call(self.port, "GET", self._object(file)))

    def write(self, file: str, content: bytes) -> None:
        call(self.port, "PUT", self._object(file), content)

    def make_directory(self, directory: str) -> None:
        self.write(f"{directory}/", b"")

    def delete(self, file: str) -> None:
        must(file, call(self.port, "DELETE", self._object(file)))

    def uploads(self) -> list[tuple[str, str]]:
        """The keys and ids of uploads that were neither completed nor aborted."""
        found: list[tuple[str, str]] = []
        query = {"uploads": ""}
        while True:
            url = f"/{self.bucket}?{urlencode(query)}"
            answer = ElementTree.fromstring(must(url, call(self.port, "GET", url)))
            for upload in answer.findall("{*}Upload"):
                key = upload.findtext("{*}Key", "")
                found.append((key, upload.findtext("{*}UploadId", "")))
            if answer.findtext("{*}IsTruncated") != "true":
                return found
            query["key-marker"] = answer.findtext("{*}NextKeyMarker", "")
            query["upload-id-marker"] = answer.findtext("{*}NextUploadIdMarker", "")

    def begin(self, key: str) -> None:
        """Begins an upload that nobody will complete."""
        url = f"{self._object(key)}?uploads"
        must(url, call(self.port, "POST", url))

    def abort(self, key: str, upload: str) -> None:
        call(self.port, "DELETE", f"{self._object(key)}?{urlencode({'uploadId': upload})}")


@dataclass(frozen=True)
class LakefsStore:
    """lakeFS: a branch of a repository. What is written or deleted here is committed at once."""

    root: str
    port: int
    repository: str
    branch: str

    def ask(self, method: str, what: str, body: bytes | None = None, **query: str) -> bytes:
        """One request to the API, below the repository."""
        key = b64encode(b"key:secret").decode()
        url = f"/api/v1/repositories/{self.repository}/{what}"
        url += f"?{urlencode(query, quote_via=quote)}" if query else ""
        is_json = body is not None and not what.endswith("/objects")
        kind = "application/json" if is_json else "application/octet-stream"
        headers = {"Authorization": f"Basic {key}", "Content-Type": kind}
        return must(url, call(self.port, method, url, body, **headers))

    def commit(self) -> None:
        """Commits what Spark's catalog, or a test, left on the branch, if there is anything."""
        if json.loads(self.ask("GET", f"branches/{self.branch}/diff", amount="1"))["results"]:
            body = json.dumps({"message": "by a test"}).encode()
            self.ask("POST", f"branches/{self.branch}/commits", body)

    def head(self) -> str:
        """The commit at which the branch stands."""
        return str(json.loads(self.ask("GET", f"branches/{self.branch}"))["commit_id"])

    def merges(self) -> int:
        """How many of the branch's commits have two parents."""
        log = json.loads(self.ask("GET", f"refs/{self.branch}/commits", amount="1000"))
        return sum(len(commit["parents"]) > 1 for commit in log["results"])

    def branches(self) -> list[str]:
        """All names, also of hidden branches."""
        page = json.loads(self.ask("GET", "branches", show_hidden="true", amount="1000"))
        return [branch["id"] for branch in page["results"]]

    def tree(self, directory: str) -> dict[str, int | None]:
        prefix = f"{directory}/" if directory else ""
        found: dict[str, int | None] = {}
        query = {"prefix": prefix, "amount": "1000"}
        while True:
            page = json.loads(self.ask("GET", f"refs/{self.branch}/objects/ls", **query))
            for item in page["results"]:
                found.update(entries(prefix, item["path"], int(item["size_bytes"])))
            if not page["pagination"]["has_more"]:
                return found
            query["after"] = page["pagination"]["next_offset"]

    def read(self, file: str) -> bytes:
        return self.ask("GET", f"refs/{self.branch}/objects", path=file)

    def at(self, branch: str) -> LakefsStore:
        """The same repository, on another branch."""
        return LakefsStore(self.root, self.port, self.repository, branch)

    def uncommitted(self, directories: tuple[str, ...]) -> list[str]:
        """The paths of files below these directories that are not committed."""
        page = json.loads(self.ask("GET", f"branches/{self.branch}/diff", amount="1000"))
        paths = [str(change["path"]) for change in page["results"]]
        return [path for path in paths if path.startswith(directories)]

    def put(self, file: str, content: bytes) -> None:
        """Writes a file, and commits nothing."""
        self.ask("POST", f"branches/{self.branch}/objects", content, path=file)

    def unlink(self, file: str) -> None:
        """Deletes a file, and commits nothing."""
        self.ask("DELETE", f"branches/{self.branch}/objects", path=file)

    def write(self, file: str, content: bytes) -> None:
        self.put(file, content)
        self.commit()

    def make_directory(self, directory: str) -> None:
        self.write(f"{directory}/", b"")

    def delete(self, file: str) -> None:
        self.unlink(file)
        self.commit()


@dataclass(frozen=True, order=True)
class StorePath:
    """A path on a store. Those that a listing gave know what they are as of then."""

    store: Any = field(compare=False, repr=False)
    key: str
    _listed: Any = field(default=(), compare=False, repr=False)

    def __truediv__(self, name: str) -> StorePath:
        return StorePath(self.store, f"{self.key}/{name}" if self.key else name)

    def __str__(self) -> str:
        """The URI, with nothing encoded, as Hadoop's Path takes it."""
        return f"{self.store.root}{self.key}"

    def __fspath__(self) -> str:
        return str(self)

    def as_uri(self) -> str:
        return str(self)

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> StorePath:
        return StorePath(self.store, self.key.rpartition("/")[0])

    def relative_to(self, other: StorePath) -> PurePosixPath:
        return PurePosixPath(self.key).relative_to(other.key)

    def rglob(self, pattern: str) -> Iterator[StorePath]:
        for key, size in sorted(self.store.tree(self.key).items()):
            if fnmatchcase(key.rpartition("/")[2], pattern):
                yield StorePath(self.store, key, (size,))

    def glob(self, pattern: str) -> Iterator[StorePath]:
        assert "/" not in pattern
        return (path for path in self.rglob(pattern) if path.parent == self)

    def iterdir(self) -> Iterator[StorePath]:
        return self.glob("*")

    def _look(self) -> tuple[int | None, ...]:
        """Size or None in a tuple, which is empty if there is nothing."""
        if self._listed:
            return self._listed
        parent = self.store.tree(self.key.rpartition("/")[0])
        return (parent[self.key],) if self.key in parent else ()

    def exists(self) -> bool:
        return self._look() != ()

    def is_dir(self) -> bool:
        return self._look() == (None,)

    def is_file(self) -> bool:
        return self._look() not in ((), (None,))

    def stat(self) -> Stat:
        size = self._look()[0]
        return Stat(0 if size is None else size)

    def read_bytes(self) -> bytes:
        return bytes(self.store.read(self.key))

    def read_text(self, encoding: str = "utf-8") -> str:
        return self.read_bytes().decode(encoding)

    def write_bytes(self, content: bytes) -> None:
        self.store.write(self.key, content)

    def write_text(self, text: str) -> None:
        self.write_bytes(text.encode())

    def mkdir(self) -> None:
        self.store.make_directory(self.key)

    def unlink(self) -> None:
        self.store.delete(self.key)


@dataclass(frozen=True)
class Stat:
    """What `StorePath.stat` knows."""

    st_size: int


Place = Path | StorePath


def path_of(place: Place) -> str:
    """The path alone, without scheme and authority."""
    if isinstance(place, StorePath):
        return f"{urlsplit(place.store.root).path}{place.key}"
    return str(place)


# The workers cannot import this module; functions that use it take it with them.
cloudpickle.register_pickle_by_value(__import__(__name__))
