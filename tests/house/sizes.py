#!/usr/bin/env python3
"""How long functions and files are, and how many fields a peer has.

    tests/house/sizes.py

A function's length is the number of its lines that hold code, from `fn` to the closing brace:
comments and blank lines are free. Tests count as all others.
"""

import re

import house

LONGEST_FUNCTION, NINE_IN_TEN = 60, 20
LONGEST_FILE, LONGEST_WORLD_FILE = 350, 250
MOST_FIELDS = 12
# The parts of the simulated world: world.rs, or the folders into which it was split.
WORLD = re.compile(r"crates/sim/src/(?:attack/.*|(?:.*/)?world(?:/.*)?)\.rs$")


def functions(source):
    """Each function with a body: (line, name, lines of code)."""
    for item in source.items:
        if item.kind == "fn" and source.code[item.end] == "}":
            start = re.compile(r"\bfn\b").search(source.code, item.start).start()
            body = source.code[start : item.end + 1]
            yield (
                source.line(start),
                item.name,
                sum(bool(line.strip()) for line in body.split("\n")),
            )


def quantile(values, share):
    """The smallest value that at least this share of all do not exceed."""
    return sorted(values)[max(0, -(-len(values) * share // 100) - 1)] if values else 0


def function_checks(tree):
    """Nine in ten functions of each crate are short, and none anywhere is very long."""
    found = {crate.name: list(crate_functions(tree, crate)) for crate in tree.crates()}
    everything = [entry for entries in found.values() for entry in entries]
    long = [fault for length, fault in longest_first(everything) if length > LONGEST_FUNCTION]
    longest = max((length for length, _ in everything), default=0)
    return [
        *(nine_in_ten(name, entries) for name, entries in found.items()),
        house.Check("sizes.functions", f"longest {longest}", f"≤ {LONGEST_FUNCTION}", long),
    ]


def crate_functions(tree, crate):
    for source in tree.sources(tree.name(crate)):
        for line, name, length in functions(source):
            yield length, tree.fault(source.path, line, f"{name} has {length} lines of code")


def longest_first(entries):
    return sorted(entries, key=lambda entry: -entry[0])


def nine_in_ten(crate, entries):
    lengths = [length for length, _ in entries]
    p90 = quantile(lengths, 90)
    above = [fault for length, fault in longest_first(entries) if length > NINE_IN_TEN]
    share = f"{len(above)} of {len(lengths)} above {NINE_IN_TEN}"
    measured = f"{p90} (median {quantile(lengths, 50)}, {share})"
    return house.Check(
        f"sizes.p90.{crate}", measured, f"≤ {NINE_IN_TEN}", above if p90 > NINE_IN_TEN else []
    )


def too_long(tree, name, sources, bar):
    lengths = {source.path: source.text.count("\n") for source in sources}
    faults = [
        tree.fault(path, length, f"{length} lines")
        for path, length in lengths.items()
        if length > bar
    ]
    return house.Check(
        name,
        f"longest {max(lengths.values(), default=0)} of {len(lengths)} files",
        f"≤ {bar}",
        faults,
    )


def peer_fields(tree):
    """The fields of `struct Peer`, the machine of one agent."""
    for source in tree.sources("crates/core/src/peer"):
        for item in source.items:
            if (item.kind, item.name) == ("struct", "Peer"):
                body = source.code[source.code.index("{", item.start) + 1 : item.end]
                count = len(re.findall(r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?\w+\s*:(?!:)", body))
                return count, tree.fault(
                    source.path, source.line(item.start), f"Peer has {count} fields"
                )
    return 0, house.Fault("crates/core/src/peer", 0, "there is no struct Peer")


def measure(tree):
    files = tree.sources("crates")
    world = [source for source in files if WORLD.search(tree.name(source.path))]
    fields, place = peer_fields(tree)
    return [
        *function_checks(tree),
        too_long(tree, "sizes.files", files, LONGEST_FILE),
        too_long(tree, "sizes.world", world, LONGEST_WORLD_FILE),
        house.Check(
            "sizes.peer",
            f"{fields} fields",
            f"1 to {MOST_FIELDS}",
            [] if 0 < fields <= MOST_FIELDS else [place],
        ),
    ]


if __name__ == "__main__":
    house.main(measure, __doc__)
