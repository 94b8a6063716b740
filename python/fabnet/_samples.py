"""Samples of agents, and the mini-batches that rounds show of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def by_agent(shares: Sequence[Any] | Mapping[int, Any]) -> dict[int, Any]:
    """Return the shares by agent; a mapping holds those of the agents of one node only."""
    return dict(sorted(shares.items())) if isinstance(shares, Mapping) else dict(enumerate(shares))


class Samples:
    """Samples of every agent, in mini-batches of at most ``batch``, or all at once.

    An epoch shows all mini-batches of an agent once, in an order drawn from (seed, agent, epoch).
    So the mini-batch of a round is a pure function of these numbers.
    """

    def __init__(
        self,
        shares: Mapping[int, Any],
        lengths: Mapping[int, Sequence[int]],
        batch: int | None,
        seed: int,
    ):
        """Take the shares of agents, and the lengths of the arrays that each consists of."""
        if batch is not None and batch < 1:
            raise ValueError(f"a mini-batch of {batch} samples shows nothing")
        for agent, found in lengths.items():
            if len(set(found)) > 1:
                raise ValueError(
                    f"the arrays of agent {agent} have {sorted(set(found))} samples: "
                    "give all of them the same number, along the first axis"
                )
            if not found or found[0] == 0:
                raise ValueError(f"agent {agent} has no samples")
        self.shares, self.sizes, self._seed = (
            shares,
            {agent: found[0] for agent, found in lengths.items()},
            seed,
        )
        self.counts = {
            agent: 1 if batch is None else -(-size // batch) for agent, size in self.sizes.items()
        }
        self._order = functools.lru_cache(maxsize=4 * len(shares))(self._draw)

    def shown(self, agent: int, round: int) -> slice:
        """Return which samples of an agent a round shows.

        Mini-batches differ by one sample in size at most.
        """
        size, count = self.sizes[agent], self.counts[agent]
        place = self._order(agent, round // count)[round % count]
        return slice(place * size // count, (place + 1) * size // count)

    def _draw(self, agent: int, epoch: int) -> list[int]:
        return (
            np.random.default_rng([self._seed, agent, epoch])
            .permutation(self.counts[agent])
            .tolist()
        )


class Learning:
    """The part of a learning problem that does not depend on the library that differentiates.

    It decides which samples a round shows, and holds the sample weights that are private to an
    agent. A library implements ``_evaluate(level, agent, shown, x, y, weights)``, which returns a
    value and the gradients in x, y and the weights.
    """

    def __init__(
        self, train: Samples, valid: Samples, weights: float | None, x: np.ndarray, y: np.ndarray
    ):
        if train.sizes.keys() != valid.sizes.keys():
            raise ValueError(
                f"{len(train.sizes)} agents have samples to train with, but {len(valid.sizes)} "
                "have some to validate with: give both a share for each agent"
            )
        self._samples = {"lower": train, "upper": valid}
        self._weights, self._start = weights, (x, y)
        self.outer, self.inner = len(x), len(y)

    @property
    def agents(self) -> int:
        """The number of agents that have samples."""
        return len(self._samples["lower"].sizes)

    def private(self, agent: int) -> int:
        """Return how many sample weights an agent has; 0 for an agent of another node."""
        return 0 if self._weights is None else self._samples["lower"].sizes.get(agent, 0)

    def start(self, agent: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the starting point, the same for all agents."""
        x, y = self._start
        return np.concatenate([x, np.full(self.private(agent), self._weights or 0.0)]), y

    def upper(
        self, agent: int, x: np.ndarray, y: np.ndarray, round: int
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return f of one agent on the samples that a round shows, and its gradients."""
        shown = self._samples["upper"].shown(agent, round)
        value, by_x, by_y, _ = self._evaluate("upper", agent, shown, x[: self.outer], y, None)
        return value, np.concatenate([by_x, np.zeros(self.private(agent))]), by_y

    def lower(
        self, agent: int, x: np.ndarray, y: np.ndarray, round: int
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return g of one agent on the samples that a round shows, and its gradients."""
        shown = self._samples["lower"].shown(agent, round)
        x, own = np.split(x, [self.outer])
        weights = None if self._weights is None else own[shown]
        value, by_x, by_y, by_weights = self._evaluate("lower", agent, shown, x, y, weights)
        by_own = np.zeros_like(own)
        if weights is not None:
            by_own[shown] = by_weights
        return value, np.concatenate([by_x, by_own]), by_y

    def _evaluate(
        self,
        level: str,
        agent: int,
        shown: slice,
        x: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
    ) -> tuple[float, np.ndarray, np.ndarray, Any]:
        raise NotImplementedError
