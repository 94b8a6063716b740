"""The solution of one run, read from a file of ``solutions/``."""

from __future__ import annotations

import json
import os
import pathlib
from dataclasses import dataclass, field

import numpy as np

_KINDS = {"F32": "<f4", "F64": "<f8"}


@dataclass(frozen=True)
class Answer:
    """The solution that a run has found.

    ``x`` and ``y`` are averaged over the agents. Where y is a model, ``model`` holds its parameters
    by name, in the shapes of PyTorch. ``agents_x`` and ``agents_y`` have a row for every agent, and
    ``own`` the private coordinates of each, if the run has kept them (``record.solutions =
    "all"``); otherwise they are None. ``metadata`` says which run it was, and how it ended.
    """

    x: np.ndarray
    y: np.ndarray
    model: dict[str, np.ndarray] = field(default_factory=dict)
    agents_x: np.ndarray | None = None
    agents_y: np.ndarray | None = None
    own: list[np.ndarray] | None = None
    metadata: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Answer:
        """Read one file of the folder ``solutions/``."""
        tensors, metadata = _read(pathlib.Path(path))
        agents_x = tensors.get("agents.x")
        empty = np.zeros(0, tensors["y"].dtype)
        return cls(
            x=tensors["x"],
            y=tensors["y"],
            model={
                name.removeprefix("model."): tensor
                for name, tensor in tensors.items()
                if name.startswith("model.")
            },
            agents_x=agents_x,
            agents_y=tensors.get("agents.y"),
            own=None
            if agents_x is None
            else [tensors.get(f"agents.own.{agent}", empty) for agent in range(len(agents_x))],
            metadata=metadata,
        )


def _read(path: pathlib.Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read the tensors and the metadata of a safetensors file."""
    contents = path.read_bytes()
    start = 8 + int.from_bytes(contents[:8], "little")
    header = json.loads(contents[8:start])
    metadata = header.pop("__metadata__", {})

    def tensor(entry: dict) -> np.ndarray:
        first, end = (start + offset for offset in entry["data_offsets"])
        return (
            np.frombuffer(contents[first:end], _KINDS[entry["dtype"]])
            .reshape(entry["shape"])
            .copy()
        )

    return {name: tensor(entry) for name, entry in header.items()}, metadata
