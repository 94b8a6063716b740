#!/usr/bin/env python3
"""The table of the yardstick: automatic step sizes against the best fixed setting, cell by cell.

    experiments/steps/run.sh [COUNT]                    runs cells, and makes the table
    benches/steps/table.py cells.tsv [figure.svg]       the table and the figure of known cells

Rows are problems and numbers of agents, columns are networks. An entry is the largest ratio of
rounds (under noise, of errors) over the methods of a cell; `F` marks failures, `P` a peak above 1.5
times the initial error, and `–` a cell in which no fixed setting arrives. The last lines are the
three numbers that count: cells within twice the best, the largest ratio, the highest peak.
"""

import collections
import math
import pathlib
import sys


def main():
    if len(sys.argv) not in (2, 3):
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
    if len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text(draw(rows, networks, cells), encoding="utf-8")
    good = sum(ratio <= 2 for ratio in ratios)
    finite = [ratio for ratio in ratios if math.isfinite(ratio)]
    print(f"\nwithin twice the best fixed setting: {good} of {len(ratios)} cells ({good / len(ratios):.0%})")
    print(f"largest ratio {max(finite):.2f}; failures in {len(ratios) - len(finite)} cells")
    print(f"highest peak {max(peaks):.2f} times the initial error, above 1.5 in {sum(p > 1.5 for p in peaks)} cells")
    print(f"cells in which no fixed setting arrives: {len(without)}")
    for name in without:
        print(f"  {name}")


def worst(found):
    """The largest ratio over the methods of a cell, and marks; none if no fixed setting arrives."""
    known = [cell for cell in found if cell[0] is not None]
    if not known:
        return None
    marks = "F" if any(failures for _, failures, _ in known) else ""
    marks += "P" if any(peak > 1.5 for *_, peak in known) else ""
    return max(ratio for ratio, *_ in known), marks


def entry(found):
    """What the table says of the methods in one cell."""
    known = worst(found)
    if known is None:
        return "–" if found else ""
    return f"{known[0]:.1f}{known[1]}"


def colour(ratio):
    """Blue where automatic step sizes are faster, white where as fast, orange where slower."""
    strength = max(-1, min(1, math.log2(max(ratio, 0.01)) / 2))
    full = (0, 114, 178) if strength < 0 else (213, 94, 0)
    return "#" + "".join(f"{round(255 + (part - 255) * abs(strength)):02x}" for part in full)


def draw(rows, networks, cells):
    """The table as a picture."""
    left, top, width, height = 250, 40, 92, 20
    parts = []
    for column, network in enumerate(networks):
        parts.append(text(left + (column + 0.5) * width, top - 12, network, "middle"))
    for line, row in enumerate(rows):
        y = top + line * height
        name = f"{row[0]}, {row[1]} agents" + (", noise" if row[2] == "noise" else "")
        parts.append(text(left - 8, y + 14, name, "end"))
        for column, network in enumerate(networks):
            found = cells.get((row, network), [])
            known, x = worst(found), left + column * width
            fill = colour(known[0]) if known else ("#dddddd" if found else "#ffffff")
            parts.append(box(x, y, width - 2, height - 2, fill))
            parts.append(text(x + width / 2 - 1, y + 14, entry(found), "middle"))
    size = (left + len(networks) * width + 10, top + len(rows) * height + 10)
    style = 'font-family="sans-serif" font-size="12"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" {style}>'
    return "\n".join([opening, box(0, 0, *size, "white"), *parts, "</svg>\n"])


def box(x, y, width, height, fill):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"/>'


def text(x, y, words, anchor):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'


if __name__ == "__main__":
    main()
