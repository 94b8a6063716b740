"""Tests of problems that are written in Python."""

import os
import signal
import threading
import time

import fabnet
import numpy as np
import pytest


class Means:
    """A problem whose solution is the mean of the agents' data: y follows x."""

    outer = inner = 2

    def __init__(self, agents=6):
        self.data = np.random.default_rng(1).normal(size=(agents, 2))

    def upper(self, agent, x, y):
        gap = y - self.data[agent]
        return gap @ gap / 2, np.zeros(2), gap

    def lower(self, agent, x, y):
        return (y - x) @ (y - x) / 2, x - y, y - x


class AllMeans(Means):
    """The same problem, evaluated for all agents in one call."""

    def upper_all(self, X, Y):
        gap = Y - self.data
        return (gap**2).sum(1) / 2, np.zeros_like(X), gap

    def lower_all(self, X, Y):
        return ((Y - X) ** 2).sum(1) / 2, X - Y, Y - X

    def upper(self, agent, x, y):
        raise AssertionError("asked alone")

    lower = upper


def settings(**changes):
    return dict(agents=6, topology="complete", rounds=2000, record_every=100) | changes


@pytest.mark.parametrize("problem", [Means, AllMeans])
def test_agents_find_the_mean_of_what_they_have(problem):
    solution = fabnet.solve(problem(), **settings(rounds=8000, record_every=400))
    assert np.allclose(solution.x, problem().data.mean(0), atol=1e-6)
    assert np.allclose(solution.y, solution.x, atol=1e-6)
    answer = solution.solution()
    assert np.allclose(answer.x, problem().data.mean(0), atol=1e-6) and answer.y.shape == (2,)
    assert answer.agents_x is solution.x and answer.metadata == {"round": "8000"}
    assert list(solution.records["round"]) == list(range(0, 8001, 400))
    assert solution.records["consensus"][-1] < 1e-6
    assert np.isclose(solution.records["upper"][-1], Means().data.var(0).sum() / 2)


@pytest.mark.parametrize("algorithm", ["fab", "dfab", "push-pull-soba", "push-sum-fab"])
def test_one_by_one_and_all_at_once_are_the_same_to_the_last_bit(algorithm):
    of = settings(rounds=200, algorithm=algorithm, steps=0.05)
    alone, together = fabnet.solve(Means(), **of), fabnet.solve(AllMeans(), **of)
    assert np.array_equal(alone.x, together.x) and np.array_equal(alone.y, together.y)


def test_private_coordinates_follow_those_of_x_and_stay():
    class Private(Means):
        outer = 1

        def private(self, agent):
            return agent % 3

        def upper(self, agent, x, y):
            return ((y - 1) ** 2).sum() / 2, np.zeros_like(x), y - 1

        def lower(self, agent, x, y):
            shift = np.array([x[0], x[1:].sum()])
            slope = np.concatenate([[x[0] - y[0]], np.full(len(x) - 1, shift[1] - y[1])])
            return ((y - shift) ** 2).sum() / 2, slope, y - shift

    solution = fabnet.solve(Private(), **settings(rounds=4000, algorithm="dfab", steps=0.05))
    assert [len(own) for own in solution.own] == [0, 1, 2, 0, 1, 2]
    # Two of six agents have none, so that the others pull for three.
    assert np.allclose(solution.y, 1, atol=1e-3)


def test_problems_start_where_they_say():
    class Started(AllMeans):
        def start(self, agent):
            return np.full(2, agent), np.full(2, -agent)

    solution = fabnet.solve(Started(), **settings(rounds=1, steps=0.0, topology="ring"))
    assert solution.x.mean() == pytest.approx(2.5)


def raised(problem, error, *says, **changes):
    with pytest.raises(error) as found:
        fabnet.solve(problem, **settings(**changes))
    for word in says:
        assert word in str(found.value), found.value
    return found.value


def changed(**functions):
    return type(
        "Changed", (Means,), {name: staticmethod(function) for name, function in functions.items()}
    )()


def test_exceptions_arrive_as_they_are():
    class Own(Exception):
        pass

    def upper(agent, x, y):
        if agent == 3:
            raise Own("three")
        return 0.0, np.zeros(2), np.zeros(2)

    assert isinstance(raised(changed(upper=upper), Own, "three"), Own)


