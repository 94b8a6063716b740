#!/usr/bin/env python3
"""Does `fabnet check` warn of runs that diverge, and of no others?

Draws experiments by a seed: methods, networks, problems, noise and learning. For each, full runs
find the step size at which it begins to diverge (factors of 4, then of 4^(1/8)). Then settings are
drawn between a tenth and ten times that limit, a third of them within a factor of two. `fabnet
check` predicts whether each diverges, and a full run shows what happens.

usage: compare.py [SETTINGS] [SEED] [--json FILE] [--guard]

The defaults are 120 settings and seed 1. FABNET is the command (default: fabnet); learning reads
data sets from FABNET_DATA if it is set, and uses synthetic data otherwise.

The exit code is 1 if `check` warned of fewer than 95 % of the runs that diverge, or of more than
5 % of the others. With --guard, which is meant for few settings on a noisy machine, the limits are
85 % and 15 %, and experiments are small.
"""

import argparse, json, os, random, subprocess, sys, tempfile, time
from pathlib import Path

FABNET = os.environ.get("FABNET", "fabnet")
RINGS = ['kind = "ring"', 'kind = "ring", undirected = true']
NETWORKS = RINGS + [
    'kind = "complete"',
    'kind = "one-peer-exponential"',
    'kind = "mixed-radix"',
    'kind = "phases", edge_probability = 0.3',
    'kind = "phases", edge_probability = 0.1',
    'kind = "erdos-renyi", edge_probability = 0.2',
    'kind = "erdos-renyi", edge_probability = 0.2, redraw = "every round"',
    'kind = "erdos-renyi", edge_probability = 0.3, undirected = true',
]
BILEVEL = [
    ("fab", "xyz"),
    ("dfab", "xuz"),
    ("push-pull-soba", "xyv"),
    ("push-sum-fab", "xyz"),
    ("static-fab", "xyz"),
]
SINGLE = [
    ("push-pull", "x"),
    ("push-diging", "x"),
    ("subgradient-push", "x"),
    ("d-psgd", "x"),
    ("push-saga", "x"),
    ("push-asgd", "x"),
]


def draw(rng):
    """Draw one experiment, without its step sizes."""
    family = rng.choices(
        ["policy", "bilevel", "single", "batches", "double", "learning"], [5, 3, 3, 2, 1, 3]
    )[0]
    agents = rng.choice([6, 8, 10, 12, 16])
    network = rng.choice(NETWORKS)
    rounds = rng.choice([2000, 4000, 8000])
    extra, momentum = "", 0.0
    if family == "policy":
        problem = f'kind = "policy-evaluation", noise = {rng.choice([0.0, 0.0, 0.5, 1.0])}'
        method, steps = rng.choice(BILEVEL)
    elif family == "bilevel":
        problem = f'kind = "bilevel-quadratic", heterogeneity = {rng.choice([0.2, 0.5, 1.0])}'
        method, steps = rng.choice(BILEVEL)
    elif family == "single":
        problem = f'kind = "quadratic", condition = {rng.choice([5.0, 20.0])}'
        method, steps = rng.choice(SINGLE[:4])
    elif family == "batches":
        problem = 'kind = "quadratic", batches = 8'
        method, steps = rng.choice(SINGLE)
    elif family == "double":
        problem, method, steps, extra = (
            'kind = "policy-evaluation"',
            "dl-push-pull",
            ["outer", "inner"],
            f"inner_rounds = {rng.choice([4, 9])}\n",
        )
    else:
        agents, rounds = rng.choice([4, 6, 8]), rng.choice([400, 800])
        data = rng.choice(["mnist", "synthetic"]) if os.environ.get("FABNET_DATA") else "synthetic"
        if rng.random() < 0.5:
            problem = f'kind = "hyper-tuning", data = "{data}", samples_per_agent = 40'
        else:
            problem = (
                f'kind = "hyper-cleaning", data = "{data}", '
                "samples_per_agent = 100, hidden = 8, batch = 32"
            )
        method, steps = rng.choice(BILEVEL[:2] + [("push-pull", "x")])
    if method in ("fab", "push-sum-fab", "static-fab"):
        extra += f"penalty = {rng.choice([2, 10, 40])}\n"
    if family in ("policy", "bilevel") and "noise = 0.0" in problem and rng.random() < 0.3:
        momentum = 0.8
    ratio = rng.choice([0.1, 0.3, 1.0])
    sizes = {
        name: ratio if index == 0 and len(steps) > 1 else 1.0 for index, name in enumerate(steps)
    }
    return dict(
        family=family,
        agents=agents,
        network=network,
        rounds=rounds,
        problem=problem,
        method=method,
        extra=extra,
        momentum=momentum,
        sizes=sizes,
        seed=rng.randrange(1000),
    )


def write(config, factors, path):
    """Write the experiment with a group for each of these factors of the step sizes."""
    groups = ""
    for index, factor in enumerate(factors):
        sizes = ", ".join(f"{name} = {size * factor!r}" for name, size in config["sizes"].items())
        momentum = f", momentum = {config['momentum']}" if config["momentum"] else ""
        groups += f'\n[[algorithm]]\nlabel = "g{index}"\nkind = "{config["method"]}"\n'
        groups += f"{config['extra']}steps = {{ {sizes}{momentum} }}\n"
    path.write_text(
        f'name = "check"\nagents = {config["agents"]}\nrounds = {config["rounds"]}\n'
        f"seeds = [{config['seed']}]\n"
        f"problem = {{ {config['problem']} }}\ntopology = {{ {config['network']} }}\n{groups}"
        f'\n[record]\nevery = 20\nmetrics = ["consensus"]\n'
    )


