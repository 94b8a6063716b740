"""What there is to choose from."""

from __future__ import annotations

from . import _fabnet


def list_algorithms() -> dict[str, str]:
    """Names of algorithms, each with a line on what it is.

    >>> "dfab" in fabnet.list_algorithms()
    True
    """
    return dict(_fabnet.listing("algorithms"))


def list_problems() -> dict[str, str]:
    """Names of built-in problems, each with a line on what it is."""
    return dict(_fabnet.listing("problems"))


def list_topologies() -> dict[str, str]:
    """Names of topologies, each with a line on what it is."""
    return dict(_fabnet.listing("topologies"))


def list_weights() -> dict[str, str]:
    """Names of weights, each with a line on what they are."""
    return dict(_fabnet.listing("weights"))


def list_metrics() -> dict[str, str]:
    """Names of metrics, each with a line on what it is."""
    return dict(_fabnet.listing("metrics"))
