"""Tests of algorithms and topologies that are written in Python, and of faults."""

import fabnet
import numpy as np
import pytest
from test_solve import AllMeans, Means

AGENTS = 5
STEP = 0.05


class PushPull:
    """Gradient tracking on the lower level, the same recursion as the built-in `push-pull`."""

    def segments(self, outer, inner):
        return [("x", "pull", outer), ("y", "pull", inner), ("tracker", "push", inner)]

    def begin(self, agent):
        agent.input.tracker = agent.lower(agent.x, agent.y)[1]

    def step(self, agent):
        agent.y -= STEP * agent.now.tracker
        agent.input.tracker = agent.lower(agent.x, agent.y)[1]


class PushSum:
    """Subgradient-push: the solution is a quotient of two pushed segments."""

    bears_reversals = False

    def segments(self, outer, inner):
        return [("mass", "push", inner), ("weight", "push", 1)]

    def keep(self, outer, inner):
        return [("steps", 1)]

    def begin(self, agent):
        agent.input.mass, agent.input.weight = agent.y, np.ones(1)

    def step(self, agent):
        agent.keep.steps += 1
        mass, weight = agent.mass + agent.input.mass, agent.weight + agent.input.weight
        slope = agent.lower(np.zeros(0), mass / weight)[1]
        agent.input.mass = agent.input.mass - STEP / np.sqrt(agent.keep.steps) * slope

    def point(self, agent):
        return np.zeros(0), agent.mass / agent.weight


class Fab:
    """FAB for problems with an outer variable and private coordinates."""

    penalty = 10.0

    def segments(self, outer, inner):
        return [
            ("x", "pull", outer),
            ("y", "pull", inner),
            ("z", "pull", inner),
            *(
                (f"t{block}", "push", size)
                for block, size in [("x", outer), ("y", inner), ("z", inner)]
            ),
        ]

    def begin(self, agent):
        agent.z = agent.y.copy()
        self.follow(agent)

    def step(self, agent):
        agent.x -= STEP * agent.now.tx
        agent.y -= STEP * agent.now.ty
        agent.z -= STEP * agent.now.tz
        self.follow(agent)

    def follow(self, agent):
        upper, lower, alone = (
            agent.upper(agent.x, agent.y),
            agent.lower(agent.x, agent.y),
            agent.lower(agent.x, agent.z),
        )
        agent.input.tx = upper[0] / self.penalty + lower[0] - alone[0]
        agent.input.ty = upper[1] / self.penalty + lower[1]
        agent.input.tz = alone[1]


def ring(round):
    return [(agent, (agent + 1) % AGENTS) for agent in range(AGENTS)]


def solve(algorithm, problem="quadratic", **changes):
    steps = {"steps": STEP} if isinstance(algorithm, (str, dict)) else {}
    return fabnet.solve(
        problem,
        algorithm=algorithm,
        **dict(agents=AGENTS, topology="ring", rounds=400) | steps | changes,
    )


def test_push_pull_of_python_is_that_of_rust():
    ours, built_in = solve(PushPull()), solve("push-pull")
    assert np.allclose(ours.y, built_in.y, rtol=0, atol=1e-12)
    assert np.abs(ours.y).max() > 0.1
    assert ours.records["relative_error"][-1] < 0.01
    assert np.array_equal(ours.records["bytes_per_agent"], built_in.records["bytes_per_agent"])


@pytest.mark.parametrize("problem", [Means, AllMeans])
def test_fab_of_python_is_that_of_rust_with_problems_of_python(problem):
    ours, built_in = (
        solve(Fab(), problem(AGENTS)),
        solve({"kind": "fab", "penalty": Fab.penalty}, problem(AGENTS)),
    )
    assert np.allclose(ours.x, built_in.x, rtol=0, atol=1e-12)
    assert np.allclose(ours.y, built_in.y, rtol=0, atol=1e-12)
    assert np.abs(ours.x).max() > 0.01


