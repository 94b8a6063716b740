"""Data hyper-cleaning in JAX.

Ten agents with wrong labels learn a classifier together, and each learns which of its samples to
trust.

    pip install . jax safetensors
    # Or write such files yourself: docs/network.md.
    fabnet data divide examples/python/cleaning.toml --out shares
    python examples/python/cleaning_jax.py shares

Only parameters of the classifier leave an agent. Its samples and their weights do not.
"""

import pathlib
import sys

import fabnet
import fabnet.jax
import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import load_file

AGENTS, HIDDEN, ROUNDS = 10, 64, 1020

folder = pathlib.Path(sys.argv[1]) / "own"
files = [load_file(folder / f"{agent}.safetensors") for agent in range(AGENTS)]
test = load_file(folder / "test.safetensors")
rows = lambda images: images.reshape(len(images), -1)


def layer(key, inputs, outputs):
    bound = inputs**-0.5
    numbers = jax.random.uniform(key, (inputs + 1, outputs), minval=-bound, maxval=bound)
    return {"weights": numbers[:-1], "biases": numbers[-1]}


def logits(y, images):
    hidden = jax.nn.relu(images @ y["hidden"]["weights"] + y["hidden"]["biases"])
    return hidden @ y["last"]["weights"] + y["last"]["biases"]


def losses(y, batch):
    chances = jax.nn.log_softmax(logits(y, batch["images"]))
    return -jnp.take_along_axis(chances, batch["labels"][:, None], axis=1)[:, 0]


def upper(x, y, batch):
    """The loss on the samples with verified labels (the validation set)."""
    return losses(y, batch).mean()


def lower(x, y, batch, weights):
    """The loss on all other samples, each times its learned weight, plus a small ridge."""
    ridge = 0.001 * sum((leaf**2).sum() for leaf in jax.tree.leaves(y))
    return (jax.nn.sigmoid(weights) * losses(y, batch)).mean() + ridge


first, second = jax.random.split(jax.random.key(0))
problem = fabnet.jax.Problem(
    upper,
    lower,
    y={"hidden": layer(first, 784, HIDDEN), "last": layer(second, HIDDEN, 10)},
    train=[{"images": rows(file["train"]), "labels": file["train_labels"]} for file in files],
    valid=[{"images": rows(file["checked"]), "labels": file["checked_labels"]} for file in files],
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

_, y = problem.unpack(solution.x.mean(0), solution.y.mean(0))
accuracy = float((logits(y, rows(test["test"])).argmax(1) == test["test_labels"]).mean())
wrong = np.concatenate([file["train_labels"] != file["true_labels"] for file in files])
ranks = np.concatenate(solution.own).argsort().argsort()
auc = (ranks[~wrong].mean() - (np.count_nonzero(~wrong) - 1) / 2) / np.count_nonzero(wrong)
print(
    f"accuracy {accuracy:.4f}, "
    f"a right label weighs more than a wrong one with probability {auc:.4f}"
)
