#!/usr/bin/env python3
"""Holds the notes on dependencies to the dependencies.

    tests/supply/notes.py               fails where a crate between nodes and the network has no note, or has
                                        changed since, and where a crate without a maintainer is not listed
    tests/supply/notes.py --selftest    sees each kind of fault found

notes.tsv has the crates between nodes and the network, unmaintained.tsv those that nobody works on.
What else may not come stands in deny.toml.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Crates that read bytes of others, or shake hands with them, are of these names.
NETWORK = re.compile(r"(zenoh|rustls|tokio|hyper|http|axum)(-.*)?|httparse|httpdate|ring|rcgen|x509-parser|webpki-roots")
ABANDONED = re.compile(
    r"this (project|crate|repository) is (no longer|not) (actively )?maintained|this crate is (deprecated|unmaintained)"
    r"|maintenance mode|status *= *\"(deprecated|passively-maintained|as-is|looking-for-maintainer)",
    re.IGNORECASE,
)

Crate = collections.namedtuple("Crate", "version folder")


def crates(package=None):
    """The crates that are built for one of ours, or for all: by name, each of their versions."""
    chosen = ["-p", package, "-e", "normal,build"] if package else ["--workspace"]
    tree = ["cargo", "tree", "--locked", "--all-features", "--prefix", "none", "--format", "{p}", *chosen]
    built = set(tuple(line.split()[:2]) for line in output(tree).splitlines() if line)
    metadata = json.loads(output(["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]))
    found = collections.defaultdict(list)
    for entry in metadata["packages"]:
        if entry["source"] and (entry["name"], f"v{entry['version']}") in built:
            folder = pathlib.Path(entry["manifest_path"]).parent
            found[entry["name"]].append(Crate(entry["version"], folder))
    return found


def output(command):
    return subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True).stdout


def table(name):
    rows = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [row.split("\t") for row in rows if row and not row.startswith("#")]


def unsafe_words(folder):
    """How often the sources of a crate have the word, comments and texts left out."""
    count = 0
    for path in sorted((folder / "src").rglob("*.rs")):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8", errors="replace"), flags=re.DOTALL)
        code = re.sub(r"//[^\n]*", "", code)
        code = re.sub(r'"(?:\\.|[^"\\])*"', '""', code)
        count += len(re.findall(r"\bunsafe\b", code))
    return count


def network_faults(notes, built):
    known = {row[0]: row[1:4] for row in notes}
    for name in sorted(filter(NETWORK.fullmatch, built)):
        if name not in known:
            yield f"{name}: it is between nodes and the network, and notes.tsv does not say what was looked at"
    for name, (version, unsafe, build) in known.items():
        for crate in built.get(name) or [None]:
            if crate is None:
                yield f"{name}: notes.tsv has it, and nodes do not"
            elif not (crate.version + ".").startswith(version + "."):
                yield f"{name}: it is {crate.version}, and {version} was looked at"
            elif unsafe_words(crate.folder) != int(unsafe):
                yield f"{name} {crate.version}: unsafe {unsafe_words(crate.folder)} times, and {unsafe} when looked at"
            elif (crate.folder / "build.rs").exists() != (build == "build"):
                yield f"{name} {crate.version}: notes.tsv is wrong about its build script"


def says_abandoned(crate):
    """Whether a crate says of itself that nobody works on it."""
    texts = [path for path in crate.folder.iterdir() if path.name.lower() in ("readme.md", "cargo.toml")]
    said = any(ABANDONED.search(path.read_text(encoding="utf-8", errors="replace")) for path in texts)
    return said or "deprecated" in crate.version


def maintenance_faults(listed, built):
    names = {row[0] for row in listed}
    for name in sorted(built):
        if name not in names and any(map(says_abandoned, built[name])):
            yield f"{name}: it says that nobody works on it, and unmaintained.tsv has no decision"
    for name in sorted(names - set(built)):
        yield f"{name}: unmaintained.tsv has it, and nobody needs it any more"


def selftest():
    notes, listed = table("notes.tsv"), table("unmaintained.tsv")
    nodes, built = crates("fabnet-net"), crates()
    first = notes[0]
    changes = [
        notes[1:],
        [*notes, ["no-such-crate", "1.0", "0", "-"]],
        [[first[0], "0.9", *first[2:]], *notes[1:]],
        [[*first[:2], "1", *first[3:]], *notes[1:]],
        [[*first[:3], "-", *first[4:]], *notes[1:]],
    ]
    counts = [len(list(network_faults(change, nodes))) for change in changes]
    assert counts == [1] * len(changes), counts
    yaml = [row for row in listed if row[0] != "serde_yaml"]
    counts = [len(list(maintenance_faults(rows, built))) for rows in (yaml, [*listed, ["no-such-crate"]])]
    assert counts == [1, 1], counts
    print(f"{len(changes) + 2} faults planted, each found")


def main():
    if sys.argv[1:] == ["--selftest"]:
        return selftest()
    if sys.argv[1:]:
        sys.exit(__doc__)
    notes, listed = table("notes.tsv"), table("unmaintained.tsv")
    faults = [*network_faults(notes, crates("fabnet-net")), *maintenance_faults(listed, crates())]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(notes)} crates with notes, {len(listed)} without a maintainer, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
