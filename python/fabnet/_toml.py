"""Experiments as the text of a TOML file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def value(item: Any) -> str:
    """Write a value as TOML."""
    if hasattr(item, "tolist"):  # numbers and arrays of NumPy
        item = item.tolist()
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{key} = {value(inner)}" for key, inner in item.items()) + " }"
    if isinstance(item, (list, tuple, range)):
        return "[" + ", ".join(value(inner) for inner in item) + "]"
    if isinstance(item, (bool, int, float, str)):
        return json.dumps(item, ensure_ascii=False)
    raise TypeError(f"{item!r} cannot be a setting: use numbers, texts, lists and dicts")


def text(experiment: Mapping[str, Any]) -> str:
    """Write a dict of settings as the text of an experiment file."""
    plain, tables = [], []
    for key, item in experiment.items():
        if isinstance(item, Mapping):
            tables += [f"[{key}]", *(f"{name} = {value(inner)}" for name, inner in item.items())]
        elif (
            isinstance(item, (list, tuple))
            and item
            and all(isinstance(inner, Mapping) for inner in item)
        ):
            for inner in item:
                tables += [
                    f"[[{key}]]",
                    *(f"{name} = {value(entry)}" for name, entry in inner.items()),
                ]
        else:
            plain.append(f"{key} = {value(item)}")
    return "\n".join([*plain, *tables]) + "\n"
