#!/usr/bin/env python3
"""Rounds of fabnet's nodes against a bare loop over the same engine, in one run: four processes, two neighbours each, lockstep; the same settings, payloads of the same length, which the bare loop never touches.

    benches/network/engine_ratio.py [REPEATS] [WHICH …]     3 repeats if not given; WHICH of tcp, tls, shm; all if not given

Needs the command with all features, and `cargo build --release --workspace --all-features --example bare_engine`. Prints rounds per second of both and their ratio, medians over alternating repeats.
Bars: 0.7 at 64 KiB, 0.85 at 1.6 MB and 16 MB.
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
# Scalars of the point; a message has as many pulled and pushed ones. And rounds, for some seconds
# each.
SIZES = {"64 KiB": (4_096, 2000), "1.6 MB": (100_000, 200), "16 MB": (1_000_000, 24)}
BESIDE = 600  # bytes of a message that are no scalars
BARS = {"64 KiB": 0.7, "1.6 MB": 0.85, "16 MB": 0.85}
FLAGS = {"tcp": ["--insecure"], "tls": [], "shm": ["--insecure", "--shared-memory"]}
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
    """Rounds per second of fabnet's nodes, from its first record to its last."""
    folder.mkdir()
    experiment = folder / "experiment.toml"
    experiment.write_text(EXPERIMENT.format(rounds=rounds, scalars=scalars, every=rounds // 4))
    command = [release / "fabnet", "launch", experiment, "--out", folder / "run", "--quiet", *FLAGS[kind]]
    subprocess.run(command, check=True)
    rows = [(int(row["round"]), float(row["seconds"])) for row in csv.DictReader(open(folder / "run/records.csv"))]
    (first, start), (last, end) = rows[1], rows[-1]
    return (last - first) / (end - start)


def bare(folder, scalars, rounds):
    """Rounds per second of bare loops, told where they are by the same files."""
    files = sorted((folder / "run/nodes").glob("*/node.toml"))
    program = release / "examples/bare_engine"
    commands = [[program, file, str(16 * scalars + BESIDE), str(rounds)] for file in files]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    try:
        return rounds / max(float(process.communicate(timeout=120)[0]) for process in processes)
    finally:
        for process in processes:
            process.kill()


repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
reached = True
folder = pathlib.Path(tempfile.mkdtemp())
try:
    for kind in sys.argv[2:] or FLAGS:
        for size, (scalars, rounds) in SIZES.items():
            ours, theirs = [], []
            for repeat in range(repeats):
                place = folder / f"{kind}-{scalars}-{repeat}"
                ours.append(nodes(place, kind, scalars, rounds))
                theirs.append(bare(place, scalars, rounds))
                shutil.rmtree(place)
            a, b = statistics.median(ours), statistics.median(theirs)
            reached &= a / b >= BARS[size]
            print(f"{kind} {size:>7}: nodes {a:8.1f}/s, bare {b:8.1f}/s, ratio {a / b:.2f} (bar {BARS[size]})", flush=True)
finally:
    shutil.rmtree(folder)
sys.exit(not reached)
