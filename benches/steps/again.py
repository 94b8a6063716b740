#!/usr/bin/env python3
"""Cells of the yardstick that were run again, against what is recorded.

    experiments/steps/run.sh again [COUNT]        runs cells again, and compares them
    benches/steps/again.py RECORDED FOUND         compares two files

Prints the cells that differ, and fails if one is worse: if more seeds fail, if it takes more than a
quarter more rounds (under noise, if the error is by as much larger), or if the error rises above
1.5 times that of the start where it did not.
"""

import sys


def read(path):
    """For each cell, (rounds, failures, peak) of automatic step sizes."""
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    return {tuple(row[:5]): (float(row[6]), int(row[7]), float(row[8])) for row in rows}


def is_worse(found, recorded):
    return (
        found[0] > 1.25 * recorded[0]
        or found[1] > recorded[1]
        or found[2] > max(1.5, 1.25 * recorded[2])
    )


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    recorded, found = read(sys.argv[1]), read(sys.argv[2])
    if not found:
        sys.exit("no cell was run")
    worse = 0
    for cell, now in found.items():
        before = recorded[cell]
        if now != before:
            mark = "worse" if is_worse(now, before) else "other"
            worse += mark == "worse"
            print(f"{mark}: {' '.join(cell)}: {before} before, now {now} (rounds, failures, peak)")
    print(f"{len(found)} cells, {worse} of them worse than recorded")
    sys.exit(worse > 0)


main()
