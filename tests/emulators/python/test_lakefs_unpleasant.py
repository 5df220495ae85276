# SPDX-License-Identifier: Apache-2.0
"""What is unpleasant about lakeFS, as it was observed on a server: each in a test of its own."""

from __future__ import annotations

import contextlib
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError

import lakefs_sdk
import pytest
from lakefs_branches import Repository, refused

if TYPE_CHECKING:
    from emulated import Emulators


@pytest.fixture
def repository(emulators: Emulators) -> Repository:
    return Repository(emulators)


def statuses(repository: Repository, operation: str) -> list[Any]:
    log = repository.emulators.control("GET", "log/lakefs")
    return [entry["status"] for entry in log if entry["operation"] == operation]


def put(url: str) -> None:
    urllib.request.urlopen(urllib.request.Request(url, data=b"x", method="PUT")).close()


# Branches.


def test_a_branch_is_a_mutex(repository: Repository) -> None:
    def create(_: int) -> None:
        with contextlib.suppress(lakefs_sdk.ApiException):
            repository.branch("job")

    with ThreadPoolExecutor(16) as threads:
        list(threads.map(create, range(16)))

    assert sorted(statuses(repository, "branch-create")) == [201] + [409] * 15


@pytest.mark.parametrize(("show", "listed"), [(False, ["main"]), (True, ["job", "main"])])
def test_hidden_branches_are_listed_when_asked_for(
    repository: Repository, show: bool, listed: list[str]
) -> None:
    repository.branch("job")

    found = repository.api.branches_api.list_branches(repository.name, show_hidden=show)

    assert [branch.id for branch in found.results] == listed


def test_branches_are_listed_in_pages(repository: Repository) -> None:
    for name in ("job-1", "job-2", "job-3", "other"):
        repository.branch(name)

    page = repository.api.branches_api.list_branches(
        repository.name, show_hidden=True, prefix="job-", after="job-1", amount=1
    )

    assert ([branch.id for branch in page.results], page.pagination.has_more) == (["job-2"], True)


def test_a_branch_that_is_deleted_again(repository: Repository) -> None:
    repository.delete_branch(repository.branch("job"))

    with refused(404):
        repository.delete_branch("job")


def test_the_default_branch_stays(repository: Repository) -> None:
    with refused(403):
        repository.delete_branch("main")


# Addresses and links.


def test_an_address_for_a_branch_that_is_not_there(repository: Repository) -> None:
    assert "," in repository.address("nowhere", "f").physical_address


def test_an_address_is_another_each_time(repository: Repository) -> None:
    first, second = (repository.address("main", "f").physical_address for _ in range(2))

    assert first != second


@pytest.mark.parametrize(("branch", "path"), [("main", "other"), ("job", "f")])
def test_a_link_to_another_path_or_branch(repository: Repository, branch: str, path: str) -> None:
    repository.branch("job")
    location = repository.address("main", "f")

    with refused(400, "invalid address signature"):
        repository.link(branch, path, location)


def test_a_link_in_another_repository(repository: Repository) -> None:
    # The namespace of one lies within the other's.
    outer = Repository(repository.emulators, f"s3://emulated/{repository.name}/")
    location = repository.address("main", "f")

    with refused(400, "invalid address signature"):
        outer.link("main", "f", location)


def test_a_link_to_a_branch_that_is_gone(repository: Repository) -> None:
    location = repository.address(repository.branch("job"), "f")
    repository.delete_branch("job")

    with refused(404, "branch"):
        repository.link("job", "f", location)


def test_a_branch_of_the_same_name_takes_old_links(repository: Repository) -> None:
    location = repository.address(repository.branch("job"), "f")
    repository.delete_branch("job")
    repository.branch("job")

    repository.link("job", "f", location)

    assert repository.paths("job") == ["f"]


def test_a_link_is_repeated(repository: Repository) -> None:
    location = repository.address("main", "f")

    assert repository.link("main", "f", location) == repository.link("main", "f", location)


def test_a_link_only_if_new(repository: Repository) -> None:
    repository.put("main", "f")

    with refused(412):
        repository.link("main", "f", repository.address("main", "f"), if_none_match="*")


def test_a_link_if_it_matches(repository: Repository) -> None:
    with refused(501):
        repository.link("main", "f", repository.address("main", "f"), if_match='"c"')


