#!/usr/bin/env python3
"""Compares automatic step sizes with the best fixed ones, by the command `fabnet`.

    benches/steps/compare.py paper      the paper's network, 40 seeds: rounds to 1e-2, 1e-4 and 1e-6
    benches/steps/compare.py noise      the error at the end of 5,000 and of 50,000 rounds
    benches/steps/compare.py loss       10 % and 30 % of all messages lost, on three networks
    benches/steps/compare.py large      1,000, 10,000 and 100,000 agents
    benches/steps/compare.py learning   hyper-cleaning on a fifth of Fashion-MNIST, and a learned
                                        ridge on MNIST with a hundred agents (needs FABNET_DATA)

The command is `fabnet`, or what the environment variable FABNET names. Fixed settings are chosen on
the seeds 500 to 502, and all numbers that are printed come from seeds from 700 on.
"""

import collections
import csv
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

COMMAND = os.environ.get("FABNET", "fabnet")
CHOOSING = "500..503"
HELD_OUT = "700..705"

PROBLEM = '[problem]\nkind = "policy-evaluation"\n'
PHASES = '[topology]\nkind = "phases"\nedge_probability = 0.3\n'
ONE_PEER = '[topology]\nkind = "one-peer-exponential"\n'
RADIX = '[topology]\nkind = "mixed-radix"\n'
AUTOMATIC = '[[algorithm]]\nlabel = "auto"\nkind = "dfab"\n'


def run(text):
    """Runs an experiment; returns its summary and its records by group."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "experiment.toml").write_text(text)
        # Exit code 3 says that runs have diverged, as some of the fixed settings do.
        done = subprocess.run(
            [COMMAND, "run", folder / "experiment.toml", "--out", folder / "out"], capture_output=True, text=True
        )
        if not (folder / "out" / "summary.json").exists():
            sys.exit(done.stderr)
        summary = json.loads((folder / "out" / "summary.json").read_text())
        records = collections.defaultdict(list)
        with open(folder / "out" / "records.csv") as file:
            for row in csv.DictReader(file):
                records[row["label"]].append(row)
        return summary, records


def fixed(settings):
    """Fixed step sizes as an `[[algorithm]]`, labelled by themselves."""
    mixings, order, momentum, x, lower = settings
    sizes = f"x = {x}, u = {lower}, z = {lower}"
    label = f"K = {mixings} {order} β = {momentum} {sizes}"
    steps = f'{{ {sizes}, momentum = {momentum}, mixings = {mixings}, order = "{order}" }}'
    return f'[[algorithm]]\nlabel = "{label}"\nkind = "dfab"\nsteps = {steps}\n'


def grid(mixings, momenta, outer, lower):
    """An honest grid of fixed settings; momentum shortens step sizes by 1 − β."""
    for k, order, beta, x, z in itertools.product(mixings, ("mix-then-add", "add-then-mix"), momenta, outer, lower):
        yield k, order, beta, round(x * (1 - beta), 6), round(z * (1 - beta), 6)


def reached(records, target, column):
    """The round from which on an error stays below the target, for each run of a group."""
    runs = collections.defaultdict(lambda: None)
    for row in records:
        below = float(row[column]) < target
        first = runs[row["run"]]
        runs[row["run"]] = (first if first is not None else int(row["round"])) if below else None
    return list(runs.values())


def median(rounds):
    """The median, where runs that never arrive count as infinitely late."""
    return statistics.median(float("inf") if late is None else late for late in rounds)


def head(seeds, rounds, every, agents=10, extra=""):
    metrics = '["relative_error", "worst_error"]'
    return (
        f'name = "compare"\nagents = {agents}\nrounds = {rounds}\nseeds = "{seeds}"\n{extra}'
        f"[record]\nevery = {every}\nmetrics = {metrics}\n"
    )


def best_fixed(settings, rounds, rest, score, every=20):
    """The setting with the best score on the choosing seeds, as an `[[algorithm]]`."""
    settings = list(settings)
    _, records = run(head(CHOOSING, rounds, every) + rest + "".join(map(fixed, settings)))
    label = min(records, key=lambda label: score(records[label]))
    return next(text for text in map(fixed, settings) if f'"{label}"' in text), label


def paper():
    """Rounds on the paper's network, of the mean and of the worst agent."""
    for seeds in ("700..740", "740..780"):
        _, records = run(head(seeds, 5000, 1) + PROBLEM + PHASES + AUTOMATIC)
        for column in ("relative_error", "worst_error"):
            rounds = [reached(records["auto"], target, column) for target in (1e-2, 1e-4, 1e-6)]
            late = sum(round is None or round > 3000 for round in rounds[-1])
            print(f"seeds {seeds}, {column}: {' / '.join(str(median(r)) for r in rounds)} rounds, {late} of 40 later than 3,000")


