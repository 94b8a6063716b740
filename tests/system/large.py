#!/usr/bin/env python3
"""Four real nodes with rows of ten million scalars, mutual TLS, a tenth of all messages lost: the answer is right and no unit of mass is missing.

    tests/system/large.py [SCALARS]     coordinates of y; 2,500,000 if not given, which make rows of ten million scalars

Prints the error, the residual, rounds per second, bytes per round, and the memory of the largest process, which may be the one that collects.
"""

import csv
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
fabnet = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "release/fabnet"
scalars = int(sys.argv[1]) if len(sys.argv) > 1 else 2_500_000
folder = pathlib.Path(tempfile.mkdtemp())
try:
    command = [fabnet, "launch", root / "experiments/checks/large.toml", "--set", f"problem.inner={scalars}", "--loss", "0.1"]
    subprocess.run([*command, "--out", folder / "run", "--timeout", "40min", "--quiet"], check=True)
    run = json.load(open(folder / "run/summary.json"))["runs"][0]
    rows = list(csv.DictReader(open(folder / "run/records.csv")))
finally:
    shutil.rmtree(folder)
first, last = rows[1], rows[-1]
rounds, seconds, sent = (float(last[name]) - float(first[name]) for name in ("round", "seconds", "bytes_per_agent"))
row = 4 * scalars + 2
# Of the processes that `launch` has waited for, the largest.
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
error, residual = run["final"]["worst_error"], run["max_mass_residual"]
print(f"rows of {row} scalars, {last['round']} rounds, {run['dropped']} messages dropped")
print(f"worst error {error:.2e} (at most 1e-3), mass residual {residual} (0)")
print(f"{rounds / seconds:.2f} rounds per second, {sent / rounds / row:.2f} bytes sent per scalar and round")
print(f"{memory / 1e9:.2f} GB in the largest process: {memory / row:.0f} bytes per scalar of a row")
sys.exit(not (error < 1e-3 and residual == 0))