def test_an_answer_may_be_a_quotient():
    changing = lambda round: ring(round) if round % 2 else [(0, 2), (2, 4), (3, 1)]
    solution = solve(PushSum(), topology=changing, rounds=6000, record_every=1000)
    assert solution.records["relative_error"][-1] < 0.05
    assert solution.records["relative_error"][-1] < solution.records["relative_error"][1] / 2


def test_links_are_those_of_the_function():
    same, other = (
        solve(PushPull(), topology=ring),
        solve(PushPull(), topology=lambda round: np.array(ring(round))[:, ::-1]),
    )
    assert np.array_equal(same.y, solve(PushPull()).y)
    assert not np.array_equal(same.y, other.y)


def test_threads_that_work_for_many_agents_may_call_python():
    agents = 3000
    links = np.stack([np.arange(agents), (np.arange(agents) + 1) % agents], axis=1)
    calls = []
    solution = solve(
        Fab(),
        AllMeans(agents),
        agents=agents,
        topology=lambda round: calls.append(round) or links,
        rounds=3,
    )
    assert solution.x.shape == (agents, 2)
    assert {0, 1, 2} <= set(calls)


@pytest.mark.parametrize("algorithm", [PushPull(), "push-pull"])
def test_what_is_lost_is_not_missed(algorithm):
    error = lambda **faults: solve(algorithm, rounds=3000, faults={"loss": 0.3, **faults}).records[
        "relative_error"
    ][-1]
    assert error() < 1e-6
    assert error(delivery="plain") > 1e-2


def test_faults_with_gradients_of_python():
    problem = Means(AGENTS)
    solution = solve(Fab(), problem, rounds=6000, faults={"loss": 0.2, "duplicate": 0.1})
    assert np.allclose(solution.x, problem.data.mean(0), atol=1e-4)


def test_what_is_wrong_with_an_algorithm_is_named():
    class Lazy:
        def segments(self, outer, inner):
            return [("y", "pull", inner)]

    class Shapeless(PushPull):
        def step(self, agent):
            agent.y = np.zeros(3)

    class Mute(PushPull):
        def segments(self, outer, inner):
            return [("z", "pull", inner)]

    class Odd(PushPull):
        def segments(self, outer, inner):
            return [("y", "average", inner)]

    class Twice(PushPull):
        def segments(self, outer, inner):
            return [("y", "pull", inner), ("round", "pull", 1)]

    class Many(PushPull):
        def segments(self, outer, inner):
            return [("y", "pull", inner), *((f"part{part}", "pull", 1) for part in range(40))]

    class Failing(PushPull):
        def step(self, agent):
            if agent.round == 7 and agent.index == 2:
                raise KeyError("seven")
            super().step(agent)

    for algorithm, error, message in [
        (Lazy(), TypeError, "there is no `step`"),
        (
            Shapeless(),
            ValueError,
            r"`y` of agent \d after `step` in round \d has the shape \(3,\), but needs",
        ),
        (Mute(), ValueError, "where is the answer"),
        (Odd(), ValueError, '"average"'),
        (Twice(), ValueError, "another `round`"),
        (Many(), ValueError, "41 segments are too many"),
        (Failing(), KeyError, "seven"),
    ]:
        with pytest.raises(error, match=message):
            solve(algorithm)
    with pytest.raises(RuntimeError, match="within `begin` and `step` only"):
        fabnet._fabnet.gradients(True, np.zeros(1), np.zeros(1))


@pytest.mark.parametrize(
    "links, error, message",
    [
        (lambda round: [(0, AGENTS)], ValueError, "go from 0 to 5, but there are 5 agents"),
        (lambda round: [(0, 1, 2)], ValueError, "have 3 columns"),
        (lambda round: [(0.5, 1.0)], ValueError, "no table of whole numbers"),
        (lambda round: 1 / 0, ZeroDivisionError, "division by zero"),
        (lambda round: [], ValueError, "never jointly strongly connected"),
    ],
)
def test_what_is_wrong_with_links_is_named(links, error, message):
    with pytest.raises(error, match=message):
        solve(PushPull(), topology=links)
