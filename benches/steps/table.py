#!/usr/bin/env python3
"""The table of the yardstick: automatic step sizes against the best fixed setting, cell by cell.

    cargo run --release -p fabnet-benches --bin yardstick -- cells.tsv 60     (or `full`)
    benches/steps/table.py cells.tsv

Rows are problems and numbers of agents, columns are networks. An entry is the largest ratio of
rounds (under noise, of errors) over the methods of a cell; `F` marks failures, `P` a peak above 1.5
times the initial error, and `–` a cell in which no fixed setting arrives. The last lines are the
three numbers that count: cells within twice the best, the largest ratio, the highest peak.
"""

import collections
import math
import sys

LATE = 10  # A run that needs more than ten times the best setting's rounds has failed.


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cells = collections.defaultdict(list)
    ratios, peaks, without = [], [], []
    for line in open(sys.argv[1]):
        problem, network, agents, method, noise, fixed, automatic, failures, peak, _ = line.rstrip("\n").split("\t")
        fixed, automatic, failures, peak = float(fixed), float(automatic), int(failures), float(peak)
        ratio = automatic / fixed if math.isfinite(fixed) else None
        cells[(problem, int(agents), noise), network].append((ratio, failures, peak))
        if ratio is None:
            without.append(" ".join((problem, network, agents, method, noise)))
            continue
        ratios.append(math.inf if failures else ratio)
        peaks.append(peak)
    networks = sorted({network for _, network in cells})
    rows = sorted({row for row, _ in cells})
    print("| problem | agents | noise | " + " | ".join(networks) + " |")
    print("|---" * (len(networks) + 3) + "|")
    for row in rows:
        entries = [entry(cells.get((row, network), [])) for network in networks]
        print(f"| {row[0]} | {row[1]} | {row[2]} | " + " | ".join(entries) + " |")
    good = sum(ratio <= 2 for ratio in ratios)
    finite = [ratio for ratio in ratios if math.isfinite(ratio)]
    print(f"\nwithin twice the best fixed setting: {good} of {len(ratios)} cells ({good / len(ratios):.0%})")
    print(f"largest ratio {max(finite):.2f}; failures in {len(ratios) - len(finite)} cells")
    print(f"highest peak {max(peaks):.2f} times the initial error, above 1.5 in {sum(p > 1.5 for p in peaks)} cells")
    print(f"cells in which no fixed setting arrives: {len(without)}")
    for name in without:
        print(f"  {name}")


def entry(found):
    """What the table says of the methods in one cell."""
    known = [cell for cell in found if cell[0] is not None]
    if not known:
        return "–" if found else ""
    marks = ("F" if any(failures for _, failures, _ in known) else "") + ("P" if any(peak > 1.5 for *_, peak in known) else "")
    return f"{max(ratio for ratio, *_ in known):.1f}{marks}"


if __name__ == "__main__":
    main()