def run(config, factors, folder):
    """Return whether runs with these factors diverge, in their order."""
    write(config, factors, folder / "run.toml")
    out = folder / f"run-{time.monotonic_ns()}"
    done = subprocess.run(
        [FABNET, "run", folder / "run.toml", "--out", out, "--quiet"],
        capture_output=True,
        text=True,
    )
    if not (out / "summary.json").exists():
        raise RuntimeError(f"{config}: {done.stderr}")
    runs = json.loads((out / "summary.json").read_text())["runs"]
    return [run["outcome"] == "diverged" for run in sorted(runs, key=lambda run: run["run"])]


def limit(config, folder):
    """Return the factor at which runs begin to diverge.

    It is None if they do not diverge even with huge step sizes.
    """

    def first(factors):
        low, high = 0, len(factors)
        while low < high:
            middle = (low + high) // 2
            low, high = (
                (low, middle) if run(config, [factors[middle]], folder)[0] else (middle + 1, high)
            )
        return low

    coarse = [4.0**power for power in range(-7, 8)]
    found = first(coarse)
    if found == len(coarse):
        return None
    fine = [coarse[found] * 4 ** (power / 8) for power in range(-7, 1)]
    return fine[first(fine[:-1])] * 4 ** (-1 / 16)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("settings", nargs="?", type=int, default=120)
    arguments.add_argument("seed", nargs="?", type=int, default=1)
    arguments.add_argument("--json")
    arguments.add_argument("--guard", action="store_true")
    arguments = arguments.parse_args()
    rng, rows = random.Random(arguments.seed), []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        while len(rows) < arguments.settings:
            config = draw(rng)
            if arguments.guard:
                config["rounds"] = min(config["rounds"], 4000)
            near, wide = rng.uniform(-1, 1), [rng.uniform(-1, 1) for _ in range(2)]
            factors = [2**near, 10 ** wide[0], 10 ** wide[1]][: arguments.settings - len(rows)]
            stable = limit(config, folder)
            sizes = [factor * (stable or 1.0) for factor in factors]
            diverged = run(config, sizes, folder)
            said = subprocess.run(
                [FABNET, "check", folder / "run.toml", "--json"], capture_output=True, text=True
            )
            check = json.loads(said.stdout)
            warned = {
                warning["group"] for warning in check["warnings"] if warning["kind"] == "divergence"
            }
            for index, factor in enumerate(factors):
                group = check["groups"][index]
                rows.append(
                    dict(
                        config,
                        factor=factor if stable else None,
                        size=sizes[index],
                        diverged=diverged[index],
                        warned=f"g{index}" in warned,
                        trial=group["trials"],
                        limit=stable,
                    )
                )
                show(rows[-1])
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows))
    return judge(rows, 0.15 if arguments.guard else 0.05)


def show(row):
    factor = f"{row['factor']:7.2f}" if row["factor"] else "      –"
    verdict = {
        (True, True): "found",
        (False, False): "quiet",
        (True, False): "MISSED",
        (False, True): "FALSE ALARM",
    }
    trial = row["trial"][0]
    growth = f"{trial['growth']:.5f}" if trial["growth"] else "–"
    network = (
        row["network"].replace("kind = ", "").replace('"', "").replace("edge_probability = ", "")
    )
    problem = row["problem"].replace("kind = ", "").replace('"', "").split(", samples")[0]
    print(
        f"{verdict[row['diverged'], row['warned']]:<12}{factor} × limit  "
        f"{row['method']:<17}{row['agents']:>3} {network:<36}"
        f"{problem:<40}{'heavy ball ' if row['momentum'] else ''}"
        f"trial {trial['rounds']}/{row['rounds']} {trial['forecast']} {growth}",
        flush=True,
    )


def judge(rows, margin):
    bad, good = (
        [row for row in rows if row["diverged"]],
        [row for row in rows if not row["diverged"]],
    )
    found, false = sum(row["warned"] for row in bad), sum(row["warned"] for row in good)
    near = sum(row["factor"] is not None and 0.5 <= row["factor"] <= 2 for row in rows)
    part = max(sum(trial["rounds"] for trial in row["trial"]) / row["rounds"] for row in rows)
    print(
        f"{len(rows)} settings: {len(bad)} diverge ({len(bad) / len(rows):.0%}), "
        f"{near} within a factor of 2 of the limit ({near / len(rows):.0%})"
    )
    print(
        f"warned of {found} of {len(bad)} that diverge ({found / max(len(bad), 1):.1%}), "
        f"false alarms {false} of {len(good)} ({false / max(len(good), 1):.1%})"
    )
    print(f"the trial took at most {part:.1%} of a run's rounds")
    return 0 if found >= (1 - margin) * len(bad) and false <= margin * len(good) else 1


if __name__ == "__main__":
    sys.exit(main())
