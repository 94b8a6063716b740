#!/usr/bin/env python3
"""Holds what is tested to what users build: tests must not change the features of a dependency.

    tests/features/check.py

Cargo builds each crate once, with all features that anyone asks for. A crate that only tests need
can so switch on a feature in a crate that the program uses, and the tested program then computes
otherwise than the one that users build. This compares the features with and without dependencies
of tests. Those of allowed.tsv are allowed, each with its reason.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def features(kinds):
    """The features of each crate, by name and version, with these kinds of dependencies."""
    lines = subprocess.run(
        ["cargo", "tree", "--workspace", "--all-features", "--locked", "--prefix", "none"]
        + ["--edges", kinds, "--format", "{p}|{f}"],
        cwd=HERE,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found = {}
    for line in filter(None, lines):
        package, _, names = line.removesuffix(" (*)").partition("|")
        name, version = package.split()[:2]
        found.setdefault(f"{name} {version}", set()).update(filter(None, names.split(",")))
    return found


def allowed():
    rows = (HERE / "allowed.tsv").read_text(encoding="utf-8").splitlines()
    return {tuple(row.split("\t")[:2]) for row in rows if row and not row.startswith("#")}


def main():
    built, tested = features("normal,build"), features("normal,build,dev")
    found = {
        (package.split()[0], feature): package
        for package in built
        for feature in tested[package] - built[package]
    }
    may = allowed()
    faults = [
        f"{found[name, feature]}: only tests switch on `{feature}`. Ask for it in the workspace,"
        " too, do without it in tests, or add it to tests/features/allowed.tsv with the reason"
        for name, feature in sorted(found.keys() - may)
    ] + [
        f"tests/features/allowed.tsv: {name} has `{feature}` without tests, or not at all"
        for name, feature in sorted(may - found.keys())
    ]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(built)} crates, {len(found)} features of tests alone, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
