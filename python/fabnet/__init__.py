"""Decentralized bilevel optimization over directed links.

Agents that share no data and have no server solve one problem together.

Run an experiment as the command does::

    >>> import fabnet
    >>> result = fabnet.run({
    ...     "agents": 4, "rounds": 50, "problem": {"kind": "quadratic"},
    ...     "algorithm": [{"kind": "push-pull", "steps": 0.05}]})
    >>> result.records["round"][-1]
    np.int64(50)

or bring a problem of your own: see :func:`solve`.
"""

from ._algorithm import Agent
from ._answer import Answer
from ._experiment import Check, Figure, Result, check, run
from ._fabnet import __version__
from ._lists import (
    list_algorithms,
    list_metrics,
    list_problems,
    list_topologies,
    list_weights,
)
from ._node import Found, Node, issue_certificates
from ._page import Page
from ._recorder import Snapshot
from ._solve import Solution, solve

__all__ = [
    "Agent",
    "Answer",
    "Check",
    "Figure",
    "Found",
    "Node",
    "Page",
    "Result",
    "Snapshot",
    "Solution",
    "__version__",
    "check",
    "issue_certificates",
    "list_algorithms",
    "list_metrics",
    "list_problems",
    "list_topologies",
    "list_weights",
    "run",
    "solve",
]
