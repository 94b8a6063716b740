"""Problems whose losses are written in JAX.

>>> import jax.numpy as jnp
>>> import fabnet.jax
>>> rng = np.random.default_rng(0)
>>> truth = np.array([1.0, -2.0])
>>> def share(samples):                              # the data of one agent
...     inputs = rng.normal(size=(samples, 2))
...     return {"inputs": inputs, "targets": inputs @ truth}
>>> def error(y, batch):
...     return jnp.mean((batch["inputs"] @ y - batch["targets"]) ** 2)
>>> problem = fabnet.jax.Problem(
...     upper=lambda x, y, batch: error(y, batch),
...     lower=lambda x, y, batch: error(y, batch) + jnp.exp(x) * y @ y,     # the ridge is learned
...     x=0.0, y=np.zeros(2),
...     train=[share(20) for _ in range(4)], valid=[share(10) for _ in range(4)])
>>> solution = fabnet.solve(problem, topology="complete", rounds=1000)
>>> x, y = problem.unpack(solution.x[0], solution.y[0])
>>> bool(x < -4), bool(abs(y - truth).max() < 0.03)     # the ridge goes: there is no noise
(True, True)
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from ._samples import Learning, Samples, by_agent


class Problem(Learning):
    """A problem for :func:`fabnet.solve`, given by two losses.

    ``upper(x, y, batch)`` and ``lower(x, y, batch)`` return a number.

    ``x`` and ``y`` are pytrees with the starting point of all agents; x may be None. ``train`` and
    ``valid`` hold the samples of each agent for the lower and the upper level (the same samples, if
    ``valid`` is None): for each agent a pytree whose leaves have samples along their first axis. On
    a :class:`fabnet.Node`, they are dicts by agent that hold the node's own agents only. Each round
    shows ``batch`` samples, or all if it is None.

    With ``weights``, a number, every training sample has a weight of its own. It starts at that
    number, is learned with the outer variable, and never leaves its agent. ``lower(x, y, batch,
    weights)`` gets the weights of the samples in the batch.

    All agents are evaluated in one call if their samples have the same shapes and there are no
    sample weights.
    """

    def __init__(
        self,
        upper: Callable[..., Any],
        lower: Callable[..., Any],
        *,
        y: Any,
        train: Sequence[Any] | Mapping[int, Any],
        valid: Sequence[Any] | Mapping[int, Any] | None = None,
        x: Any = None,
        batch: int | None = None,
        weights: float | None = None,
        seed: int = 0,
    ):
        flat_x, self._unpack_x = ravel_pytree(jax.tree.map(_float, x))
        flat_y, self._unpack_y = ravel_pytree(jax.tree.map(_float, y))
        everybody_is_here = not isinstance(train, Mapping)
        train = _samples(train, batch, seed)
        super().__init__(
            train,
            train if valid is None else _samples(valid, batch, seed),
            weights,
            _numbers(flat_x),
            _numbers(flat_y),
        )
        losses = {"upper": self._loss(upper), "lower": self._loss(lower)}
        variables = {"upper": (0, 1), "lower": (0, 1) if weights is None else (0, 1, 2)}
        evaluate = {
            level: jax.value_and_grad(loss, variables[level]) for level, loss in losses.items()
        }
        self._one = {level: jax.jit(function) for level, function in evaluate.items()}
        if weights is None and everybody_is_here and all(map(_alike, self._samples.values())):
            self._all = {
                level: jax.jit(jax.vmap(function, in_axes=(0, 0, None, 0)))
                for level, function in evaluate.items()
            }
            self._shown_to_all = {
                level: functools.lru_cache(maxsize=1)(functools.partial(_stack, samples))
                for level, samples in self._samples.items()
            }
            self.upper_all = functools.partial(self._evaluate_all, "upper")
            self.lower_all = functools.partial(self._evaluate_all, "lower")

    def unpack(self, x: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
        """Return an agent's x and y of a solution as pytrees."""
        return self._unpack_x(_float(x)), self._unpack_y(_float(y))

    def _loss(self, loss: Callable[..., Any]) -> Callable[..., Any]:
        def of_flat(x, y, weights, batch):
            return loss(
                self._unpack_x(x),
                self._unpack_y(y),
                batch,
                *(() if weights is None else (weights,)),
            )

        return of_flat

    def _evaluate(self, level, agent, shown, x, y, weights):
        batch = jax.tree.map(lambda leaf: leaf[shown], self._samples[level].shares[agent])
        value, gradients = self._one[level](
            _float(x), _float(y), None if weights is None else _float(weights), batch
        )
        return float(value), *map(_numbers, gradients), *([None] if len(gradients) == 2 else [])

    def _evaluate_all(
        self, level: str, X: np.ndarray, Y: np.ndarray, round: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        samples = self._samples[level]
        shown = tuple(
            (slot.start, slot.stop)
            for slot in (samples.shown(agent, round) for agent in range(self.agents))
        )
        value, gradients = self._all[level](
            _float(X), _float(Y), None, self._shown_to_all[level](shown)
        )
        return _numbers(value), *map(_numbers, gradients)


def _float(numbers: Any) -> jax.Array:
    """Convert to the precision of JAX: single, unless JAX is configured for double."""
    return jnp.asarray(numbers, dtype=jnp.result_type(float))


def _numbers(array: jax.Array) -> np.ndarray:
    return np.asarray(array, dtype=np.float64)


def _samples(shares: Sequence[Any] | Mapping[int, Any], batch: int | None, seed: int) -> Samples:
    arrays = {agent: jax.tree.map(np.asarray, share) for agent, share in by_agent(shares).items()}
    return Samples(
        arrays,
        {agent: [len(leaf) for leaf in jax.tree.leaves(share)] for agent, share in arrays.items()},
        batch,
        seed,
    )


def _alike(samples: Samples) -> bool:
    """Tell whether the batches of all agents have one shape, so that they can be one array."""
    shapes = [jax.tree.map(np.shape, share) for share in samples.shares.values()]
    return all(shape == shapes[0] for shape in shapes) and samples.sizes[0] % samples.counts[0] == 0


def _stack(samples: Samples, shown: tuple[tuple[int, int], ...]) -> Any:
    cut = [
        jax.tree.map(lambda leaf: leaf[start:stop], share)
        for share, (start, stop) in zip(samples.shares.values(), shown)
    ]
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *cut)
