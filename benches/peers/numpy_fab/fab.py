"""FAB on policy evaluation with NumPy and SciPy, as a researcher would write it today: all agents in one array, CSR mixing matrices.

Usage: fab.py small ROUNDS | fab.py large ROUNDS | fab.py error ROUNDS
Prints rounds per second (or, for `error`, the relative error reached).
"""
import sys
import time

import numpy as np
import scipy.sparse as sp

STATES, FEATURES, DISCOUNT, RIDGE = 20, 5, 0.9, 0.1


class PolicyEvaluation:
    def __init__(self, agents, rng):
        self.phi = rng.random((STATES, FEATURES))
        transition = rng.random((STATES, STATES))
        transition /= transition.sum(axis=1, keepdims=True)
        self.m = DISCOUNT * transition @ self.phi
        self.rewards = rng.random((agents, STATES))
        d = self.phi - self.m
        self.optimum = np.linalg.solve(d.T @ d + RIDGE * np.eye(FEATURES), d.T @ self.rewards.mean(axis=0))

    def directions(self, v, penalty, out):
        """The directions of L/penalty for all agents at once."""
        x, y, z = v[:, :5], v[:, 5:25], v[:, 25:]
        fit = (x @ self.phi.T - y) / penalty
        target = self.rewards + x @ self.m.T
        # grad_x g(x,y) - grad_x g(x,z) = -(y - z) M: the targets cancel
        out[:, :5] = fit @ self.phi + (RIDGE / penalty) * x - (y - z) @ self.m
        out[:, 5:25] = y - target - fit
        out[:, 25:] = z - target


def matrices(sources, targets, agents):
    """A and B with uniform weights; the links must not repeat and the loops are among them."""
    a = sp.csr_matrix((1.0 / np.bincount(targets, minlength=agents)[targets], (targets, sources)), shape=(agents, agents))
    b = sp.csr_matrix((1.0 / np.bincount(sources, minlength=agents)[sources], (targets, sources)), shape=(agents, agents))
    return a, b


def links(agents, probability, rng):
    """A ring, loops and random links, drawn in time proportional to the links: gaps are geometric."""
    expected = agents * agents * probability
    gaps = rng.geometric(probability, size=int(expected + 8 * np.sqrt(expected) + 16))
    flat = np.cumsum(gaps) - 1
    flat = flat[flat < agents * agents]
    ring = np.arange(agents)
    flat = np.unique(np.concatenate([flat, ring * agents + (ring - 1) % agents, ring * agents + ring]))
    targets, sources = np.divmod(flat, agents)
    return sources, targets


def ring(agents, shift):
    i = np.arange(agents)
    return np.concatenate([(i + shift) % agents, i]), np.concatenate([i, i])


def phases(agents, probability, rng):
    graphs = [matrices(*links(agents, probability, rng), agents), matrices(*ring(agents, -1), agents), matrices(*ring(agents, 1), agents)]
    return lambda k: graphs[(k // 10) % 3]


def redrawn(agents, probability, rng):
    return lambda k: matrices(*links(agents, probability, rng), agents)


def run(agents, network, problem, rounds, penalty=60.0, step=0.1):
    v = np.zeros((agents, 45))
    d, new = np.empty_like(v), np.empty_like(v)
    problem.directions(v, penalty, d)
    t = d.copy()
    start = time.perf_counter()
    for k in range(rounds):
        a, b = network(k)
        v = a @ v
        v -= step * t
        problem.directions(v, penalty, new)
        t = b @ t
        t += new
        t -= d
        d, new = new, d
    return time.perf_counter() - start, v


def main():
    what, rounds = sys.argv[1], int(sys.argv[2])
    rng = np.random.default_rng(1)
    if what == "large":
        agents, step = 1000, 0.05
        network = redrawn(agents, 0.05, rng)
    else:
        agents, step = 10, 0.1
        network = phases(agents, 0.3, rng)
    problem = PolicyEvaluation(agents, rng)
    seconds, v = run(agents, network, problem, rounds, step=step)
    if what == "error":
        print(np.linalg.norm(v[:, :5].mean(axis=0) - problem.optimum) / np.linalg.norm(problem.optimum))
    else:
        print(rounds / seconds)


if __name__ == "__main__":
    main()
