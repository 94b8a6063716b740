"""Real nodes whose gradients are computed in Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _fabnet


@dataclass(frozen=True)
class Found:
    """The solution that the agents of one node have found.

    ``x`` and ``y`` have a row for each of ``agents``, and ``own`` the private coordinates of each.
    """

    agents: list[int]
    x: np.ndarray
    y: np.ndarray
    own: list[np.ndarray]
    rounds: int


class Node:
    """One node of a real network, with gradients computed in Python.

    ``config`` is a ``node.toml`` as ``fabnet node`` reads it (docs/network.md): the run, the
    members with their addresses and agents, certificates, where the node keeps its state, and the
    experiment, whose problem is ``kind = "brought"``.

    ``problem`` is an object as :func:`solve` takes it. Only the functions of the node's own agents
    are called, and ``private`` of others may be 0. ``algorithm``, if given, is an object as
    :func:`solve` takes it and replaces the algorithm that the experiment names.

    All nodes must bring the same functions: the nodes compare sizes, not what functions return.
    """

    def __init__(self, config: str | os.PathLike[str], problem: Any, *, algorithm: Any = None):
        self._config, self._problem, self._algorithm = os.fspath(config), problem, algorithm

    def run(self) -> Found:
        """Take part until all rounds are done.

        After Ctrl-C, or an exception in a function, the node writes a checkpoint and announces that
        it leaves; then the exception is raised unchanged. A node that is started again continues
        where it was. ``ConnectionError`` is raised if the other nodes refuse it.
        """
        return Found(**_fabnet.node(self._config, self._problem, self._algorithm))


def issue_certificates(
    folder: str | os.PathLike[str], nodes: Mapping[str, str | Iterable[str]] | Iterable[str]
) -> None:
    """Make the certificate authority of a run and a certificate for each node.

    This is what ``fabnet pki`` does. In ``folder``, ``ca.pem``, ``NAME.pem`` and ``NAME.key`` are
    for the node; ``ca.key`` stays with whoever admits nodes.

    ``nodes`` are names, each with the hosts under which others reach the node; a node without hosts
    is reachable on this machine only.
    """
    if isinstance(nodes, str):
        nodes = [nodes]
    hosts = nodes if isinstance(nodes, Mapping) else {name: [] for name in nodes}
    _fabnet.certificates(
        os.fspath(folder),
        {name: [of] if isinstance(of, str) else list(of) for name, of in hosts.items()},
    )
