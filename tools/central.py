# SPDX-License-Identifier: Apache-2.0
"""Whether Maven Central would take a pom and the files beside it.

The rules are those of Central's page "Requirements": coordinates, name, description, URL, licence,
developers and source control in the pom; no snapshot; jars of sources and javadoc. Central also
asks for signatures, which only the owner of a key can make: see docs/development/releasing.md.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"
REQUIRED = (
    *("groupId", "artifactId", "version", "name", "description", "url"),
    *("licenses/license/name", "licenses/license/url"),
    "developers/developer/name",
    *("scm/connection", "scm/developerConnection", "scm/url"),
)
# Central resolves nothing by them, so a pom that needs them is refused or of no use.
FORBIDDEN = ("parent", "repositories", "pluginRepositories")


def problems_of_pom(pom: Path) -> list[str]:
    """What is wrong with the text of a pom."""
    text = pom.read_text("utf-8")
    root = ElementTree.fromstring(text)

    def found(path: str) -> str:
        name = "/".join(f"{NAMESPACE}{part}" for part in path.split("/"))
        return (root.findtext(name) or "").strip()

    problems = [f"{pom.name} has no {path}" for path in REQUIRED if not found(path)]
    problems += [
        f"{pom.name} has {name}"
        for name in FORBIDDEN
        if root.find(f"{NAMESPACE}{name}") is not None
    ]
    if "${" in text:
        problems.append(f"{pom.name} has a variable that nobody resolves")
    if found("version").endswith("-SNAPSHOT"):
        problems.append(f"{pom.name} is of a snapshot")
    if pom.name != f"{found('artifactId')}-{found('version')}.pom":
        problems.append(f"{pom.name} is not named after its coordinates")
    for dependency in root.iter(f"{NAMESPACE}dependency"):
        name = dependency.findtext(f"{NAMESPACE}artifactId")
        if not dependency.findtext(f"{NAMESPACE}version"):
            problems.append(f"{pom.name} has no version of {name}")
        if dependency.findtext(f"{NAMESPACE}scope") != "provided":
            problems.append(f"{pom.name} would bring {name} along")
    return problems


def problems_of_jar(jar: Path, suffix: str, *needed: str) -> list[str]:
    """What a jar lacks: files by their ends, and at least one with the suffix."""
    if not jar.is_file():
        return [f"{jar.name} is not there"]
    with zipfile.ZipFile(jar) as archive:
        names = archive.namelist()
    problems = [f"{jar.name} has no {name}" for name in needed if name not in names]
    if not any(name.endswith(suffix) for name in names):
        problems.append(f"{jar.name} has no *{suffix}")
    return problems


def problems(directory: Path) -> list[str]:
    """What Central would refuse of the release in a directory."""
    poms = list(directory.glob("*.pom"))
    if len(poms) != 1:
        return [f"{directory} has {len(poms)} poms and not one"]
    base = poms[0].name.removesuffix(".pom")
    licences = ("META-INF/LICENSE", "META-INF/NOTICE")
    return [
        *problems_of_pom(poms[0]),
        *problems_of_jar(directory / f"{base}.jar", ".class", *licences),
        *problems_of_jar(directory / f"{base}-sources.jar", ".java", *licences),
        *problems_of_jar(directory / f"{base}-javadoc.jar", ".html", "index.html"),
    ]


def main() -> int:
    """Returns what the process ends with: 1 if Central would refuse the directory that is named."""
    found = problems(Path(sys.argv[1]))
    print("\n".join(found) or "Maven Central's rules: all kept, but for signatures")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
