#!/usr/bin/env python3
"""Prints the version of fabnet, which stands in Cargo.toml, and fails if a file has another one.

    release/packages/version.py              CHANGELOG.md may still call it [Unreleased]
    release/packages/version.py --release    CHANGELOG.md has a section of this version
"""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def faults(version, workspace):
    """What is wrong in files that must repeat the version."""
    for name, dependency in workspace["dependencies"].items():
        if name.startswith("fabnet-") and dependency.get("version") != version:
            yield f"Cargo.toml: {name} has version {dependency.get('version')}, not {version}"
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    if not cited or cited[1] != version:
        yield f"CITATION.cff: write `version: {version}`"


def changelog_faults(names):
    """Nothing if the changelog has a section of one of these names, with something in it."""
    text = (ROOT / "CHANGELOG.md").read_text()
    sections = dict(re.findall(r"^## \[(.*?)\][^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    if not any(sections.get(name, "").strip() for name in names):
        yield f"CHANGELOG.md: there is nothing under `## [{names[0]}]`"


def main():
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    version = workspace["package"]["version"]
    names = [version] if "--release" in sys.argv[1:] else [version, "Unreleased"]
    found = [*faults(version, workspace), *changelog_faults(names)]
    for fault in found:
        print(fault, file=sys.stderr)
    print(version)
    return bool(found)


sys.exit(main())