@pytest.mark.parametrize(
    "result, error, says",
    [
        (
            (0.0, np.zeros(2), np.zeros(3)),
            ValueError,
            "the gradient in y of lower(0, x, y) in round 0 has the shape (3,), but needs (2,)",
        ),
        ((0.0, np.zeros(2), np.array(["a", "b"])), TypeError, "dtype <U1"),
        ((0.0, np.zeros(2), np.zeros(2) * 1j), TypeError, "dtype complex128"),
        ((0.0, np.zeros(2), np.array([1.0, np.nan])), ValueError, "holds NaN"),
        (
            (0.0, np.array([np.inf, 0.0]), np.zeros(2)),
            ValueError,
            "the gradient in x of lower(0, x, y) in round 0 holds inf",
        ),
        (np.zeros(2), TypeError, "is a ndarray: return a value"),
        ((0.0, np.zeros(2)), TypeError, "return a value"),
        (("much", np.zeros(2), np.zeros(2)), TypeError, "is no number: much"),
    ],
)
def test_wrong_results_are_named(result, error, says):
    raised(changed(lower=lambda agent, x, y: result), error, says)


def test_wrong_rows_are_named():
    class Wrong(AllMeans):
        def lower_all(self, X, Y):
            slope = Y - X
            slope[4, 1] = np.nan
            return np.zeros(6), -slope, slope

    raised(Wrong(), ValueError, "lower_all(X, Y)", "agent 4")


@pytest.mark.parametrize("problem", [Means, AllMeans])
def test_a_run_that_diverges_is_no_result(problem):
    raised(problem(), FloatingPointError, "has diverged by round", algorithm="fab", steps=1e9)


def test_other_numbers_are_taken():
    lower = lambda agent, x, y: (np.float32(0), [0, 0], (y - x).astype(np.float32)[::1])
    fabnet.solve(changed(lower=lower), **settings(rounds=3, steps=0.01))


def test_problems_without_what_is_needed_are_refused():
    raised(object(), TypeError, "needs `outer`")
    raised(type("NoLevel", (), dict(outer=1, inner=1))(), TypeError, "upper(agent, x, y)")
    raised(Means(), ValueError, "topology", topology="rin")
    raised(Means(), ValueError, "steps", steps=-1.0)
    raised(
        Means(),
        ValueError,
        "2 runs; this takes one run",
        algorithm={"kind": "fab", "penalty": [1, 2]},
        steps=0.1,
    )
    raised(Means(), TypeError, "weights are named", weights=np.eye(4))
    raised(
        Means(),
        TypeError,
        "this one has its own",
        algorithm={"kind": "fab", "steps": 0.1},
        steps=0.2,
    )
    raised(
        type("Attribute", (Means,), dict(private=3))(),
        TypeError,
        "`private` of a problem is a function of the agent",
    )


@pytest.mark.parametrize("problem", [Means, AllMeans])
def test_ctrl_c_ends_a_run_also_in_a_function_that_blocks(problem):
    class Blocks(problem):
        def wait(self):
            time.sleep(60)

        def lower(self, *_):
            self.wait()

        def lower_all(self, *_):
            self.wait()

    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fabnet.solve(Blocks(), **settings())
    assert time.monotonic() - started < 10


def test_a_thousand_runs_leak_nothing():
    psutil = pytest.importorskip("psutil")
    of = settings(rounds=5, steps=0.01)
    problem, process = AllMeans(), psutil.Process()
    for _ in range(200):
        fabnet.solve(problem, **of)
    before = process.memory_info().rss
    for _ in range(1000):
        fabnet.solve(problem, **of)
    assert process.memory_info().rss - before < 2 << 20


def test_arrays_that_somebody_keeps_are_not_used_again():
    class Keeping(AllMeans):
        kept, seen = [], []

        def lower_all(self, X, Y):
            self.kept.append(Y[1:])  # a view keeps the whole array
            self.seen.append(Y[1:].copy())
            return super().lower_all(X, Y)

    problem = Keeping()
    fabnet.solve(problem, **settings(rounds=50, algorithm="fab"))
    assert all(np.array_equal(kept, seen) for kept, seen in zip(problem.kept, problem.seen))
    assert not np.array_equal(problem.kept[0], problem.kept[-1])
