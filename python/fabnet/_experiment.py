"""Experiments, with the same results as the command ``fabnet run``."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _fabnet, _toml
from ._answer import Answer
from ._page import Page
from ._plot import plot_records
from ._tensorboard import write_events


# The columns before the metrics: run, label, seed, round, seconds, bytes_per_agent.
_COSTS_END = 6


@dataclass(frozen=True)
class Figure:
    """A figure that is displayed in a notebook."""

    name: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


class Result:
    """The results of an experiment.

    ``records`` maps the name of a column to an array with an entry for every recorded round.
    ``summary`` describes each run and each group of runs. ``figures`` are displayed in a notebook.
    ``path`` is the folder with all results, the same files as ``fabnet run`` writes;
    ``fabnet.Result(path)`` reads such a folder.
    """

    def __init__(self, path: str | os.PathLike[str], keep: Any = None):
        self.path = path = pathlib.Path(path)
        self._keep = keep  # a temporary folder, removed with this object
        self.summary: dict[str, Any] = json.loads((path / "summary.json").read_text())
        with open(path / "records.csv", newline="") as file:
            header, *rows = csv.reader(file)
        self.records: dict[str, np.ndarray] = {
            name: _column(cells) for name, *cells in zip(header, *rows)
        }

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the experiment, by name."""
        files = sorted((self.path / "figures").glob("*.svg"))
        return {file.stem: Figure(file.stem, file.read_text()) for file in files}

    def solution(self, label: str | None = None, seed: int | None = None) -> Answer:
        """Return the solution of one run.

        ``label`` names the group; it may be left out if there is only one. Without ``seed``, it is
        the run with the first seed of the group.

        >>> result = fabnet.run({
        ...     "agents": 4, "rounds": 50, "problem": {"kind": "quadratic"},
        ...     "algorithm": [{"kind": "push-pull", "steps": 0.05}]})
        >>> result.solution().y.shape
        (6,)
        """
        run = self._run(label, seed)
        if "solution" not in run:
            raise ValueError(
                'this run has kept no solution: set record.solutions = "mean" or "all"'
            )
        return Answer.read(self.path / run["solution"])

    def watch(
        self, label: str | None = None, seed: int | None = None, *, height: int = 900
    ) -> Page:
        """Return the page of ``fabnet watch`` for one run, which a notebook shows.

        The run must have been recorded: ``fabnet.run(..., watch=True)``, or ``fabnet run --watch``.
        ``label`` and ``seed`` are those of :meth:`solution`. The page is a part of the notebook
        when it is saved, of up to 3 MB.

        >>> result = fabnet.run({
        ...     "agents": 4, "rounds": 50, "problem": {"kind": "quadratic"},
        ...     "algorithm": [{"kind": "push-pull", "steps": 0.05}]}, watch=True)
        >>> result.watch()
        Page(height=900)
        """
        recording = self.path / "watch" / str(self._run(label, seed)["run"])
        if not recording.is_file():
            raise ValueError(
                "nothing was recorded of this run: take fabnet.run(..., watch=True), "
                "or `fabnet run --watch`"
            )
        return Page(_fabnet.watch_page(os.fspath(recording)), height)

    def by_run(self) -> dict[tuple[str, int], dict[str, np.ndarray]]:
        """Return the records of each run by its label and its seed.

        >>> result = fabnet.run({
        ...     "agents": 4, "rounds": 50, "seeds": 2, "problem": {"kind": "quadratic"},
        ...     "algorithm": [{"kind": "push-pull", "steps": 0.05}]})
        >>> list(result.by_run())
        [('push-pull', 0), ('push-pull', 1)]
        """
        rows = {run["run"]: self.records["run"] == run["run"] for run in self.summary["runs"]}
        return {
            (run["label"], run["seed"]): {
                name: column[rows[run["run"]]] for name, column in self.records.items()
            }
            for run in self.summary["runs"]
        }

    def plot(self, metric: str | None = None, *, x: str = "round", ax: Any = None) -> Any:
        """Draw a column of the records over another one; matplotlib must be installed.

        Each run is a curve, and each group a colour. Without ``metric``, it is the first metric of
        the experiment. Return the axes, which are new ones unless ``ax`` is given.
        """
        groups: dict[str, list[dict[str, np.ndarray]]] = {}
        for (label, _), records in self.by_run().items():
            groups.setdefault(label, []).append(records)
        return plot_records(groups, metric or list(self.records)[_COSTS_END], x, ax)

    def to_tensorboard(self, folder: str | os.PathLike[str]) -> None:
        """Write the records as event files of TensorBoard; tensorboardX must be installed.

        Each run gets a folder ``LABEL/seed-SEED`` in ``folder``, each metric a scalar by rounds.
        Times are the seconds that the run has spent in rounds. TensorBoard keeps scalars in single
        precision.
        """
        write_events(self.by_run(), pathlib.Path(folder))

    def _run(self, label: str | None, seed: int | None) -> dict[str, Any]:
        """Return the summary of one run."""
        labels = sorted({run["label"] for run in self.summary["runs"]})
        if label is None and len(labels) > 1:
            raise ValueError(
                "there are several groups of runs: give one of the labels "
                + ", ".join(map(repr, labels))
            )
        runs = [
            run
            for run in self.summary["runs"]
            if label in (None, run["label"]) and seed in (None, run["seed"])
        ]
        if not runs:
            seeds = sorted({run["seed"] for run in self.summary["runs"]})
            raise ValueError(
                f"there is no run with label {label!r} and seed {seed!r}: "
                f"the labels are {', '.join(map(repr, labels))}, the seeds {seeds}"
            )
        return runs[0]

    def to_pandas(self) -> Any:
        """Return the records as a DataFrame; pandas must be installed."""
        import pandas

        return pandas.DataFrame(self.records)

    def _repr_html_(self) -> str:
        return "".join(figure.svg for figure in self.figures.values())

    def __repr__(self) -> str:
        return f"<fabnet.Result of {len(self.summary['runs'])} runs in {self.path}>"


