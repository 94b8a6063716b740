"""Tests of callbacks, metrics and early ends of ``solve``."""

import fabnet
import numpy as np
import pytest
from test_solve import AllMeans, Means, settings

QUADRATIC = {"problem": "quadratic", "algorithm": "push-pull", "steps": 0.05}


@pytest.mark.parametrize(
    "of",
    [
        {"problem": Means()},
        {"problem": AllMeans(), "faults": {"loss": 0.2}},
        QUADRATIC,
    ],
)
def test_whoever_looks_changes_no_number(of):
    def disturb(now):
        now.x[:], now.y[:] = np.nan, np.nan
        now.values.clear()

    plain = fabnet.solve(**settings(rounds=300, **of))
    seen = fabnet.solve(
        **settings(rounds=300, **of),
        callback=disturb,
        metrics=["lower", mean_of_y],
        stop=lambda now: False,
    )
    assert np.array_equal(plain.x, seen.x) and np.array_equal(plain.y, seen.y)
    assert seen.rounds == 300 and seen.stopped is plain.stopped is None
    for name, column in plain.records.items():
        assert np.array_equal(column, seen.records[name]), name
    assert list(seen.records) == [*plain.records, "lower", "mean_of_y"]


def mean_of_y(now):
    return now.y.mean()


def test_a_callback_sees_every_recorded_round_as_it_is():
    seen = []
    solution = fabnet.solve(Means(), **settings(rounds=250), callback=seen.append)
    assert [now.round for now in seen] == [0, 100, 200, 250] == list(solution.records["round"])
    assert np.array_equal(seen[-1].x, solution.x) and np.array_equal(seen[-1].y, solution.y)
    assert not seen[0].x.any() and seen[0].x.shape == (6, 2)
    for row, now in enumerate(seen):
        assert now.values == {
            name: column[row] for name, column in solution.records.items() if name != "round"
        }
        spread = np.sqrt(((now.x - now.x.mean(0)) ** 2).sum(1).mean())
        assert now.values["consensus"] == pytest.approx(spread, abs=1e-15)
        gap = now.y.mean(0) - Means().data
        assert now.values["upper"] == pytest.approx((gap**2).sum(1).mean() / 2)


def test_private_coordinates_are_seen():
    class Private(Means):
        def private(self, agent):
            return agent % 2

        def upper(self, agent, x, y):
            return 0.0, np.zeros_like(x), y

        def lower(self, agent, x, y):
            return (
                ((y - x[:2]) ** 2).sum() / 2,
                np.append(x[:2] - y, np.zeros(agent % 2)),
                y - x[:2],
            )

    seen = []
    fabnet.solve(Private(), **settings(rounds=5, steps=0.01), callback=seen.append)
    assert [len(own) for own in seen[0].own] == [0, 1] * 3


def test_metrics_are_names_functions_or_both():
    def spread(now):
        return np.ptp(now.y, 0).max()

    of = settings(rounds=200, topology="ring")
    both = fabnet.solve(AllMeans(), **of, metrics=["lower", "gradients", spread])
    named = fabnet.solve(AllMeans(), **of, metrics={"gap": spread}).records["gap"]
    assert np.array_equal(both.records["spread"], named) and named.any()
    assert both.records["gradients"][-1] > 200
    mean = both.solution()
    assert both.records["lower"][-1] == pytest.approx(((mean.y - mean.x) ** 2).sum() / 2)
    assert list(fabnet.solve(AllMeans(), **of, metrics="lower").records) == [
        "round",
        "consensus",
        "upper",
        "bytes_per_agent",
        "lower",
    ]


def test_one_call_measures_all_agents():
    class Counted(AllMeans):
        calls = 0

        def lower_all(self, X, Y):
            self.calls += 1
            return super().lower_all(X, Y)

    plain, measured = Counted(), Counted()
    fabnet.solve(plain, **settings(rounds=200))
    fabnet.solve(measured, **settings(rounds=200), metrics=["lower"])
    assert measured.calls == plain.calls + 3


