"""FAB on Fashion-MNIST in PyTorch, as a careful user would write it: one flat vector per agent, views of it as layers, agents side by side.

Prints seconds per epoch. Arguments: threads, epochs, hidden units. The same passes and the same mixing as fabnet's: per step and agent a validation batch at y, a training batch at y
and at z, each 64 samples forward and backward; points mixed by A, trackers by B.
"""
import gzip, os, sys, time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

threads, epochs, hidden = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
AGENTS, BATCH, ETA, ETA_X, PENALTY, RIDGE = 10, 64, 0.03, 0.001, 1.0, 0.002
data = os.path.join(os.environ["FABNET_DATA"], "fashion-mnist")


def idx(name, header):
    return np.frombuffer(gzip.open(os.path.join(data, name)).read(), np.uint8, offset=header)


images = torch.from_numpy(idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 784).astype(np.float32) / 255)
labels = torch.from_numpy(idx("train-labels-idx1-ubyte.gz", 8).astype(np.int64))
hands = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0)).chunk(AGENTS)
shares = []
for hand in hands:
    checked = len(hand) // 10
    shares.append((images[hand[checked:]], labels[hand[checked:]], images[hand[:checked]], labels[hand[:checked]]))
steps = -(-len(shares[0][1]) // BATCH)

sizes = [784 * hidden, hidden, hidden * 10, 10]
width = sum(sizes)
start = torch.cat([torch.empty(size).uniform_(-bound, bound) for size, bound in zip(sizes, [1 / 28] * 2 + [hidden**-0.5] * 2)])


def forward(flat, x):
    w1, b1, w2, b2 = flat.split(sizes)
    h = torch.relu(torch.addmm(b1, x, w1.view(784, hidden)))
    return torch.addmm(b2, h, w2.view(hidden, 10))


def slopes(agent, step, v, psi):
    """The directions in y and z, and in the batch's weights."""
    train_x, train_y, val_x, val_y = shares[agent]
    at = step % steps
    rows = slice(at * BATCH, (at + 1) * BATCH)
    some = slice(at * BATCH % len(val_y), at * BATCH % len(val_y) + BATCH)
    y = v[:width].detach().requires_grad_()
    z = v[width:].detach().requires_grad_()
    weights = torch.sigmoid(psi[agent][rows])
    upper = torch.nn.functional.cross_entropy(forward(y, val_x[some]), val_y[some])
    at_y = torch.nn.functional.cross_entropy(forward(y, train_x[rows]), train_y[rows], reduction="none")
    at_z = torch.nn.functional.cross_entropy(forward(z, train_x[rows]), train_y[rows], reduction="none")
    (dy,) = torch.autograd.grad(upper + PENALTY * (weights * at_y).mean(), y)
    (dz,) = torch.autograd.grad(PENALTY * (weights * at_z).mean(), z)
    with torch.no_grad():
        d = torch.cat([dy, dz])
        d.add_(v, alpha=PENALTY * RIDGE)
        d_psi = PENALTY * weights * (1 - weights) * (at_y - at_z) / BATCH
    return d, rows, d_psi


def matrices(seed):
    g = np.random.default_rng(seed)
    ring = np.roll(np.eye(AGENTS), 1, axis=1)
    phases = [np.minimum(1, ring + (g.random((AGENTS, AGENTS)) < 0.5)), ring, ring.T]
    for graph in phases:
        np.fill_diagonal(graph, 1)
    return [(torch.tensor(a / a.sum(1, keepdims=True), dtype=torch.float32), torch.tensor(a / a.sum(0, keepdims=True), dtype=torch.float32)) for a in phases]


def run(workers, inside):
    torch.set_num_threads(inside)
    psi = [torch.zeros(len(share[1])) for share in shares]
    v = start.repeat(AGENTS, 2)
    mixing = matrices(0)
    with ThreadPoolExecutor(workers) as pool:
        each = pool.map if workers > 1 else map
        directions = lambda step: list(each(lambda agent: slopes(agent, step, v[agent], psi), range(AGENTS)))
        found = directions(0)
        d = torch.stack([d for d, _, _ in found])
        t = d.clone()
        began = time.perf_counter()
        for step in range(epochs * steps):
            a, b = mixing[step // 10 % 3]
            for agent, (_, rows, d_psi) in enumerate(found):
                psi[agent][rows] -= ETA_X * d_psi
            v = torch.addmm(t, a, v, beta=-ETA)
            found = directions(step + 1)
            fresh = torch.stack([d for d, _, _ in found])
            t = torch.addmm(fresh, b, t).sub_(d)
            d = fresh
        return (time.perf_counter() - began) / epochs


ways = {"threads inside operations": (1, threads), "agents side by side": (threads, 1)} if threads > 1 else {"one thread": (1, 1)}
best = min((run(*how), way) for way, how in ways.items())
print(f"{best[0]:.3f} seconds per epoch of {steps} steps ({best[1]}, PyTorch {torch.__version__})")