def test_a_link_to_what_nobody_wrote(repository: Repository) -> None:
    repository.link("main", "f", repository.address("main", "f"), checksum="none")

    with refused(410):
        repository.get("main", "f")


def test_a_link_of_the_wrong_size(repository: Repository) -> None:
    location = repository.address("main", "f", presign=True)
    put(location.presigned_url)
    metadata = lakefs_sdk.StagingMetadata(staging=location, checksum="c", size_bytes=7)

    linked = repository.api.staging_api.link_physical_address(
        repository.name, "main", "f", metadata
    )

    assert linked.size_bytes == 7


def test_a_link_of_other_content_with_the_same_checksum_is_no_change(
    repository: Repository,
) -> None:
    repository.link("main", "f", repository.address("main", "f"), checksum="same")
    repository.commit("main")
    repository.link("main", "f", repository.address("main", "f"), checksum="same")

    with refused(400, "commit: no changes"):
        repository.commit("main")


@pytest.mark.parametrize(("minutes", "status"), [(24 * 60 - 1, 200), (24 * 60 + 1, 400)])
def test_a_link_follows_its_address_within_a_day(
    repository: Repository, minutes: int, status: int
) -> None:
    location = repository.address("main", "f")
    repository.advance(minutes)

    with contextlib.suppress(lakefs_sdk.ApiException):
        repository.link("main", "f", location)

    assert statuses(repository, "link") == [status]


def test_a_presigned_url_lives_a_quarter_of_an_hour(repository: Repository) -> None:
    location = repository.address("main", "f", presign=True)
    repository.advance(14)
    put(location.presigned_url)
    repository.advance(2)

    with pytest.raises(HTTPError, match="403"):
        put(location.presigned_url)


# Objects.


def test_a_small_file_only_if_new(repository: Repository) -> None:
    repository.put("main", "f")

    with refused(412):
        repository.put("main", "f", if_none_match="*")


def test_a_small_file_is_overwritten(repository: Repository) -> None:
    repository.put("main", "f", "1")
    repository.put("main", "f", "2")

    assert repository.get("main", "f") == b"2"


def test_a_thousand_paths_are_deleted_at_once(repository: Repository) -> None:
    assert repository.delete("main", *(f"f{i}" for i in range(1000))) == []


def test_more_than_a_thousand_paths_are_not(repository: Repository) -> None:
    with refused(400, "request size exceeded"):
        repository.delete("main", *(f"f{i}" for i in range(1001)))


def test_deletions_on_a_branch_that_is_gone_are_said_to_be_done(repository: Repository) -> None:
    assert repository.delete("nowhere", "f") == []


@pytest.mark.parametrize(("ref", "shown"), [("main", ["a", "b"]), ("main@", ["a"])])
def test_what_is_not_committed_is_listed(
    repository: Repository, ref: str, shown: list[str]
) -> None:
    repository.commit_file("main", "a")
    repository.put("main", "b")

    assert repository.paths(ref) == shown


def test_a_commit_shows_nothing_later(repository: Repository) -> None:
    commit = repository.commit_file("main", "a")
    repository.put("main", "b")

    assert repository.paths(commit) == ["a"]


def test_a_page_has_a_thousand_at_most(repository: Repository) -> None:
    outside = lakefs_sdk.StagingLocation(physical_address="s3://emulated/elsewhere")
    for i in range(1001):
        repository.link("main", f"f{i:04}", outside)

    page = repository.api.objects_api.list_objects(repository.name, "main", amount=1000)

    assert (len(page.results), page.pagination.next_offset) == (1000, "f0999")


def test_a_page_has_a_hundred_unless_told(repository: Repository) -> None:
    outside = lakefs_sdk.StagingLocation(physical_address="s3://emulated/elsewhere")
    for i in range(101):
        repository.link("main", f"f{i:04}", outside)

    page = repository.api.objects_api.list_objects(repository.name, "main")

    assert (len(page.results), page.pagination.has_more) == (100, True)


# Commits.


def test_a_commit_that_is_repeated(repository: Repository) -> None:
    repository.commit_file("main", "f")

    with refused(400, "commit: no changes"):
        repository.commit("main")


