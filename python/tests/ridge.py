"""A regression whose ridge is learned, with gradients written by hand.

The tests compare libraries that differentiate automatically with it.
"""

import numpy as np

AGENTS = 4
SLOPE = np.array([1.0, -2.0, 0.5])
CLEANING = dict(
    rounds=3000,
    steps={"x": 5, "y": 0.02, "z": 0.02},
    algorithm={"kind": "fab", "penalty": 2, "normalised": False},
)


def settings(**changes):
    return (
        dict(topology="complete", rounds=300, algorithm={"kind": "fab", "penalty": 10}, steps=0.05)
        | changes
    )


def shares(samples, seed, noise=0.0):
    rng = np.random.default_rng(seed)

    def share(size):
        inputs = rng.normal(size=(size, 3))
        return {"inputs": inputs, "targets": inputs @ SLOPE + noise * rng.normal(size=size)}

    return [share(size) for size in samples]


def shares_with_wrong_samples(sizes):
    """Return samples, and flags that say which of them are wrong."""
    train, rng = shares(sizes, 1), np.random.default_rng(5)
    wrong = [rng.random(size) < 0.4 for size in sizes]
    for share, flags in zip(train, wrong):
        share["targets"] = np.where(flags, -share["targets"], share["targets"])
    return train, wrong


def how_often_right(weights, wrong):
    """Return the probability that a right sample weighs more than a wrong one."""
    trusted = np.concatenate([own[~flags] for own, flags in zip(weights, wrong)])
    doubted = np.concatenate([own[flags] for own, flags in zip(weights, wrong)])
    return (trusted[:, None] > doubted).mean()


class ByHand:
    """The functions f and g, and their gradients."""

    outer, inner = 1, 3

    def __init__(self, sizes):
        self.train, self.valid = shares(sizes, 1, noise=0.5), shares([7] * len(sizes), 2, noise=0.5)

    def error(self, share, y):
        gap = share["inputs"] @ y - share["targets"]
        return gap @ gap / len(gap) / 2, share["inputs"].T @ gap / len(gap)

    def upper(self, agent, x, y):
        value, slope = self.error(self.valid[agent], y)
        return value, np.zeros(1), slope

    def lower(self, agent, x, y):
        value, slope = self.error(self.train[agent], y)
        return value + np.exp(x[0]) / 2 * y @ y, np.exp(x) / 2 * (y @ y), slope + np.exp(x[0]) * y
