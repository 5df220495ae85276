# SPDX-License-Identifier: Apache-2.0
"""Reports and lists of files that no committer wrote: refused by an error of ours only."""

import gzip
import json
import os
import random

import pytest
from test_report import LIST, PATH, REPORT, FakeStore, list_of, report

import manifest_committer as mc
from manifest_committer.report import _read_file_list, _read_report, parse_report

SEED = int(os.environ.get("HOSTILE_SEED", "1"))
CASES = int(os.environ.get("HOSTILE_CASES", "100"))
CHOKING = (
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"9" * 5000,
    b"1e400",
    b"NaN",
    b'"\\ud800"',
    b"null",
    b"\0",
    b"\xff",
    b"a" * 1_100_000,
)
LIST_PATH = "file:/data/t/_SUCCESS.files"


def require_clear(error, path):
    """The error's message, which names the file and can be shown."""
    message = str(error)
    assert path in message
    assert len(message) < 2000
    return message


def damaged(content, seed):
    """A copy of the content with up to three parts lost, doubled, overwritten or put in."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        start = chance.randrange(len(content) + 1)
        end = min(len(content), start + chance.randint(1, 64))
        part = content[start:end]
        new = chance.choice(
            (b"", part * 2, chance.randbytes(len(part)), *chance.sample(CHOKING, 2))
        )
        content = content[:start] + new + content[end:]
        if chance.random() < 0.2:
            content = content[:start]
    return content


@pytest.mark.parametrize("seed", range(SEED, SEED + CASES))
def test_a_damaged_report(seed):
    try:
        parsed = parse_report(damaged(REPORT.encode(), seed), PATH)
        texts = [str(parsed), parsed._repr_html_(), repr(parsed)]
    except mc.InvalidReportError as error:
        texts = [require_clear(error, PATH)]
    for text in texts:
        text.encode()


@pytest.mark.parametrize("seed", range(SEED, SEED + CASES))
def test_a_damaged_list(seed):
    whole = parse_report(REPORT.encode(), PATH)
    plain = gzip.decompress(list_of(LIST))
    content = damaged(list_of(LIST), seed) if seed % 2 else gzip.compress(damaged(plain, seed), 1)
    store = FakeStore({LIST_PATH: content}, chunk=4096)
    try:
        texts = [file.path for file in _read_file_list(store, whole)]
    except mc.FileListError as error:
        texts = [require_clear(error, LIST_PATH)]
    for text in texts:
        text.encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"timestamp": 10**30},
        {"timestamp": -(10**30)},
        {"iostatistics": {"counters": {"committer_bytes_committed": 10**400}}},
        {"iostatistics": {"counters": {"committer_files_committed": 2**63}}},
        {"iostatistics": {"meanstatistics": {"m": {"samples": 1, "sum": 10**400}}}},
        {"filenames": ["\ud800"]},
        {"jobId": "\udfff"},
        {"diagnostics": {"\ud800": "x"}},
        {"diagnostics": [1]},
        {"name": "x" * 10_000_000},
    ],
)
def test_values_that_cannot_be_shown(changes):
    with pytest.raises(mc.InvalidReportError) as caught:
        parse_report(report(**changes), PATH)
    assert len(str(caught.value)) < 1000
    str(caught.value).encode()


def test_a_directory_in_place_of_the_report():
    store = FakeStore({"file:/data/t": None, PATH: None})
    with pytest.raises(mc.InvalidReportError, match="is a directory; move it away"):
        _read_report(store, "file:/data/t")


def test_a_report_that_is_too_long_is_not_read():
    class Endless(FakeStore):
        def find(self, path):
            found = super().find(path)
            return type(found)(found.path, False, 64 * 1024 * 1024 + 1)

        def chunks(self, path):
            raise AssertionError(f"{path} was read")

    with pytest.raises(mc.InvalidReportError, match="67108865 bytes are too many"):
        _read_report(Endless({PATH: b"{"}), PATH)


def test_a_list_that_expands_is_not_held():
    whole = parse_report(REPORT.encode(), PATH)
    first = json.dumps(LIST[0]).encode()
    line = gzip.compress(first + b"\n" + b"a" * (1 << 26))
    assert len(line) < 1 << 18
    with pytest.raises(mc.FileListError, match="a line has more than 1048576 bytes"):
        list(_read_file_list(FakeStore({LIST_PATH: line}, chunk=4096), whole))
    many = gzip.compress(first + b"\n" + (json.dumps(LIST[1]).encode() + b"\n") * 100_000)
    with pytest.raises(mc.FileListError, match="should name 2 files and names more"):
        list(_read_file_list(FakeStore({LIST_PATH: many}, chunk=4096), whole))
