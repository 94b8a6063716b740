"""Algorithms of your own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from . import _fabnet


class Agent(SimpleNamespace):
    """One agent, as an algorithm sees it in ``begin(agent)`` and ``step(agent)``.

    Every segment is an attribute: an array that arrives mixed with those of the neighbours, and leaves as what is sent next. ``own`` are the private coordinates. ``now`` has the row as it was sent,
    ``input`` what this agent contributes to each pushed segment, as a level, and ``keep`` what stays. ``index`` and ``round`` say who and when.

    Change arrays, or put others in their place.
    """

    index: int
    round: int
    own: np.ndarray
    now: SimpleNamespace
    input: SimpleNamespace
    keep: SimpleNamespace

    def __init__(self, row: dict, now: dict | None, input: dict, keep: dict, index: int, round: int):
        parts = {name: SimpleNamespace(**arrays) for name, arrays in [("now", now or {}), ("input", input), ("keep", keep)]}
        super().__init__(**row, **parts, index=index, round=round)

    def upper(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of f in x, private coordinates last, and in y. Count on nothing but the arrays: a step may be rehearsed, with zeros for an answer."""
        return _fabnet.gradients(True, x, y)

    def lower(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of g."""
        return _fabnet.gradients(False, x, y)
