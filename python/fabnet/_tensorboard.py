"""Records as event files of TensorBoard."""

from __future__ import annotations

import pathlib
import urllib.parse
from collections.abc import Mapping

import numpy as np

# What says where a row belongs; all other columns are scalars to show.
PLACE = ("run", "label", "seed", "round", "seconds")


def write_events(
    runs: Mapping[tuple[str, int], Mapping[str, np.ndarray]], folder: pathlib.Path
) -> None:
    """Write the records of each run into a folder of its own, named by label and seed."""
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        raise ImportError(
            "event files are written with tensorboardX: pip install tensorboardX"
        ) from None
    for (label, seed), records in runs.items():
        # A label may hold any character, a slash among them.
        place = folder / urllib.parse.quote(label, safe=" =,+()") / f"seed-{seed}"
        if place.exists():
            raise FileExistsError(f"{place} is there already: choose another folder")
        with SummaryWriter(str(place)) as writer:
            for name in (name for name in records if name not in PLACE):
                for round, seconds, value in zip(
                    records["round"], records["seconds"], records[name]
                ):
                    if not np.isnan(value):
                        writer.add_scalar(name, value, int(round), walltime=float(seconds))
