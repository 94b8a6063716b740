"""Tests of problems in PyTorch.

PyTorch is too large to be installed for every change: `benches/python/cleaning.sh` installs it and
runs these tests.
"""

import fabnet
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import fabnet.torch  # noqa: E402
from ridge import (
    AGENTS,
    CLEANING,
    SLOPE,
    ByHand,
    how_often_right,
    settings,
    shares,
    shares_with_wrong_samples,
)  # noqa: E402


class Slope(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))

    def forward(self, inputs):
        return inputs @ self.slope


def error(model, batch):
    return ((model(batch["inputs"]) - batch["targets"]) ** 2).mean() / 2


def ridge(sizes, module=None, **options):
    return fabnet.torch.Problem(
        module or Slope(),
        upper=lambda x, model, batch: error(model, batch),
        lower=lambda x, model, batch: (
            error(model, batch) + x["log"].exp() / 2 * (model.slope**2).sum()
        ),
        x={"log": 0.0},
        train=shares(sizes, 1, noise=0.5),
        valid=shares([7] * len(sizes), 2, noise=0.5),
        **options,
    )


@pytest.mark.parametrize("sizes", [[12] * AGENTS, [5, 12, 9, 20]])
def test_gradients_are_those_by_hand(sizes):
    a = fabnet.solve(ridge(sizes), **settings())
    b = fabnet.solve(ByHand(sizes), agents=AGENTS, **settings())
    assert np.allclose(a.x, b.x, rtol=0, atol=1e-11)
    assert np.allclose(a.y, b.y, rtol=0, atol=1e-11)
    assert abs(b.y).max() > 0.5


def test_weights_stay_with_their_agent_and_find_wrong_samples():
    sizes = [30, 40, 20, 50]
    train, wrong = shares_with_wrong_samples(sizes)
    problem = fabnet.torch.Problem(
        Slope(),
        upper=lambda x, model, batch: error(model, batch),
        lower=lambda x, model, batch, weights: (
            (weights.sigmoid() * (model(batch["inputs"]) - batch["targets"]) ** 2).mean()
            + 0.001 * (model.slope**2).sum()
        ),
        train=train,
        valid=shares([10] * AGENTS, 2),
        weights=0.0,
        batch=16,
    )
    assert [problem.private(agent) for agent in range(AGENTS)] == sizes
    solution = fabnet.solve(problem, **settings(**CLEANING))
    assert how_often_right(solution.own, wrong) > 0.95
    x, module = problem.unpack(solution.x[0], solution.y[0])
    assert x is None
    assert np.abs(module.slope.detach().numpy() - SLOPE).max() < 0.1


def test_buffers_are_each_agents_own():
    class Counting(Slope):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, inputs):
            self.seen += len(inputs)
            return super().forward(inputs)

    module = Counting()
    problem = ridge([5, 12, 9, 20], module)
    fabnet.solve(problem, **settings(rounds=1, record_every=1))
    seen = np.array([buffers[0].item() for buffers in problem._buffers.values()])
    evaluations = (seen - seen[0]) / (np.array([5, 12, 9, 20]) - 5 + 1e-9)
    assert module.seen.item() == 0, "the module itself has seen nothing"
    assert len(set(evaluations[1:].round(6))) == 1 and evaluations[1] >= 2, (
        "every agent has seen its own samples, equally often"
    )


def test_what_does_not_fit_is_named():
    class Idle(Slope):
        def __init__(self):
            super().__init__()
            self.idle = torch.nn.Parameter(torch.zeros(2))

    with pytest.raises(ValueError, match="`idle` has no part in the loss"):
        fabnet.solve(ridge([3] * AGENTS, Idle()), **settings(rounds=2))
    with pytest.raises(ValueError, match="agent 1 has no samples"):
        ridge([3, 0])
    with pytest.raises(ValueError, match="nothing to learn"):
        ridge([3, 3], Slope().requires_grad_(False))
