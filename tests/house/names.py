#!/usr/bin/env python3
"""Type names that are defined more than once, within a crate and across crates.

    tests/house/names.py

Within a crate there must be none. Across crates each must stand in shared_names.tsv with the reason
why both mean the same or are never seen together. Types of test code do not count.
"""

import collections
import csv

import house

KINDS = ("struct", "enum", "union", "trait", "type")


def types(tree, crate):
    """Every type that a crate defines outside tests: (name, fault that points to it)."""
    for source in tree.sources(tree.name(crate / "src")):
        if house.is_test_file(source.path.relative_to(crate)):
            continue
        for item in source.items:
            associated = item.kind == "type" and item.within in ("impl", "trait")
            if item.kind in KINDS and not item.test and not associated:
                yield (
                    item.name,
                    tree.fault(
                        source.path, source.line(named_at(source, item)), f"{item.kind} {item.name}"
                    ),
                )


def named_at(source, item):
    """Where the name stands: attributes come before it."""
    return source.code.index(item.name, source.code.index(item.kind, item.start))


def shared_names(tree):
    """The names that may stand in several crates, each with its line and its reason."""
    path = tree.root / "tests/house/shared_names.tsv"
    if not path.is_file():
        path = house.HERE / "shared_names.tsv"
    with path.open(encoding="utf-8") as lines:
        rows = csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t")
        return {row[0]: row[1] if len(row) > 1 else "" for row in rows if row}


def measure(tree):
    by_crate = {crate.name: collections.defaultdict(list) for crate in tree.crates()}
    for crate in tree.crates():
        for name, fault in types(tree, crate):
            by_crate[crate.name][name].append(fault)
    within = [
        fault
        for names in by_crate.values()
        for name in sorted(names)
        if len(names[name]) > 1
        for fault in names[name]
    ]
    crates_of = collections.defaultdict(list)
    for names in by_crate.values():
        for name, faults in names.items():
            crates_of[name].append(faults[0])
    shared = {name: faults for name, faults in crates_of.items() if len(faults) > 1}
    reasons = shared_names(tree)
    across = [fault for name in sorted(shared) if not reasons.get(name) for fault in shared[name]]
    listed = house.HERE / "shared_names.tsv"
    stale = [
        house.Fault(
            f"tests/house/{listed.name}", 1, f"{name} is no longer shared: take it off the list"
        )
        for name in sorted(reasons)
        if name not in shared
    ]
    count = sum(len(faults) > 1 for names in by_crate.values() for faults in names.values())
    return [
        house.Check("names.within", f"{count} names", "0", within),
        house.Check(
            "names.across",
            f"{len(shared)} names, {len(shared) - unlisted(shared, reasons)} with a reason",
            "all with a reason",
            across + stale,
        ),
    ]


def unlisted(shared, reasons):
    return sum(not reasons.get(name) for name in shared)


if __name__ == "__main__":
    house.main(measure, __doc__)
