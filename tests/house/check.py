#!/usr/bin/env python3
"""Runs the measuring scripts of this folder and holds the sources to the bars reached so far.

    tests/house/check.py            fails where a check of reached.txt is not met, with file:line
    tests/house/check.py --all      fails where any check is not met

A line of reached.txt is the name of a check or the beginning of names up to a dot: `circles` holds
all circles, `circles.files.core` those of one crate. A bar that is met is added there, and stays.
"""

import argparse
import sys
import time

import circles
import house
import names
import prose
import sizes

SCRIPTS = (circles, names, sizes, prose)


def reached():
    lines = (house.HERE / "reached.txt").read_text(encoding="utf-8").split("\n")
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def is_held(name, held):
    return any(name == entry or name.startswith(entry + ".") for entry in held)


def state(check, held):
    if check.met:
        return "met" if held else "met, can be added to reached.txt"
    return f"{len(check.faults)} faults" + ("" if held else ", not held yet")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--root", default=house.ROOT, help="the working copy to measure (this one if not given)"
    )
    parser.add_argument("--all", action="store_true", help="hold the sources to every bar")
    arguments = parser.parse_args()
    begun = time.monotonic()
    tree = house.Tree(arguments.root)
    checks = [check for script in SCRIPTS for check in script.measure(tree)]
    entries = reached()
    held = {check.name: arguments.all or is_held(check.name, entries) for check in checks}
    print(
        house.table(
            [
                (check.name, check.measured, check.bar, state(check, held[check.name]))
                for check in checks
            ],
            house.HEADS,
        )
    )
    unknown = [
        entry for entry in entries if not any(is_held(check.name, [entry]) for check in checks)
    ]
    failed = [check for check in checks if held[check.name] and not check.met]
    for check in failed:
        print(f"\n{check.name}: {check.measured}, bar {check.bar}")
        print(*check.faults, sep="\n")
    for entry in unknown:
        print(f"\nreached.txt: there is no check {entry}")
    print(
        f"\n{len(checks)} checks, {sum(check.met for check in checks)} met, {len(failed)} failed"
        f" ({time.monotonic() - begun:.1f} s)"
    )
    sys.exit(bool(failed or unknown))


if __name__ == "__main__":
    main()