def noise():
    """The mean error over the last tenth of the rounds."""
    problem = PROBLEM + "noise = 1.0\n"

    def tail(rounds, column="relative_error"):
        return lambda rows: statistics.mean(float(row[column]) for row in rows if int(row["round"]) >= 0.9 * rounds)

    for rounds in (5000, 50_000):
        settings = grid([1], [0.0], [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.004, 0.008], [0.015, 0.03, 0.06, 0.12])
        text, label = best_fixed(settings, rounds, problem + PHASES, tail(rounds), rounds // 250)
        _, records = run(head(HELD_OUT, rounds, rounds // 250) + problem + PHASES + AUTOMATIC + text)
        auto, other = (tail(rounds)(records[name]) for name in ("auto", label))
        print(f"{rounds} rounds: automatic {auto:.4f}, best fixed {other:.4f} ({label}), ratio {auto / other:.2f}")


def loss():
    """Rounds of the worst agent to 1e-4 where messages are lost and ledgers make up for it."""
    for name, topology in (("phases", PHASES), ("one-peer", ONE_PEER), ("mixed radix", RADIX)):
        exact = None
        for share in (0.0, 0.1, 0.3):
            rest = PROBLEM + topology + (f"[faults]\nloss = {share}\n" if share else "")
            settings = grid([1, 2], [0.0, 0.5, 0.8], [0.03, 0.06], [0.25, 0.8])
            score = lambda rows: median(reached(rows, 1e-4, "worst_error"))
            text, label = best_fixed(settings, 2000, rest, score)
            _, records = run(head(HELD_OUT, 12_000, 10) + rest + AUTOMATIC + text)
            auto, other = (reached(records[group], 1e-4, "worst_error") for group in ("auto", label))
            exact = exact or median(auto)
            failures = sum(round is None for round in auto)
            print(
                f"{name}, {share:.0%} lost: automatic {median(auto):.0f} ({failures} of {len(auto)} fail), "
                f"best fixed {median(other):.0f} ({label}), ratio {median(auto) / median(other):.2f}; "
                f"to exact mixing {median(auto) / exact:.2f}",
                flush=True,
            )


def large():
    """Rounds of the worst agent to 1e-4 with many agents."""
    for name, topology in (("one-peer", ONE_PEER), ("mixed radix", RADIX)):
        for problem in ("policy-evaluation", "bilevel-quadratic"):
            few = None
            for agents in (1000, 10_000, 100_000):
                rest = f'[problem]\nkind = "{problem}"\n' + topology + AUTOMATIC
                stop = '[stop]\nmetric = "worst_error"\nbelow = 5e-5\n'
                _, records = run(head("700..701", 4000, 10, agents) + stop + rest)
                rounds = median(reached(records["auto"], 1e-4, "worst_error"))
                few = few or rounds
                print(f"{problem}, {name}, {agents} agents: {rounds:.0f} rounds, {rounds / few:.2f} times", flush=True)


def learning():
    """Accuracies with automatic and with hand-tuned step sizes."""
    for name, experiment in (("hyper-cleaning", CLEANING), ("hyper-tuning", TUNING)):
        summary, _ = run(experiment)
        for group in summary["groups"]:
            values = ", ".join(f"{metric} {value['median']:.3f}" for metric, value in group["final"].items())
            print(f"{name}, {group['label']}: {values}", flush=True)


CLEANING = """name = "cleaning"
agents = 10
rounds = 1020
seeds = "700..702"
precision = "f32"
[problem]
kind = "hyper-cleaning"
data = "fashion-mnist"
samples_per_agent = 1200
hidden = 64
corruption = 0.5
concentration = 0.5
minimum = 100
batch = 64
[topology]
kind = "phases"
edge_probability = 0.5
[[algorithm]]
label = "tuned"
kind = "fab"
penalty = 5
normalised = false
steps = { x = 100, y = 0.03, z = 0.03 }
[[algorithm]]
label = "auto"
kind = "fab"
penalty = 5
normalised = false
[[algorithm]]
label = "dfab-tuned"
kind = "dfab"
steps = { x = 100, u = 0.03, z = 0.03 }
[[algorithm]]
label = "dfab-auto"
kind = "dfab"
[record]
every = 85
metrics = ["accuracy", "accuracy_z", "accuracy_worst", "auc", "consensus"]
"""

TUNING = """name = "tuning"
agents = 100
rounds = 600
seeds = "700..702"
precision = "f32"
[problem]
kind = "hyper-tuning"
data = "mnist"
corruption = 0.2
[topology]
kind = "phases"
edge_probability = 0.05
[[algorithm]]
label = "tuned"
kind = "fab"
penalty = 1
normalised = false
steps = { x = 0.001, y = 0.01, z = 0.01 }
[[algorithm]]
label = "auto"
kind = "fab"
penalty = 1
normalised = false
[[algorithm]]
label = "dfab-auto"
kind = "dfab"
[record]
every = 50
metrics = ["accuracy", "accuracy_z", "accuracy_worst", "ridge"]
"""


if __name__ == "__main__":
    known = {"paper": paper, "noise": noise, "loss": loss, "large": large, "learning": learning}
    if len(sys.argv) != 2 or sys.argv[1] not in known:
        sys.exit(__doc__)
    known[sys.argv[1]]()
