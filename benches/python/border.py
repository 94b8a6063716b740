#!/usr/bin/env python3
"""The cost of gradients from Python, measured by FAB on policy evaluation with 1,000 agents.

    benches/python/border.sh [ROUNDS]

builds the package, installs it into a virtual environment and runs this program. It prints

- the speed of `fabnet.solve` with gradients of NumPy as a fraction of the speed of these gradients
  alone (bar 0.8), at the paper's size and at larger ones,
- how many times faster it is than the plain loop below, which a researcher would write (bar 3),
- with a built-in problem, the rounds per second of `fabnet.run` as a fraction of the command's (bar
  0.98), if FABNET_COMMAND names the command.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import fabnet
import numpy as np

DISCOUNT, RIDGE = 0.9, 0.1
AGENTS, PENALTY, STEP = 1000, 60.0, 0.05
SIZES = [(20, 5), (100, 50), (400, 400)]  # states and features; the first is the paper's


class PolicyEvaluation:
    """Policy evaluation: values of states that explain the rewards of all agents."""

    def __init__(self, agents, states, features):
        self.outer, self.inner = features, states
        rng = np.random.default_rng(1)
        self.phi = rng.random((states, features))
        chances = rng.random((states, states))
        self.expected = DISCOUNT * chances / chances.sum(1, keepdims=True) @ self.phi
        self.rewards = rng.random((agents, states))

    def upper_all(self, X, Y):
        gap = X @ self.phi.T - Y
        return ((gap**2).sum(1) + RIDGE * (X**2).sum(1)) / 2, gap @ self.phi + RIDGE * X, -gap

    def lower_all(self, X, Y):
        gap = Y - self.rewards - X @ self.expected.T
        return (gap**2).sum(1) / 2, -gap @ self.expected, gap


def with_fabnet(problem, rounds):
    solution = fabnet.solve(
        problem,
        agents=AGENTS,
        rounds=rounds,
        algorithm={"kind": "fab", "penalty": PENALTY},
        steps=STEP,
        topology={"kind": "phases", "edge_probability": 3 / AGENTS},
        record_every=rounds,
    )
    return solution.x


def plain_loop(problem, rounds, seed=0):
    """FAB on the paper's cycle of three graphs, with dense matrices as in the paper."""
    rng, n = np.random.default_rng(seed), AGENTS
    ring = np.eye(n) + np.roll(np.eye(n), 1, axis=1)
    graphs = [np.minimum(ring + (rng.random((n, n)) < 3 / n), 1), ring, ring.T]
    A = [graph / graph.sum(1, keepdims=True) for graph in graphs]
    B = [graph / graph.sum(0, keepdims=True) for graph in graphs]
    x, y, z = (
        np.zeros((n, problem.outer)),
        np.zeros((n, problem.inner)),
        np.zeros((n, problem.inner)),
    )

    def directions():
        _, fx, fy = problem.upper_all(x, y)
        _, gx, gy = problem.lower_all(x, y)
        _, hx, hz = problem.lower_all(x, z)
        return fx / PENALTY + gx - hx, fy / PENALTY + gy, hz

    d = directions()
    t = d
    for k in range(rounds):
        phase = k // 10 % 3
        x, y, z = (A[phase] @ v - STEP * u for v, u in zip((x, y, z), t))
        new = directions()
        t = tuple(B[phase] @ u + after - before for u, after, before in zip(t, new, d))
        d = new
    return x


def gradients_alone(problem, rounds):
    rng = np.random.default_rng(2)
    x, y, z = (
        rng.random((AGENTS, width)) for width in (problem.outer, problem.inner, problem.inner)
    )
    for _ in range(rounds):
        problem.upper_all(x, y)
        problem.lower_all(x, y)
        problem.lower_all(x, z)


def seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def built_in(folder, repeats, rounds):
    """Return the speed of Python as a fraction of the command's, measured in turn."""
    experiment = pathlib.Path(folder) / "experiment.toml"
    experiment.write_text(
        f'agents = 1000\nrounds = {rounds}\nseeds = 1\n[problem]\nkind = "policy-evaluation"\n'
        '[topology]\nkind = "phases"\nedge_probability = 0.01\n'
        '[[algorithm]]\nkind = "fab"\npenalty = 60\nsteps = 0.05\n'
        f'[record]\nevery = {rounds}\nmetrics = ["consensus"]\n'
    )
    speed = lambda summary: summary["runs"][0]["rounds_per_second"]
    ratios = []
    for repeat in range(repeats):
        out = pathlib.Path(folder) / f"command-{repeat}"
        subprocess.run(
            [os.environ["FABNET_COMMAND"], "run", experiment, "--out", out, "--quiet"], check=True
        )
        python = speed(fabnet.run(experiment).summary)
        ratios.append(python / speed(json.loads((out / "summary.json").read_text())))
    return statistics.median(ratios)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    failed = False

    def report(what, ratio, bar):
        nonlocal failed
        failed |= ratio < bar
        print(f"{what}: {ratio:.2f} (bar {bar})", flush=True)

    for states, features in SIZES:
        problem = PolicyEvaluation(AGENTS, states, features)
        count = max(rounds * 20 // states, 50)
        ours, alone = [], []
        for _ in range(7 if states < 400 else 3):  # in turn, so that other load meets both
            alone.append(seconds(gradients_alone, problem, count))
            ours.append(seconds(with_fabnet, problem, count))
        ratio = statistics.median(a / o for a, o in zip(alone, ours))
        report(
            f"{states} states, {features} features: "
            "speed of fabnet with gradients of NumPy, as a fraction of these gradients alone",
            ratio,
            0.8,
        )
        if (states, features) == SIZES[0]:
            plain = [seconds(plain_loop, problem, max(count // 10, 1)) * 10 for _ in range(3)]
            report(
                "times faster than a plain loop",
                statistics.median(plain) / statistics.median(ours),
                3,
            )
    if "FABNET_COMMAND" in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            report(
                "a built-in problem through Python, as a fraction of the command",
                built_in(folder, 7, 2000),
                0.98,
            )
    sys.exit(failed)


if __name__ == "__main__":
    main()
