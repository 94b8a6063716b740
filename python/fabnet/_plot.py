"""Curves of records, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

# A column whose positive values differ by more than this factor is drawn on a logarithmic axis.
WIDE = 100


def plot_records(
    groups: Mapping[str, Sequence[Mapping[str, np.ndarray]]], metric: str, x: str, ax: Any
) -> Any:
    """Draw a column of the records of each run over another one, a colour for each group.

    Return the axes, which are new ones if ``ax`` is None.
    """
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("curves are drawn with matplotlib: pip install matplotlib") from None
    columns = list(next(iter(groups.values()))[0])
    for name in (metric, x):
        if name not in columns:
            raise ValueError(f"there is no column {name!r}: the columns are {', '.join(columns)}")
    if ax is None:
        _, ax = pyplot.subplots()
    for number, (label, runs) in enumerate(groups.items()):
        for run, records in enumerate(runs):
            ax.plot(records[x], records[metric], color=f"C{number}", label=None if run else label)
    if _is_wide(np.concatenate([records[metric] for runs in groups.values() for records in runs])):
        ax.set_yscale("log", nonpositive="mask")
    ax.set_xlabel(x)
    ax.set_ylabel(metric)
    if len(groups) > 1:
        ax.legend()
    return ax


def _is_wide(values: np.ndarray) -> bool:
    """Tell whether a logarithmic axis shows values better: no negative ones, and of many sizes."""
    positive = values[np.isfinite(values) & (values > 0)]
    return not (values < 0).any() and len(positive) > 0 and positive.max() > WIDE * positive.min()
