"""What is recorded of a run of ``solve``, and when it ends before its last round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# The metrics that every run records; the last one only where the optimum is known.
ALWAYS = ("consensus", "upper", "relative_error")


@dataclass(frozen=True)
class Snapshot:
    """A run in a recorded round, as callbacks, metrics and ``stop`` see it.

    ``round`` is the number of rounds carried out so far. ``values`` maps the name of each recorded
    metric to its value. ``x`` and ``y`` have a row for every agent, and ``own`` the private
    coordinates of each; they are copies, so that the run does not see changes.
    """

    round: int
    values: dict[str, float]
    x: np.ndarray
    y: np.ndarray
    own: list[np.ndarray]


class Recorder:
    """Collects the records of a run, calls the user's functions, and tells when to stop.

    ``metrics``, ``stop`` and ``callback`` are those of :func:`fabnet.solve`.
    """

    def __init__(
        self,
        metrics: Iterable[str | Callable[[Snapshot], float]] | Mapping[str, Any] | None,
        stop: Mapping[str, Any] | Callable[[Snapshot], Any] | None,
        callback: Callable[[Snapshot], object] | None,
    ):
        named, self._functions = _names_and_functions(metrics)
        self._stop, self._target = _function_or_target(stop)
        if self._target is not None and self._target[0] not in self._functions:
            named.append(self._target[0])
        self._wanted = set(named)
        self._callback = callback
        self._columns: dict[str, list[float]] = {}
        #: The metrics that the engine measures, in the order of the call.
        self.names = list(dict.fromkeys([*ALWAYS, *named]))
        #: Called with each recorded round, to show progress.
        self.show: Callable[[int], object] | None = None
        #: Whether a function looks at the solutions of the agents.
        self.looks = bool(self._functions or self._stop or callback)

    def __call__(
        self,
        round: int,
        bytes_per_agent: float,
        measured: list[float],
        points: dict[str, Any] | None,
    ) -> str | None:
        """Record a round; return the reason why the run is to end, if there is one."""
        values = self._known(dict(zip(self.names, measured)), bytes_per_agent, round)
        if points is None:
            now = None
        else:
            now = Snapshot(round, values, **points)
            own = {name: _number(name, f(now)) for name, f in self._functions.items()}
            values |= own
        for name, value in {"round": round, **values}.items():
            self._columns.setdefault(name, []).append(value)
        if self.show is not None:
            self.show(round)
        if self._callback is not None:
            self._callback(now)
        return self._reason(now, values)

    def records(self) -> dict[str, np.ndarray]:
        """Return the columns that were recorded."""
        kinds = {"round": np.uint64}
        return {name: np.array(column, kinds.get(name)) for name, column in self._columns.items()}

    def _known(
        self, values: dict[str, float], bytes_per_agent: float, round: int
    ) -> dict[str, float]:
        """Leave out the relative error where the optimum is not known; refuse what means nothing."""
        for name in self._wanted if round == 0 else ():
            if np.isnan(values[name]):
                raise ValueError(
                    f"the metric `{name}` means nothing for this problem and this algorithm: "
                    "take another one"
                )
        if np.isnan(values["relative_error"]) and "relative_error" not in self._wanted:
            del values["relative_error"]
        first = {name: values.pop(name) for name in ("consensus", "upper")}
        values = {**first, "bytes_per_agent": bytes_per_agent, **values}
        taken = sorted(values.keys() & self._functions.keys())
        if taken:
            raise ValueError(f"`{taken[0]}` is recorded already: give your metric another name")
        return values

    def _reason(self, now: Snapshot | None, values: dict[str, float]) -> str | None:
        if self._target is not None:
            name, below = self._target
            value = values[name]
            return f"{name} = {value:.3g} is below {below:g}" if value < below else None
        said = None if self._stop is None else self._stop(now)
        if isinstance(said, str):
            return said or None
        return "the function `stop` has returned True" if said else None


def _names_and_functions(
    metrics: Iterable[str | Callable[[Snapshot], float]] | Mapping[str, Any] | None,
) -> tuple[list[str], dict[str, Callable[[Snapshot], float]]]:
    if isinstance(metrics, Mapping):
        wrong = [name for name, function in metrics.items() if not callable(function)]
        if wrong:
            raise TypeError(f"a dict of metrics has functions: that of {wrong[0]!r} is none")
        return [], dict(metrics)
    named, functions = [], {}
    for metric in [metrics] if isinstance(metrics, str) else metrics or ():
        if isinstance(metric, str):
            named.append(metric)
        elif not callable(metric):
            raise TypeError(f"a metric is a name or a function, not {metric!r}")
        elif getattr(metric, "__name__", "<lambda>") == "<lambda>":
            raise TypeError("a metric without a name: give a dict of names and functions")
        elif metric.__name__ in functions:
            raise ValueError(f"two metrics have the name `{metric.__name__}`")
        else:
            functions[metric.__name__] = metric
    return named, functions


def _function_or_target(
    stop: Mapping[str, Any] | Callable[[Snapshot], Any] | None,
) -> tuple[Callable[[Snapshot], Any] | None, tuple[str, float] | None]:
    if stop is None or callable(stop):
        return stop, None
    if not (isinstance(stop, Mapping) and stop.keys() == {"metric", "below"}):
        raise TypeError(
            "`stop` is a function, or a dict with `metric` and `below` as in experiment files: "
            f"{stop!r} is neither"
        )
    return None, (str(stop["metric"]), float(stop["below"]))


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"the metric `{name}` has returned {value!r}: return a number") from None