def _column(cells: list[str]) -> np.ndarray:
    for kind in (int, float):
        try:
            return np.array([kind(cell) if cell or kind is int else np.nan for cell in cells])
        except ValueError:
            continue
    return np.array(cells)


@dataclass(frozen=True)
class Check:
    """What can be known before a run.

    ``text`` is the report of ``fabnet check``; ``obstacles`` are the reasons why a run would fail.
    """

    text: str
    obstacles: list[str]

    def __repr__(self) -> str:
        return self.text


def _read(
    experiment: str | os.PathLike[str] | Mapping[str, Any], changes: Mapping[str, Any]
) -> tuple[str, str, list[str]]:
    if isinstance(experiment, Mapping):
        text, file = _toml.text(experiment), "experiment"
    else:
        file = os.fspath(experiment)
        text = pathlib.Path(file).read_text()
    return (
        text,
        file,
        [f"{key.replace('__', '.')}={_toml.value(item)}" for key, item in changes.items()],
    )


def run(
    experiment: str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | os.PathLike[str] | None = None,
    threads: int = 0,
    watch: bool = False,
    **overrides: Any,
) -> Result:
    """Run an experiment: a file, or a dict of the same settings.

    ``overrides`` set values by their path in the file, with two underscores for a dot:
    ``rounds=2000``, ``algorithm__0__penalty=80``. Results go to the folder ``out``, or to a
    temporary one that is removed with the result. They are the same, bit for bit, as those of
    ``fabnet run``, for any number of ``threads`` (all cores if 0). With ``watch``, runs are
    recorded for :meth:`Result.watch`.

    >>> result = fabnet.run(
    ...     {"agents": 4, "problem": {"kind": "quadratic"},
    ...      "algorithm": [{"kind": "push-pull", "steps": 0.05}]},
    ...     rounds=20, seeds=2)
    >>> len(result.summary["runs"])
    2
    """
    text, file, changes = _read(experiment, overrides)
    keep = None
    if out is None:
        keep = tempfile.TemporaryDirectory(prefix="fabnet-")
        out = os.path.join(keep.name, "results")
    _fabnet.run(text, file, changes, os.fspath(out), threads, watch)
    return Result(pathlib.Path(out), keep)


def check(experiment: str | os.PathLike[str] | Mapping[str, Any], **overrides: Any) -> Check:
    """Report what can be known before a run: network, step sizes, trial runs and cost."""
    return Check(*_fabnet.check(*_read(experiment, overrides)))
