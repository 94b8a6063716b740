"""Data hyper-cleaning in PyTorch.

Ten agents with wrong labels learn a classifier together, and each learns which of its samples to
trust.

    pip install . torch safetensors
    # Or write such files yourself: docs/network.md.
    fabnet data divide examples/python/cleaning.toml --out shares
    python examples/python/cleaning_torch.py shares

Only parameters of the classifier leave an agent. Its samples and their weights do not.
"""

import pathlib
import sys

import fabnet
import fabnet.torch
import numpy as np
import torch
from safetensors.numpy import load_file

AGENTS, HIDDEN, ROUNDS = 10, 64, 1020

folder = pathlib.Path(sys.argv[1]) / "own"
files = [load_file(folder / f"{agent}.safetensors") for agent in range(AGENTS)]
test = load_file(folder / "test.safetensors")
rows = lambda images: torch.as_tensor(images.reshape(len(images), -1))
labels = lambda numbers: torch.as_tensor(numbers.astype(np.int64))

torch.manual_seed(0)
torch.set_num_threads(1)  # a mini-batch is too small to divide between threads
module = torch.nn.Sequential(
    torch.nn.Linear(784, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 10)
)


def upper(x, model, batch):
    """The loss on the samples with verified labels (the validation set)."""
    images, labels = batch
    return torch.nn.functional.cross_entropy(model(images), labels)


def lower(x, model, batch, weights):
    """The loss on all other samples, each times its learned weight, plus a small ridge."""
    images, labels = batch
    losses = torch.nn.functional.cross_entropy(model(images), labels, reduction="none")
    return (weights.sigmoid() * losses).mean() + 0.001 * sum(
        (parameter**2).sum() for parameter in model.parameters()
    )


problem = fabnet.torch.Problem(
    module,
    upper,
    lower,
    train=[(rows(file["train"]), labels(file["train_labels"])) for file in files],
    valid=[(rows(file["checked"]), labels(file["checked_labels"])) for file in files],
    weights=0.0,
    batch=64,
)
solution = fabnet.solve(
    problem,
    rounds=ROUNDS,
    topology={"kind": "phases", "edge_probability": 0.5},
    algorithm={"kind": "fab", "penalty": 5, "normalised": False},
    steps={"x": 100, "y": 0.03, "z": 0.03},
    record_every=ROUNDS,
    progress=True,
)

_, model = problem.unpack(solution.x.mean(0), solution.y.mean(0))
with torch.no_grad():
    accuracy = (
        (model(rows(test["test"])).argmax(1) == labels(test["test_labels"])).double().mean().item()
    )
wrong = np.concatenate([file["train_labels"] != file["true_labels"] for file in files])
ranks = np.concatenate(solution.own).argsort().argsort()
auc = (ranks[~wrong].mean() - (np.count_nonzero(~wrong) - 1) / 2) / np.count_nonzero(wrong)
print(
    f"accuracy {accuracy:.4f}, "
    f"a right label weighs more than a wrong one with probability {auc:.4f}"
)
