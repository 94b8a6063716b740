"""FAB on policy evaluation with NumPy and SciPy, as a researcher would write it today: all agents in one array, CSR mixing matrices.

Usage: fab.py small|large|large-careful|error ROUNDS
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


def matrices(adjacency):
    """A and B with uniform weights from a dense mask in which row i marks whom agent i hears, itself among them."""
    a = sp.csr_matrix(adjacency / adjacency.sum(axis=1, keepdims=True))
    b = sp.csr_matrix(adjacency / adjacency.sum(axis=0, keepdims=True))
    return a, b


def ring(agents, shift):
    i = np.arange(agents)
    adjacency = np.eye(agents, dtype=bool)
    adjacency[i, (i + shift) % agents] = True
    return adjacency


def random_links(agents, probability, rng):
    return (rng.random((agents, agents)) < probability) | ring(agents, -1)


def phases(agents, probability, rng):
    """The paper's cycle: matrices are made once."""
    graphs = [matrices(g) for g in (random_links(agents, probability, rng), ring(agents, -1), ring(agents, 1))]
    return lambda k: graphs[(k // 10) % 3]


def redrawn(agents, probability, rng):
    """A new random graph in every round, the plain way: a mask of n x n uniform numbers."""
    return lambda k: matrices(random_links(agents, probability, rng))


def redrawn_careful(agents, probability, rng):
    """The same in time proportional to the links, as far as NumPy goes: geometric gaps, CSR arrays built directly."""
    i = np.arange(agents)
    fixed = np.concatenate([i * agents + i, i * agents + (i - 1) % agents])
    expected = agents * agents * probability
    size = int(expected + 8 * np.sqrt(expected) + 16)
    mask = np.zeros(agents * agents, dtype=bool)

    def draw(k):
        flat = np.cumsum(rng.geometric(probability, size=size)) - 1
        mask[:] = False
        mask[flat[flat < agents * agents]] = True
        mask[fixed] = True
        targets, sources = np.divmod(np.flatnonzero(mask), agents)
        heard, sent = np.bincount(targets, minlength=agents), np.bincount(sources, minlength=agents)
        rows = np.concatenate([[0], np.cumsum(heard)]).astype(np.int32)
        sources = sources.astype(np.int32)
        shape = (agents, agents)
        return (sp.csr_matrix((np.repeat(1.0 / heard, heard), sources, rows), shape=shape),
                sp.csr_matrix((1.0 / sent[sources], sources, rows), shape=shape))

    return draw


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
    if what.startswith("large"):
        agents, step = 1000, 0.05
        network = (redrawn if what == "large" else redrawn_careful)(agents, 0.05, rng)
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
