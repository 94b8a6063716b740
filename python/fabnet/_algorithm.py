"""The view of one agent that an algorithm written in Python gets."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from . import _fabnet


class Agent(SimpleNamespace):
    """One agent, as an algorithm sees it in ``begin(agent)`` and ``step(agent)``.

    Every segment is an attribute: an array that holds the mixture with the neighbours' arrays when
    the function is called, and that is sent as the function leaves it.

    - ``own``: the private coordinates of the agent;
    - ``now``: the segments as the agent last sent them;
    - ``input``: what this agent contributes to each pushed segment, as a level: the total
      contribution so far, not the change in this round;
    - ``keep``: what the agent remembers and never sends;
    - ``index`` and ``round``: the number of the agent and of the round.

    Change the arrays in place, or assign others of the same shape.
    """

    index: int
    round: int
    own: np.ndarray
    now: SimpleNamespace
    input: SimpleNamespace
    keep: SimpleNamespace

    def __init__(
        self, row: dict, now: dict | None, input: dict, keep: dict, index: int, round: int
    ):
        parts = {
            name: SimpleNamespace(**arrays)
            for name, arrays in [("now", now or {}), ("input", input), ("keep", keep)]
        }
        super().__init__(**row, **parts, index=index, round=round)

    def upper(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradients of f in x, private coordinates last, and in y.

        A step may be called twice: first in a dry run that collects the gradient requests of all
        agents and gets zeros for an answer, then with the gradients. So a step must change nothing
        but the arrays of the agent.
        """
        return _fabnet.gradients(True, x, y)

    def lower(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradients of g in x, private coordinates last, and in y.

        What :meth:`upper` says about dry runs holds here too.
        """
        return _fabnet.gradients(False, x, y)
