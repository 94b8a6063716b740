"""The names that experiments can choose from."""

from __future__ import annotations

from . import _fabnet


def list_algorithms() -> dict[str, str]:
    """Return the names of algorithms, each with a line that describes it.

    >>> "dfab" in fabnet.list_algorithms()
    True
    """
    return dict(_fabnet.listing("algorithms"))


def list_problems() -> dict[str, str]:
    """Return the names of built-in problems, each with a line that describes it."""
    return dict(_fabnet.listing("problems"))


def list_topologies() -> dict[str, str]:
    """Return the names of topologies, each with a line that describes it."""
    return dict(_fabnet.listing("topologies"))


def list_weights() -> dict[str, str]:
    """Return the names of mixing weights, each with a line that describes them."""
    return dict(_fabnet.listing("weights"))


def list_metrics() -> dict[str, str]:
    """Return the names of metrics, each with a line that describes it."""
    return dict(_fabnet.listing("metrics"))
