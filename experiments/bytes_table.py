#!/usr/bin/env python3
"""Rounds and bytes per agent until the worst agent is below a target, group by group.

    experiments/bytes_table.py RUN [TARGET...]

RUN is a folder with records.csv that has the metric worst_error, and scalar_bytes if scalars are to
be shown apart from headers, gossip and receipts. Medians over seeds; a group of which half of the
seeds never get there has a dash.
"""

import csv
import math
import pathlib
import statistics
import sys


def reached(rows, target):
    """The first record below the target, or nothing."""
    return next((row for row in rows if row["worst_error"] and float(row["worst_error"]) <= target), None)


def median(found, value):
    """The median of a value over seeds, infinite for those that never get there."""
    middle = statistics.median(math.inf if row is None else value(row) for row in found)
    return None if math.isinf(middle) else middle


def main():
    folder, targets = pathlib.Path(sys.argv[1]), [float(text) for text in sys.argv[2:]] or [1e-2, 1e-4]
    groups = {}
    with open(folder / "records.csv") as records:
        for row in csv.DictReader(records):
            groups.setdefault(row["label"], {}).setdefault(row["seed"], []).append(row)
    titles = "rounds to {0:g} | kB per agent | of it scalars"
    print("| |", " | ".join(titles.format(target) for target in targets), "|")
    print("|---" * (1 + 3 * len(targets)) + "|")
    for label, seeds in groups.items():
        cells = []
        for target in targets:
            found = [reached(rows, target) for rows in seeds.values()]
            values = [
                median(found, lambda row: float(row["round"])),
                median(found, lambda row: float(row["bytes_per_agent"]) / 1e3),
                median(found, lambda row: float(row.get("scalar_bytes") or "nan") / 1e3),
            ]
            cells += ["–" if value is None or math.isnan(value) else f"{value:,.0f}" for value in values]
        print(f"| {label} |", " | ".join(cells), "|")


main()
