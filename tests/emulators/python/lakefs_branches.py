# SPDX-License-Identifier: Apache-2.0
"""A repository of the emulator of lakeFS, in the terms of the tests."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import lakefs_sdk
import pytest
from lakefs_sdk.client import LakeFSClient

if TYPE_CHECKING:
    from emulated import Emulators

NUMBERS = itertools.count(1)


def refused(status: int, message: str = "") -> Any:
    """What the sdk raises for an answer with this status, in whose body this is found."""
    return pytest.raises(lakefs_sdk.ApiException, match=f"(?s)\\({status}\\).*{message}")


def configuration(emulators: Emulators, password: str = "secret") -> lakefs_sdk.Configuration:
    endpoint = emulators.settings["spark.hadoop.fs.lakefs.endpoint"]
    return lakefs_sdk.Configuration(host=endpoint, username="key", password=password)


class Repository:
    """A new repository, through lakeFS's generated client.

    Attributes:
        api: The client.
        name: Of the repository.
    """

    def __init__(self, emulators: Emulators, namespace: str = "") -> None:
        self.emulators = emulators
        self.api = LakeFSClient(configuration(emulators))
        self.name = f"repository-{next(NUMBERS)}"
        namespace = namespace or f"s3://emulated/{self.name}"
        self.api.repositories_api.create_repository(
            lakefs_sdk.RepositoryCreation(name=self.name, storage_namespace=namespace)
        )

    def branch(self, name: str, source: str = "main", hidden: bool = True) -> str:
        creation = lakefs_sdk.BranchCreation(name=name, source=source, hidden=hidden)
        self.api.branches_api.create_branch(self.name, creation)
        return name

    def delete_branch(self, name: str) -> None:
        self.api.branches_api.delete_branch(self.name, name)

    def head(self, branch: str) -> str:
        head: str = self.api.branches_api.get_branch(self.name, branch).commit_id
        return head

    def put(self, branch: str, path: str, content: str = "x", **conditions: str) -> Any:
        return self.api.objects_api.upload_object(
            self.name, branch, path, content=content.encode(), **conditions
        )

    def get(self, ref: str, path: str) -> bytes:
        return bytes(self.api.objects_api.get_object(self.name, ref, path))

    def address(self, branch: str, path: str, presign: bool = False) -> Any:
        return self.api.staging_api.get_physical_address(self.name, branch, path, presign=presign)

    def link(
        self, branch: str, path: str, location: Any, checksum: str = "c", **conditions: str
    ) -> Any:
        metadata = lakefs_sdk.StagingMetadata(staging=location, checksum=checksum, size_bytes=1)
        return self.api.staging_api.link_physical_address(
            self.name, branch, path, metadata, **conditions
        )

    def delete(self, branch: str, *paths: str) -> list[Any]:
        paths_to_delete = lakefs_sdk.PathList(paths=list(paths))
        answer = self.api.objects_api.delete_objects(self.name, branch, paths_to_delete)
        return list(answer.errors)

    def commit(self, branch: str, message: str = "m", **metadata: str) -> Any:
        creation = lakefs_sdk.CommitCreation(message=message, metadata=metadata)
        return self.api.commits_api.commit(self.name, branch, creation)

    def commit_file(self, branch: str, path: str, content: str = "x") -> str:
        self.put(branch, path, content)
        made: str = self.commit(branch).id
        return made

    def commit_deletion(self, branch: str, path: str) -> str:
        assert self.delete(branch, path) == []
        made: str = self.commit(branch).id
        return made

    def merge(self, source: str, destination: str = "main", **how: Any) -> str:
        answer = self.api.refs_api.merge_into_branch(
            self.name, source, destination, merge=lakefs_sdk.Merge(**how)
        )
        reference: str = answer.reference
        return reference

    def base(self, source: str, destination: str = "main") -> Any:
        return self.api.refs_api.find_merge_base(self.name, source, destination)

    def paths(self, ref: str = "main") -> list[str]:
        listed = self.api.objects_api.list_objects(self.name, ref, amount=1000)
        return [found.path for found in listed.results]

    def diff(self, left: str, right: str, kind: str = "three_dot") -> dict[str, str]:
        found = self.api.refs_api.diff_refs(self.name, left, right, type=kind).results
        return {each.path: each.type for each in found}

    def protect(self, *patterns: str) -> None:
        """Takes effect at once."""
        rules = [lakefs_sdk.BranchProtectionRule(pattern=pattern) for pattern in patterns]
        self.api.repositories_api.set_branch_protection_rules(self.name, rules)
        self.advance(minutes=1)

    def advance(self, minutes: int) -> None:
        self.emulators.control("POST", "server/lakefs", {"advance": minutes * 60_000})
