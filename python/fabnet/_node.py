"""Real nodes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _fabnet


@dataclass(frozen=True)
class Found:
    """What the agents of a node have found: ``x`` and ``y`` have a row for each of ``agents``, ``own`` the private coordinates of each."""

    agents: list[int]
    x: np.ndarray
    y: np.ndarray
    own: list[np.ndarray]
    rounds: int


class Node:
    """One node of a real network, with gradients of yours.

    ``config`` is a ``node.toml`` as ``fabnet node`` reads it (docs/network.md): run, members with their addresses and agents, certificates, where the node keeps its state, and the experiment, whose
    problem is ``kind = "brought"``. ``problem`` is as :func:`solve` takes it; only functions of the node's own agents are called, and ``private`` of others may be 0. With ``algorithm``, an
    object as :func:`solve` takes it, agents do that instead of what the experiment names.

    All nodes must bring the same functions: sizes are compared, what functions say is not.
    """

    def __init__(self, config: str | os.PathLike[str], problem: Any, *, algorithm: Any = None):
        self._config, self._problem, self._algorithm = os.fspath(config), problem, algorithm

    def run(self) -> Found:
        """Takes part until all rounds are done.

        Ctrl-C, or an exception in a function, lets the node write a checkpoint and say farewell, then arrives as it is. A node that runs again goes on where it was. ``ConnectionError`` if the others
        do not let it in.
        """
        return Found(**_fabnet.node(self._config, self._problem, self._algorithm))


def issue_certificates(folder: str | os.PathLike[str], nodes: Mapping[str, str | Iterable[str]] | Iterable[str]) -> None:
    """Makes the authority of a run and a certificate for each node, as ``fabnet pki`` does: ``ca.pem``, ``NAME.pem`` and ``NAME.key`` in ``folder`` go to the node, ``ca.key`` stays with whoever admits nodes.

    ``nodes`` are names, each with the hosts under which others reach the node; on this machine, if it has none.
    """
    if isinstance(nodes, str):
        nodes = [nodes]
    hosts = nodes if isinstance(nodes, Mapping) else {name: [] for name in nodes}
    _fabnet.certificates(os.fspath(folder), {name: [of] if isinstance(of, str) else list(of) for name, of in hosts.items()})
