#!/usr/bin/env python3
"""Pins what the program computes, so that a redesign can show that it changed nothing.

    tests/behaviour/pin.py record FILE     runs the suite and writes a hash of each result
    tests/behaviour/pin.py check FILE      runs it again and names every result that differs

The command is `fabnet`, or what the environment variable FABNET names. The suite consists of
every method of `fabnet list` on three networks, in both precisions, without faults, with faults and
ledgers, and with faults alone; of learning problems; and of the trace of simulated seeds (SEEDS,
20,000 unless the environment says otherwise). A hash covers all columns of the records but
`seconds`, and the solutions. Learning uses the widest vector units of the processor, so its hashes
are comparable on one machine only: `--no-learning` leaves it out.

The bytes of messages are pinned by the test `an_exchange_has_the_bytes_of_its_version`.
"""

import argparse
import csv
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COMMAND = os.environ.get("FABNET", "fabnet")
SEEDS = os.environ.get("SEEDS", "20000")

NETWORKS = {
    "phases": 'kind = "phases"\nedge_probability = 0.3',
    "one-peer": 'kind = "one-peer-exponential"',
    "random": 'kind = "erdos-renyi"\nredraw = "every round"',
}
DELIVERIES = {
    "exact": "",
    "ledger": '[faults]\nloss = 0.1\ndelay = 2\ndelivery = "ledger"',
    "plain": '[faults]\nloss = 0.1\ndelivery = "plain"',
}
PROBLEMS = {
    "policy": ('kind = "policy-evaluation"\nnoise = 0.1', "0.005", 200),
    "quadratic": ('kind = "bilevel-quadratic"\nprivate = 2', '"auto"', 200),
}
LEARNING = {
    "cleaning": ('kind = "hyper-cleaning"\ndata = "synthetic"\nsamples_per_agent = 60\nbatch = 8\nhidden = 12', "0.05", 100),
    "tuning": ('kind = "hyper-tuning"\ndata = "synthetic"', "0.05", 60),
}


def methods():
    """The names of all methods, as the command lists them."""
    listing = subprocess.run([COMMAND, "list", "algorithms"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([a-z][a-z-]*) ", listing, flags=re.MULTILINE)


def experiment(method, problem, network, delivery):
    """An experiment file for one method, in both precisions."""
    keys, steps, rounds = problem
    return f"""
name = "pinned"
agents = 8
rounds = {rounds}
seeds = 2
precision = ["f32", "f64"]
[problem]
{keys}
[topology]
{NETWORKS[network]}
{DELIVERIES[delivery]}
[[algorithm]]
kind = "{method}"
steps = {steps}
[record]
every = 20
metrics = ["upper", "lower", "consensus", "mass_residual"]
solutions = "all"
"""


def pin(text):
    """A hash of what an experiment leaves behind, or the reason why it is refused."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "experiment.toml").write_text(text)
        out = folder / "out"
        run = [COMMAND, "run", folder / "experiment.toml", "--out", out, "--quiet"]
        result = subprocess.run(run, capture_output=True, text=True, check=False)
        if result.returncode != 0 and not (out / "records.csv").exists():
            return "refused"
        digest = hashlib.sha256()
        with open(out / "records.csv", newline="") as file:
            for row in csv.DictReader(file):
                row.pop("seconds")
                digest.update(json.dumps(row).encode())
        for path in sorted((out / "solutions").glob("*")):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:16]


def suite(learning):
    """All results by name, one after the other."""
    problems = PROBLEMS | (LEARNING if learning else {})
    for method in methods():
        for name, problem in problems.items():
            for network in NETWORKS:
                for delivery in DELIVERIES:
                    yield f"{method} {name} {network} {delivery}", pin(experiment(method, problem, network, delivery))
    faults = [COMMAND, "faults", "--seeds", f"0..{SEEDS}", "--json", "--quiet"]
    result = json.loads(subprocess.run(faults, capture_output=True, text=True, check=True).stdout)
    yield f"trace of {result['seeds']} seeds", result["trace"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["record", "check"])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--no-learning", action="store_true", help="leave learning problems out")
    arguments = parser.parse_args()
    pins = dict(suite(not arguments.no_learning))
    refused = sum(value == "refused" for value in pins.values())
    print(f"{len(pins)} results, {refused} of them refusals")
    if arguments.action == "record":
        arguments.file.write_text("".join(f"{name}\t{value}\n" for name, value in pins.items()))
        return
    known = dict(line.split("\t") for line in arguments.file.read_text().splitlines())
    different = [name for name, value in pins.items() if known.get(name) != value]
    for name in different:
        print(f"{name}: {known.get(name)} before, {pins[name]} now")
    sys.exit(f"{len(different)} results differ" if different else 0)


if __name__ == "__main__":
    main()