def test_a_target_ends_the_run():
    whole = fabnet.solve(**settings(record_every=10, **QUADRATIC))
    solution = fabnet.solve(
        **settings(record_every=10, **QUADRATIC),
        stop={"metric": "worst_error", "below": 1e-4},
    )
    errors = solution.records["worst_error"]
    assert errors[-1] < 1e-4 and (errors[:-1] >= 1e-4).all()
    assert solution.rounds == solution.records["round"][-1] < whole.rounds == 2000
    assert solution.stopped.startswith("worst_error = ") and "below 0.0001" in solution.stopped
    assert solution.solution().metadata == {"round": str(solution.rounds)}
    rows = len(errors)
    assert np.array_equal(
        whole.records["relative_error"][:rows], solution.records["relative_error"]
    )
    # One that is not reached in time is no reason.
    far = fabnet.solve(**settings(**QUADRATIC), stop={"metric": "worst_error", "below": 0.0})
    assert far.stopped is None and far.rounds == 2000


@pytest.mark.parametrize(
    ("says", "reason"),
    [(True, "`stop` has returned True"), (np.True_, "returned True"), ("enough", "enough")],
)
def test_a_function_ends_the_run(says, reason):
    solution = fabnet.solve(
        Means(), **settings(), stop=lambda now: says if now.round >= 500 else None
    )
    assert solution.rounds == 500 and reason in solution.stopped


def test_a_target_may_be_a_metric_of_ones_own():
    solution = fabnet.solve(
        Means(),
        **settings(),
        metrics={"left": lambda now: 1000 - now.round},
        stop={"metric": "left", "below": 250},
    )
    assert solution.rounds == 800 and solution.stopped == "left = 200 is below 250"


class Own(Exception):
    pass


@pytest.mark.parametrize("place", ["callback", "stop", "metrics"])
def test_exceptions_arrive_as_they_are(place):
    problem, error = Means(), Own("here")
    calls = []

    def fail(now):
        calls.append(now.round)
        if now.round == 200:
            raise error

    functions = {"metrics": {"fail": lambda now: fail(now) or 0.0}}.get(place, fail)
    with pytest.raises(Own) as found:
        fabnet.solve(problem, **settings(), **{place: functions})
    assert found.value is error and calls == [0, 100, 200]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"metrics": [lambda now: 0]}, TypeError, "a dict of names"),
        ({"metrics": [3]}, TypeError, "not 3"),
        ({"metrics": {"lower": "lower"}}, TypeError, "'lower'"),
        ({"metrics": ["lowr"]}, ValueError, "lowr.*`lower`"),
        ({"metrics": ["relative_error"]}, ValueError, "`relative_error` means nothing"),
        ({"metrics": {"upper": len}}, ValueError, "`upper` is recorded already"),
        ({"metrics": [mean_of_y] * 2}, ValueError, "two metrics"),
        ({"metrics": {"word": lambda now: "many"}}, TypeError, "`word` has returned 'many'"),
        ({"stop": {"consensus": 1e-3}}, TypeError, "`metric` and `below`"),
        ({"stop": 3}, TypeError, "`stop` is a function"),
        ({"stop": {"metric": "worst_error", "below": 1}}, ValueError, "means nothing"),
    ],
)
def test_mistakes_are_named(arguments, error, says):
    with pytest.raises(error, match=says):
        fabnet.solve(Means(), **settings(), **arguments)


def test_a_run_beyond_the_limits_does_not_stop():
    with pytest.raises(FloatingPointError, match="diverged"):
        fabnet.solve(
            AllMeans(),
            **settings(algorithm="fab", steps=1e3),
            stop=lambda now: "enough" if now.round > 0 else None,
        )


def test_a_solution_is_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    solution = fabnet.solve(Means(), **settings(rounds=300))
    axes = solution.plot()
    assert axes.get_ylabel() == "upper" and axes.get_legend() is None
    assert np.array_equal(axes.get_lines()[0].get_ydata(), solution.records["upper"])
    assert solution.plot("consensus", x="bytes_per_agent").get_xlabel() == "bytes_per_agent"
    assert fabnet.solve(**settings(**QUADRATIC)).plot().get_ylabel() == "relative_error"
