"""Tests of problems in JAX."""

import fabnet
import numpy as np
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import fabnet.jax  # noqa: E402
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


def error(y, batch):
    return jnp.mean((batch["inputs"] @ y["slope"] - batch["targets"]) ** 2) / 2


def ridge(sizes, **options):
    return fabnet.jax.Problem(
        upper=lambda x, y, batch: error(y, batch),
        lower=lambda x, y, batch: error(y, batch) + jnp.exp(x["log"]) / 2 * y["slope"] @ y["slope"],
        x={"log": 0.0},
        y={"slope": np.zeros(3)},
        train=shares(sizes, 1, noise=0.5),
        valid=shares([7] * len(sizes), 2, noise=0.5),
        **options,
    )


@pytest.fixture
def double():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.mark.parametrize("sizes", [[12] * AGENTS, [5, 12, 9, 20]])
def test_gradients_are_those_by_hand(double, sizes):
    ours, by_hand = ridge(sizes), ByHand(sizes)
    assert hasattr(ours, "upper_all") == (len(set(sizes)) == 1)
    a = fabnet.solve(ours, **settings())
    b = fabnet.solve(by_hand, agents=AGENTS, **settings())
    assert np.allclose(a.x, b.x, rtol=0, atol=1e-11)
    assert np.allclose(a.y, b.y, rtol=0, atol=1e-11)
    assert abs(b.y).max() > 0.5


def test_an_epoch_shows_every_sample_once():
    problem = ridge([10, 7, 9, 12], batch=4)
    samples = problem._samples["lower"]
    orders = set()
    for agent, size in samples.sizes.items():
        count = samples.counts[agent]
        for epoch in range(5):
            shown = [samples.shown(agent, epoch * count + place) for place in range(count)]
            assert sorted(np.concatenate([np.arange(size)[one] for one in shown]).tolist()) == list(
                range(size)
            )
            assert all(one.stop - one.start <= 4 for one in shown)
            orders.add(tuple(one.start for one in shown))
    assert len(orders) > 4, "epochs differ"


def test_mini_batches_lead_to_where_all_samples_lead():
    whole = fabnet.solve(ridge([12] * AGENTS), **settings(rounds=3000, steps=0.02))
    some = fabnet.solve(ridge([12] * AGENTS, batch=4), **settings(rounds=3000, steps=0.02))
    again = fabnet.solve(ridge([12] * AGENTS, batch=4), **settings(rounds=3000, steps=0.02))
    assert np.array_equal(some.y, again.y)
    assert not np.array_equal(some.y, whole.y)
    assert np.abs(some.y.mean(0) - whole.y.mean(0)).max() < 0.1


def test_weights_stay_with_their_agent_and_find_wrong_samples():
    sizes = [30, 40, 20, 50]
    train, wrong = shares_with_wrong_samples(sizes)
    problem = fabnet.jax.Problem(
        upper=lambda x, y, batch: error(y, batch),
        lower=lambda x, y, batch, weights: (
            jnp.mean(
                jax.nn.sigmoid(weights) * (batch["inputs"] @ y["slope"] - batch["targets"]) ** 2
            )
            + 0.001 * y["slope"] @ y["slope"]
        ),
        y={"slope": np.zeros(3)},
        train=train,
        valid=shares([10] * AGENTS, 2),
        weights=0.0,
        batch=16,
    )
    assert [problem.private(agent) for agent in range(AGENTS)] == sizes
    solution = fabnet.solve(problem, **settings(**CLEANING))
    assert how_often_right(solution.own, wrong) > 0.95
    _, y = problem.unpack(solution.x[0], solution.y[0])
    assert np.abs(y["slope"] - SLOPE).max() < 0.1


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="agent 1 has no samples"):
        ridge([3, 0])
    with pytest.raises(ValueError, match="agent 0 have \\[2, 3\\] samples"):
        fabnet.jax.Problem(
            lambda *_: 0.0,
            lambda *_: 0.0,
            y=np.zeros(1),
            train=[{"a": np.zeros(2), "b": np.zeros(3)}],
        )
    with pytest.raises(ValueError, match="4 agents have samples to train with, but 3"):
        fabnet.jax.Problem(
            lambda *_: 0.0,
            lambda *_: 0.0,
            y=np.zeros(1),
            train=shares([2] * 4, 1),
            valid=shares([2] * 3, 1),
        )
    no_number = fabnet.jax.Problem(
        lambda x, y, batch: y, lambda x, y, batch: y, y=np.zeros(2), x=0.0, train=shares([2] * 4, 1)
    )
    with pytest.raises(TypeError, match="scalar"):
        fabnet.solve(no_number, **settings(rounds=2))


def test_a_node_knows_its_own_samples_only():
    whole, mine = ridge([6, 6, 6]), shares([6, 6, 6], 1, noise=0.5)
    part = fabnet.jax.Problem(
        lambda x, y, batch: error(y, batch),
        lambda x, y, batch: error(y, batch),
        x={"log": 0.0},
        y={"slope": np.zeros(3)},
        train={0: mine[0]},
        weights=None,
    )
    assert hasattr(whole, "upper_all") and not hasattr(part, "upper_all")
    assert np.allclose(
        part.upper(0, np.zeros(1), np.ones(3), 0)[2], part.lower(0, np.zeros(1), np.ones(3), 0)[2]
    )
    with pytest.raises(KeyError):
        part.upper(1, np.zeros(1), np.ones(3), 0)
