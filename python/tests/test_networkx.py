"""Graphs of NetworkX as topologies."""

import fabnet
import fabnet.networkx
import pytest

networkx = pytest.importorskip("networkx")


def contacts(graph, **settings):
    return fabnet.networkx.topology(graph, **settings)["contacts"].splitlines()


def test_edges_are_links_one_way_or_both_ways():
    graph = networkx.DiGraph([("b", "a"), ("a", "c")])
    assert list(graph) == ["b", "a", "c"]
    assert contacts(graph) == ["0 1", "1 2"]
    assert contacts(networkx.Graph([("b", "a")])) == ["0 1", "1 0"]


def test_attributes_are_times():
    graph = networkx.MultiDiGraph()
    graph.add_edge(7, 8, first=0, last=2)
    graph.add_edge(7, 8, first=4, last=5)
    graph.add_edge(8, 7)
    assert contacts(graph, period=6) == ["period 6", "0 1 0 2", "0 1 4 5", "1 0"]
    graph.add_edge(8, 7, first=3)
    with pytest.raises(ValueError, match="one of `first` and `last`"):
        contacts(graph)


def test_graphs_take_turns():
    there, back = networkx.DiGraph([(0, 1)]), networkx.DiGraph([(1, 0)])
    assert contacts([there, back], rounds=3) == ["period 6", "0 1 0 3", "1 0 3 6"]
    with pytest.raises(ValueError, match="other nodes"):
        contacts([there, networkx.DiGraph([(0, 2)])])
    with pytest.raises(ValueError, match="take turns"):
        contacts([there, back], period=2)
    with pytest.raises(ValueError, match="give a list"):
        contacts(there, rounds=2)


def test_agents_find_the_optimum_over_a_graph():
    graph = networkx.watts_strogatz_graph(8, 4, 0.3, seed=1)
    solution = fabnet.solve(
        "quadratic",
        agents=8,
        topology=fabnet.networkx.topology(graph),
        algorithm="push-pull",
        rounds=2000,
    )
    assert solution.records["relative_error"][-1] < 1e-6
