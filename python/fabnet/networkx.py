"""Topologies from graphs of NetworkX.

The functions read graphs by their methods, so that this module does not need NetworkX itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any


def topology(
    graphs: Any, *, rounds: int | None = None, period: int | None = None
) -> dict[str, str]:
    """Make a topology, for `fabnet.solve` and for experiments, of a graph or of several.

    Agent i is the i-th node of the graph, in the order of `list(graph)`: the names of nodes may be
    anything. An edge leads from the agent that sends to the one that receives; an edge of an
    undirected graph is a link both ways. Where edges have the attributes `first` and `last`, they
    are there in the rounds first <= k < last only, and `period` repeats the plan.

    Several graphs of the same nodes take turns, each for this many `rounds` (1 if not given).

    >>> class Path:  # as networkx.DiGraph
    ...     def is_directed(self): return True
    ...     def __iter__(self): return iter("abc")
    ...     def edges(self, data): return [("a", "b", {}), ("b", "c", {"first": 0, "last": 3})]
    >>> topology(Path(), period=5)
    {'kind': 'contact-plan', 'contacts': 'period 5\\n0 1\\n1 2 0 3'}
    """
    if isinstance(graphs, Sequence):
        lines = list(_turns(graphs, 1 if rounds is None else rounds))
        if period is not None:
            raise ValueError("several graphs take turns: their number and `rounds` give the period")
    elif rounds is not None:
        raise ValueError("`rounds` is for several graphs that take turns: give a list of them")
    else:
        lines = [f"period {period}"] if period is not None else []
        lines += _links(graphs, list(graphs))
    return {"kind": "contact-plan", "contacts": "\n".join(lines)}


def _turns(graphs: Sequence[Any], rounds: int) -> Iterator[str]:
    """Write the links of graphs that take turns."""
    if not graphs or rounds < 1:
        raise ValueError("give at least one graph, and at least one round for each")
    nodes = list(graphs[0])
    yield f"period {len(graphs) * rounds}"
    for number, graph in enumerate(graphs):
        if set(graph) != set(nodes):
            raise ValueError(f"graph {number} has other nodes than graph 0: agents are the same")
        for link in _links(graph, nodes):
            if len(link.split()) > 2:
                raise ValueError(f"graph {number} has edges with `first` and `last`: give one graph")
            yield f"{link} {number * rounds} {(number + 1) * rounds}"


def _links(graph: Any, nodes: list[Any]) -> Iterable[str]:
    """Write the links of one graph."""
    agent = {node: number for number, node in enumerate(nodes)}
    for source, target, attributes in graph.edges(data=True):
        times = [attributes.get(key) for key in ("first", "last")]
        if (times[0] is None) != (times[1] is None):
            raise ValueError(f"the edge {source!r}, {target!r} has one of `first` and `last` only")
        ends = [(agent[source], agent[target])]
        if not graph.is_directed():
            ends.append((agent[target], agent[source]))
        for pair in ends:
            numbers = [*pair, *(time for time in times if time is not None)]
            yield " ".join(str(int(number)) for number in numbers)
