"""Runs of problems, topologies and algorithms that are written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _fabnet, _toml
from ._answer import Answer
from ._plot import plot_records
from ._recorder import Recorder, Snapshot


@dataclass(frozen=True)
class Solution:
    """The solution that the agents have found.

    ``x`` and ``y`` have a row for every agent, and ``own`` the private coordinates of each.
    ``rounds`` is the number of rounds that were carried out. ``stopped`` says why ``stop`` has
    ended the run, and is None if it has not. ``records`` maps the name of a column to an array with
    an entry for every recorded round.
    """

    x: np.ndarray
    y: np.ndarray
    own: list[np.ndarray]
    rounds: int
    records: dict[str, np.ndarray]
    stopped: str | None = None

    def solution(self) -> Answer:
        """Return the solution averaged over agents, as :meth:`fabnet.Result.solution` does."""
        metadata = {"round": str(self.rounds)}
        return Answer(
            self.x.mean(0),
            self.y.mean(0),
            agents_x=self.x,
            agents_y=self.y,
            own=self.own,
            metadata=metadata,
        )

    def to_pandas(self) -> Any:
        """Return the records as a DataFrame; pandas must be installed."""
        import pandas

        return pandas.DataFrame(self.records)

    def plot(self, metric: str | None = None, *, x: str = "round", ax: Any = None) -> Any:
        """Draw a column of the records over another one; matplotlib must be installed.

        Without ``metric``, it is the relative error where the optimum is known, and otherwise f.
        Return the axes, which are new ones unless ``ax`` is given.
        """
        metric = metric or ("relative_error" if "relative_error" in self.records else "upper")
        return plot_records({"": [self.records]}, metric, x, ax)


def solve(
    problem: Any,
    *,
    agents: int | None = None,
    rounds: int = 1000,
    algorithm: Any = "dfab",
    steps: str | float | Mapping[str, float] = "auto",
    topology: str | Mapping[str, Any] | Callable[[int], Any] = "phases",
    weights: str | Mapping[str, Any] = "uniform",
    faults: Mapping[str, Any] | None = None,
    seed: int = 0,
    record_every: int = 10,
    metrics: Iterable[str | Callable[[Snapshot], float]]
    | Mapping[str, Callable[[Snapshot], float]]
    | None = None,
    callback: Callable[[Snapshot], object] | None = None,
    stop: Mapping[str, Any] | Callable[[Snapshot], Any] | None = None,
    progress: bool = False,
) -> Solution:
    """Solve a problem of your own: minimise the mean of f over x, where y minimises the mean of g.

    ``problem`` has ``outer`` and ``inner``, the numbers of coordinates of x and y, and for each
    level one of

    - ``upper(agent, x, y)`` and ``lower(agent, x, y)``: the value of one agent's function and its
      gradients in x and y;
    - ``upper_all(X, Y)`` and ``lower_all(X, Y)``: the same for all agents, a row for each, which is
      much faster.

    A function with a parameter ``round`` gets the number of the round, for problems that differ
    from round to round, such as those with mini-batches. The problem may have ``start(agent)``,
    which returns x and y, and ``private(agent)``, the number of outer coordinates that are private
    to the agent and never leave it; they follow those of x. ``agents`` is the number of agents; if
    it is not given, ``problem.agents``.

    >>> import numpy as np
    >>> class Means:                       # x ends at the mean of the agents' data, and y follows x
    ...     outer = inner = 2
    ...     data = np.array([[1.0, 0.0], [2.0, 1.0], [6.0, 2.0]])
    ...     def upper_all(self, X, Y):
    ...         return ((Y - self.data) ** 2).sum(1) / 2, np.zeros_like(X), Y - self.data
    ...     def lower_all(self, X, Y):
    ...         return ((Y - X) ** 2).sum(1) / 2, X - Y, Y - X
    >>> solution = fabnet.solve(Means(), agents=3, topology="complete", rounds=3000)
    >>> solution.x.round(3)[0]
    array([3., 1.])

    Problem, topology and algorithm can be those of experiment files: a name, or a dict with
    ``kind`` and settings. Or they can be your own:

    - A topology is a function from a round to pairs (from, to) of agents.
    - An algorithm is an object with ``segments(outer, inner)``, which lists the segments of a row
      as (name, "pull" or "push" or "max", size), and ``step(agent)``: see :class:`Agent`. It may
      also have ``begin(agent)``; ``keep(outer, inner)``, a list of (name, size) of what agents
      remember; ``point(agent)``, which returns x and y where no segments have these names; and
      ``bears_reversals = False`` if undoing what an edge has brought would break the method.

    >>> class GradientTracking:            # the lower level alone
    ...     def segments(self, outer, inner):
    ...         return [("x", "pull", outer), ("y", "pull", inner), ("tracker", "push", inner)]
    ...     def begin(self, agent):
    ...         agent.input.tracker = agent.lower(agent.x, agent.y)[1]
    ...     def step(self, agent):
    ...         agent.y -= 0.2 * agent.now.tracker
    ...         agent.input.tracker = agent.lower(agent.x, agent.y)[1]
    >>> ring = lambda round: [(agent, (agent + 1) % 5) for agent in range(5)]
    >>> solution = fabnet.solve(
    ...     "quadratic", agents=5, topology=ring, algorithm=GradientTracking(), rounds=800)
    >>> bool(solution.records["relative_error"][-1] < 1e-6)
    True

    ``faults`` are those of experiment files, such as ``{"loss": 0.1, "delay": 3}``: agents then
    exchange mass through ledgers, which make up for lost messages, or without them with
    ``{"delivery": "plain"}``.

    Every ``record_every`` rounds the run is recorded, at the start and at the end, too. Functions
    then get a :class:`Snapshot` with the round, the values of the metrics and the solutions of all
    agents. None of them changes the numbers of the run.

    - ``metrics`` are recorded beside consensus, f, bytes and, where the optimum is known, the
      relative error: names of :func:`list_metrics`, functions that return a number, or a dict of
      names and functions.
    - ``callback(snapshot)`` is called after the values are recorded.
    - ``stop`` ends the run early. It is a target as in experiment files, such as
      ``{"metric": "consensus", "below": 1e-6}``, or a function that returns True or a reason. As in
      experiments, it has no effect while the run is beyond a limit of divergence.

    >>> rounds = []
    >>> solution = fabnet.solve(
    ...     "quadratic", agents=5, topology="complete", algorithm="push-pull", steps=0.05,
    ...     metrics={"spread": lambda now: np.ptp(now.y, 0).max()},
    ...     callback=lambda now: rounds.append(now.round),
    ...     stop={"metric": "relative_error", "below": 1e-3})
    >>> solution.stopped
    'relative_error = 0.000952 is below 0.001'
    >>> solution.rounds == rounds[-1] and len(solution.records["spread"]) == len(rounds)
    True

    An exception in a function is raised unchanged, and so is Ctrl-C. With ``progress``, a progress
    bar is shown if tqdm is installed.
    """
    own: dict[str, Any] = {"problem": None, "topology": None, "algorithm": None}

    def named(section: str, part: Any, stands_for_own: str) -> dict[str, Any]:
        """Return a section as experiment files have it; put an object of Python into `own`."""
        if isinstance(part, (str, Mapping)):
            return {"kind": part} if isinstance(part, str) else dict(part)
        if section not in own:
            raise TypeError(
                f"{section} are named, or a dict with `kind` and settings; {part!r} is neither"
            )
        own[section] = part
        return {"kind": stands_for_own}

    has_steps = (
        "steps" in algorithm if isinstance(algorithm, Mapping) else not isinstance(algorithm, str)
    )
    if has_steps and steps != "auto":
        raise TypeError(
            "`steps` sets the step sizes of an algorithm that is given by name only: "
            "this one has its own"
        )
    recorder = Recorder(metrics, stop, callback)
    experiment = {
        "agents": _agents(problem, agents),
        "rounds": rounds,
        "seeds": f"{seed}..{seed + 1}",
        "problem": named("problem", problem, "brought"),
        "topology": named("topology", topology, "complete"),
        "weights": named("weights", weights, "uniform"),
        "algorithm": [{"steps": steps, **named("algorithm", algorithm, "fab")}],
        "record": {"every": record_every, "metrics": recorder.names},
        **({} if faults is None else {"faults": dict(faults)}),
    }
    with _Bar(rounds, progress) as bar:
        recorder.show = bar.show
        found = _fabnet.solve(
            _toml.text(experiment),
            own["problem"],
            own["topology"],
            own["algorithm"],
            recorder,
            recorder.looks,
        )
    return Solution(**found, records=recorder.records())


def _agents(problem: Any, agents: int | None) -> int:
    agents = getattr(problem, "agents", None) if agents is None else agents
    if agents is None:
        raise TypeError("how many agents are there? Give `agents`, or a problem that has it")
    return agents


class _Bar:
    """A progress bar of tqdm, if it is wanted and installed."""

    def __init__(self, rounds: int, wanted: bool):
        self.show = None
        self.bar = None
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self.bar = tqdm(total=rounds, unit="round")
            self.show = lambda round: self.bar.update(round - self.bar.n)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
