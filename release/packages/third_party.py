#!/usr/bin/env python3
"""Prints the licence texts of all crates that a crate of ours is linked with.

    release/packages/third_party.py [--package NAME] [--features LIST]

A crate without a licence file is listed with the licence that its manifest names. Equal texts are
printed once, after the crates that they belong to.
"""

import argparse
import collections
import json
import pathlib
import subprocess

NAMES = ("licen", "copying", "notice", "copyright", "unlicense")


def metadata(features):
    """What cargo knows of the workspace and its dependencies for this kind of machine."""
    command = ["cargo", "metadata", "--locked", "--format-version=1"]
    command += ["--filter-platform=x86_64-unknown-linux-gnu"]
    return json.loads(subprocess.check_output([*command, *features]))


def linked(data, package):
    """The packages that a package needs when it runs: neither tests nor build scripts."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    start = next(entry["id"] for entry in data["packages"] if entry["name"] == package)
    found, waiting = {start}, [start]
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                if dependency["pkg"] not in found:
                    found.add(dependency["pkg"])
                    waiting.append(dependency["pkg"])
    return [entry for entry in data["packages"] if entry["id"] in found and entry["source"]]


def texts(package):
    """The licence files of a package, or one line if it has none."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.name.lower().startswith(NAMES))
    found = [path.read_text(errors="replace").strip() for path in files if path.is_file()]
    return found or [f"No licence file; its manifest says: {package['license']}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", default="fabnet")
    parser.add_argument("--features", default="")
    arguments = parser.parse_args()
    features = [f"{arguments.package}/{name}" for name in arguments.features.split(",") if name]
    data = metadata(["--features", ",".join(features)] if features else [])
    owners = collections.defaultdict(list)
    for package in sorted(linked(data, arguments.package), key=lambda entry: entry["name"]):
        for text in texts(package):
            owners[text].append(f"{package['name']} {package['version']} ({package['license']})")
    for text, names in owners.items():
        print("=" * 80, *names, "", text, "", sep="\n")


main()
