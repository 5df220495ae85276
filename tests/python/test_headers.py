# SPDX-License-Identifier: Apache-2.0
"""Where the line that names the licence goes."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import headers

HASH = f"# {headers.LICENCE}\n"
XML = f"<!-- {headers.LICENCE} -->\n"


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ('"""A module."""\n', HASH, HASH + '"""A module."""\n'),
        ("#!/bin/sh\nexit\n", HASH, "#!/bin/sh\n" + HASH + "exit\n"),
        ('<?xml version="1.0"?>\n<a/>\n', XML, '<?xml version="1.0"?>\n' + XML + "<a/>\n"),
        ("", HASH, HASH),
    ],
)
def test_it_is_the_first_line_that_may_be(before, line, after):
    assert not headers.has(before, line)
    assert headers.added(before, line) == after
    assert headers.has(after, line)


def test_a_line_further_down_does_not_count():
    assert not headers.has("import os\n" + HASH, HASH)
    assert not headers.has("#!/bin/sh\nexit\n" + HASH, HASH)


def test_every_kind_of_source_is_looked_at():
    names = {str(file.relative_to(headers.pom.ROOT)) for file, _ in headers.sources()}
    assert {
        "Makefile",
        ".ci/run",
        "pom.xml",
        "tools/headers.py",
        ".github/workflows/ci.yml",
    } <= names
    assert "java/src/main/java/io/manifestcommitter/ManifestCommitter.java" in names