def test_a_commit_whose_answer_is_lost_is_found_by_its_metadata(repository: Repository) -> None:
    repository.put("main", "f")
    repository.emulators.fault("lakefs", operation="commit", action="applyThenFail", status=500)
    with refused(500):
        repository.commit("main", job="1")

    head = repository.api.commits_api.get_commit(repository.name, repository.head("main"))

    assert head.metadata == {"job": "1"}


def test_metadata_of_a_megabyte(repository: Repository) -> None:
    repository.put("main", "f")

    made = repository.commit("main", job="x" * 1_000_000)

    assert len(made.metadata["job"]) == 1_000_000


def test_a_commit_on_a_branch_that_is_gone(repository: Repository) -> None:
    with refused(404, "branch"):
        repository.commit("nowhere")


# Merges.


def test_a_merge_by_a_commit_whose_branch_is_gone(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")
    repository.delete_branch("job")

    repository.merge(commit)

    assert repository.paths() == ["f"]


def test_a_merge_by_a_branch_that_is_gone(repository: Repository) -> None:
    repository.commit_file(repository.branch("job"), "f")
    repository.delete_branch("job")

    with refused(404):
        repository.merge("job")


@pytest.mark.parametrize("by_branch", [True, False])
def test_a_merge_leaves_out_what_is_not_committed(repository: Repository, by_branch: bool) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")
    repository.put("job", "late")

    repository.merge("job" if by_branch else commit)

    assert repository.paths() == ["f"]


def test_a_merge_of_what_is_not_committed_only(repository: Repository) -> None:
    repository.put(repository.branch("job"), "f")

    with refused(400, "no changes"):
        repository.merge("job")


def test_a_merge_that_is_repeated(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")
    repository.merge(commit)

    with refused(400, "no changes"):
        repository.merge(commit)


def test_a_squash_that_is_repeated_brings_deleted_files_back(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")
    repository.merge(commit, squash_merge=True)
    repository.commit_deletion("main", "f")

    repository.merge(commit, squash_merge=True)

    assert repository.paths() == ["f"]


def test_a_squash_has_one_parent(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")

    merged = repository.merge(commit, squash_merge=True)

    assert len(repository.api.commits_api.get_commit(repository.name, merged).parents) == 1


def test_a_merge_into_a_dirty_branch(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")
    repository.put("main", "g")

    with refused(400, r"uncommitted changes \(dirty branch\)"):
        repository.merge(commit)


def test_a_conflict_has_no_reference(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "_SUCCESS", "1")
    repository.commit_file("main", "_SUCCESS", "2")

    with refused(409, '"reference":""'):
        repository.merge(commit)


def test_the_same_content_is_no_conflict(repository: Repository) -> None:
    repository.put(repository.branch("job"), "_SUCCESS")
    repository.put("main", "_SUCCESS")
    commit = repository.commit("job", "job").id
    repository.commit("main", "main")

    repository.merge(commit)

    assert repository.paths() == ["_SUCCESS"]


def test_equal_commits_of_one_second_are_one(repository: Repository) -> None:
    repository.put(repository.branch("job"), "f")
    repository.put("main", "f")
    date = 1_700_000_000

    job, main = (
        repository.api.commits_api.commit(
            repository.name, branch, lakefs_sdk.CommitCreation(message="m", date=date)
        )
        for branch in ("job", "main")
    )

    assert job.id == main.id


@pytest.mark.parametrize("deletes", ["job", "main"])
def test_deleted_against_changed(repository: Repository, deletes: str) -> None:
    repository.commit_file("main", "f", "1")
    repository.branch("job")
    repository.commit_deletion(deletes, "f")
    repository.commit_file("main" if deletes == "job" else "job", "f", "2")

    with refused(409):
        repository.merge("job")


def test_two_overwrites_leave_the_union(repository: Repository) -> None:
    repository.commit_file("main", "old")
    for job in ("job1", "job2"):
        repository.branch(job)
    for job in ("job1", "job2"):
        repository.delete(job, "old")
        repository.commit_file(job, f"new-{job}")
        repository.merge(job)

    assert repository.paths() == ["new-job1", "new-job2"]


@pytest.mark.parametrize(("strategy", "content"), [("source-wins", b"1"), ("dest-wins", b"2")])
def test_a_strategy_decides(repository: Repository, strategy: str, content: bytes) -> None:
    repository.commit_file(repository.branch("job"), "f", "1")
    repository.commit_file("main", "f", "2")

    repository.merge("job", strategy=strategy)

    assert repository.get("main", "f") == content


def test_a_conflict_is_resolved_on_the_jobs_branch(repository: Repository) -> None:
    repository.commit_file(repository.branch("job"), "_SUCCESS", "1")
    repository.commit_file("main", "_SUCCESS", "2")
    repository.merge("main", "job", strategy="dest-wins")

    repository.merge("job")

    assert repository.get("main", "_SUCCESS") == b"1"


def test_an_unknown_strategy(repository: Repository) -> None:
    with refused(400, "invalid merge strategy"):
        repository.merge(repository.branch("job"), strategy="mine")


def test_the_merge_base_tells_what_is_merged(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")
    before = repository.base(commit).base_commit_id
    repository.merge(commit)

    assert (before == commit, repository.base(commit).base_commit_id) == (False, commit)


def test_source_and_destination_of_the_merge_base_are_swapped(repository: Repository) -> None:
    commit = repository.commit_file(repository.branch("job"), "f")

    found = repository.base(commit)

    assert (found.source_commit_id, found.destination_commit_id) == (
        repository.head("main"),
        commit,
    )


def test_a_merge_that_has_looked_its_source_up_outlives_the_branch(
    repository: Repository,
) -> None:
    repository.commit_file(repository.branch("job"), "f")
    rule = repository.emulators.fault("lakefs", operation="merge-resolved", action="hold")
    with ThreadPoolExecutor(1) as thread:
        merged = thread.submit(repository.merge, "job")
        while repository.emulators.control("GET", f"faults/lakefs/{rule}")["held"] == 0:
            pass
        repository.delete_branch("job")
        repository.emulators.control("POST", f"faults/lakefs/{rule}/release")

        assert merged.result() == repository.head("main")


# Differences.


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("two_dot", {"both": "changed", "job": "added", "main": "removed"}),
        ("three_dot", {"both": "conflict", "job": "added"}),
    ],
)
def test_differences(repository: Repository, kind: str, found: dict[str, str]) -> None:
    repository.branch("job")
    for branch in ("job", "main"):
        repository.put(branch, branch)
        repository.commit_file(branch, "both", branch)

    assert repository.diff("main", "job", kind) == found


def test_differences_of_branches_leave_out_what_is_not_committed(repository: Repository) -> None:
    repository.put(repository.branch("job"), "f")

    assert repository.diff("main", "job") == {}


# Protection.


@pytest.fixture
def protected(repository: Repository) -> Repository:
    repository.put("main", "staged")
    repository.protect("mai?", "release-*")
    return repository


def test_a_protected_branch_takes_no_writes(protected: Repository) -> None:
    with refused(403):
        protected.put("main", "f")


def test_a_protected_branch_takes_no_links(protected: Repository) -> None:
    with refused(403):
        protected.link("main", "f", protected.address("main", "f"))


def test_a_protected_branch_takes_no_commits(protected: Repository) -> None:
    with refused(403):
        protected.commit("main")


def test_deletions_on_a_protected_branch_are_refused_inside(protected: Repository) -> None:
    assert [error.status_code for error in protected.delete("main", "staged", "f")] == [403, 403]


def test_a_protected_branch_takes_merges(repository: Repository) -> None:
    repository.protect("main")
    commit = repository.commit_file(repository.branch("job"), "f")

    repository.merge(commit)

    assert repository.paths() == ["f"]


def test_protection_comes_a_minute_late(repository: Repository) -> None:
    rule = lakefs_sdk.BranchProtectionRule(pattern="main")
    repository.api.repositories_api.set_branch_protection_rules(repository.name, [rule])

    assert repository.commit_file("main", "f")


# Hooks.


@pytest.mark.parametrize("operation", ["commit", "merge"])
def test_a_hook_refuses(repository: Repository, operation: str) -> None:
    repository.commit_file(repository.branch("job"), "f")
    repository.put("job", "g")
    repository.emulators.fault("lakefs", operation=operation, action="refuse", status=412)

    with refused(412, f"pre-{operation} hook aborted"):
        repository.commit("job") if operation == "commit" else repository.merge("job")
