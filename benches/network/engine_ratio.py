#!/usr/bin/env python3
"""Rounds of fabnet's nodes against loops over the same engine, in one run: four processes, two neighbours each, lockstep, the same settings.

    benches/network/engine_ratio.py [REPEATS] [WHICH …]     7 repeats if not given; WHICH of tcp, tls, shm and of the sizes; all if not given

Three loops: a bare one that sends 16 bytes a scalar, as doubles would take, and never looks at them; a bare one with messages as long as the nodes' own; and one of that length that writes each message and reads each that comes, once.
Needs the command with all features, and `cargo build --release --workspace --all-features --example bare_engine`. Prints rounds per second and ratios: medians over repeats in which all four take turns, and the range of the middle half of them.
Aims: 0.9 of the first at 1.6 and 16 MB, 0.8 at 64 KiB; 0.6 of the third.
"""

import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
release = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "release"
# Scalars of the point; a message has as many pulled and pushed ones. And rounds, for a second or
# more each.
SIZES = {"64KiB": (4_096, 1000), "1.6MB": (100_000, 100), "16MB": (1_000_000, 12)}
AIMS = {"64KiB": 0.8, "1.6MB": 0.9, "16MB": 0.9}
FLAGS = {"tcp": ["--insecure"], "tls": [], "shm": ["--insecure", "--shared-memory"]}
BESIDE = 600  # bytes of a message that are no scalars
EXPERIMENT = """
agents = 4
rounds = {rounds}
seeds = 1
[problem]
kind = "quadratic"
inner = {scalars}
[topology]
kind = "ring"
undirected = true
[network]
pace = "lockstep"
tick = 0.5
[record]
every = {every}
metrics = ["consensus"]
[[algorithm]]
kind = "push-pull"
steps = {{ x = 0.1 }}
"""


def nodes(folder, kind, scalars, rounds):
    """Rounds per second of fabnet's nodes, from its first record to its last, and the bytes of a message."""
    folder.mkdir()
    experiment = folder / "experiment.toml"
    every = max(rounds // 4, 1)
    experiment.write_text(EXPERIMENT.format(rounds=rounds + every, scalars=scalars, every=every))
    command = [release / "fabnet", "launch", experiment, "--out", folder / "run", "--quiet", *FLAGS[kind]]
    subprocess.run(command, check=True)
    rows = list(csv.DictReader(open(folder / "run/records.csv")))
    first, last = rows[1], rows[-1]
    passed, sent = (float(last[name]) - float(first[name]) for name in ("round", "bytes_per_agent"))
    return passed / (float(last["seconds"]) - float(first["seconds"])), int(sent / passed / 2)


def bare(folder, length, rounds, *touch):
    """Rounds per second of loops with messages of this length, told where they are by the same files."""
    files = sorted((folder / "run/nodes").glob("*/node.toml"))
    commands = [[release / "examples/bare_engine", file, str(length), str(rounds), *touch] for file in files]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    try:
        return rounds / max(float(process.communicate(timeout=300)[0]) for process in processes)
    finally:
        for process in processes:
            process.kill()


def turn(folder, kind, scalars, rounds):
    """One turn of each: rounds per second."""
    try:
        own, length = nodes(folder, kind, scalars, rounds)
        wide = bare(folder, 16 * scalars + BESIDE, rounds)
        return own, wide, bare(folder, length, rounds), bare(folder, length, rounds, "touch")
    finally:
        shutil.rmtree(folder)


arguments = sys.argv[1:]
repeats = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 7
kinds = [kind for kind in FLAGS if kind in arguments] or list(FLAGS)
sizes = [size for size in SIZES if size in arguments] or list(SIZES)
reached = True
folder = pathlib.Path(tempfile.mkdtemp())
print("rounds per second, and the nodes' as a fraction of those of each loop [middle half of the turns]")
try:
    for kind in kinds:
        for size in sizes:
            turns = [turn(folder / f"{kind}-{size}-{repeat}", kind, *SIZES[size]) for repeat in range(repeats)]
            line = f"{kind} {size:>6}: nodes {statistics.median(turn[0] for turn in turns):7.1f}"
            for loop, name in enumerate(("16 bytes", "own length", "touching"), start=1):
                ratios = sorted(turn[0] / turn[loop] for turn in turns)
                middle = ratios[len(ratios) // 4 : len(ratios) - len(ratios) // 4]
                ratio = statistics.median(ratios)
                aim = {1: AIMS[size], 3: 0.6}.get(loop)
                reached &= aim is None or ratio >= aim
                rate = statistics.median(turn[loop] for turn in turns)
                line += f" | {name} {rate:7.1f}: {ratio:.2f} [{middle[0]:.2f}–{middle[-1]:.2f}]" + (f" (aim {aim})" if aim else "")
            print(line, flush=True)
finally:
    shutil.rmtree(folder)
sys.exit(not reached)
