#!/usr/bin/env python3
"""Five nodes in network namespaces of their own, on one bridge, whose links are attacked.

First a one-way cut, a full cut that outlasts the engine's lease, a link that loses packets, and one
that flaps. Then two sites, joined by a router each: one router after the other is killed and
started again. Then two places with a latency of 20 to 40 ms each way, which is a round or two, from
the first round on.
After each, all nodes must hear each other again; at the end all must be at the solution, and no
mass is missing.

    tests/system/namespaces.py [SECONDS OF FLAPPING]      60 if not given; CI flaps for 10

Needs root, iproute2 and nftables; FABNET_SKIP_NAMESPACES=1 skips it where a host lacks the rights.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time

from namespace_network import NamespaceNetwork
from real_nodes import FABNET, collected, do, end_all, start, status, write_node_file
from wire import Wire

flapping = float(sys.argv[1]) if len(sys.argv) > 1 else 60
NODES = range(1, 6)
ROUTERS = range(6, 8)
EXPERIMENT = """
agents = 5
rounds = 1_000_000
seeds = 1
[problem]
kind = "policy-evaluation"
[topology]
kind = "complete"
[network]
tick = 0.02
[record]
every = 10
metrics = ["worst_error"]
[[algorithm]]
kind = "dfab"
"""
network = NamespaceNetwork("fabnet", "10.77.0", [*NODES, *ROUTERS])


def name(node):
    return f"r{node}" if node in ROUTERS else f"n{node}"


def http(node):
    return f"{network.host(node)}:9464"


def wait(what, condition, seconds=60):
    begun = time.time()
    while time.time() - begun < seconds:
        if condition():
            print(f"{what} ({time.time() - begun:.0f} s)", flush=True)
            return
        time.sleep(0.5)
    for node in NODES:
        found = status(http(node))
        print(
            node,
            found
            and [
                (agent["round"], agent["members"], agent["epoch"], agent["pull_age"])
                for agent in found["agents"]
            ],
        )
        for log in folder.glob(f"*/{node}/log"):
            print(*log.read_text().splitlines()[-3:], sep="\n")
    sys.exit(f"not within {seconds} s: {what}")


def together():
    """Everybody counts everybody, and has heard from all its sources within the last second."""
    agents = [(status(http(node)) or {}).get("agents") for node in NODES]
    return all(agent and agent[0]["members"] == 5 and agent[0]["pull_age"] < 50 for agent in agents)


def check_apart():
    """An attack that nobody notices shows nothing."""
    assert not together(), "the attack did nothing"


def worst_error(layout):
    """The largest distance of an agent from the solution, relative to where it started."""
    states = [layout / f"{node}/state" for node in NODES]
    run = collected(layout / "experiment.toml", states, layout / "results", partial=True)
    return run["final"]["worst_error"]


def start_node(layout, node, routers=()):
    """One process in its namespace, told of these routers."""
    settings = {"run": layout.name, "node": name(node), "plan": "../experiment.toml"}
    settings |= {"state": "state", "http": http(node)}
    members = [(name(other), [other - 1], f"{network.host(other)}:7447") for other in NODES]
    routers = [(name(router), f"{network.host(router)}:7447") for router in routers]
    path = write_node_file(layout / str(node), settings, folder / "pki", members, routers)
    return start(path, network.namespace(node))


def cut_links(_):
    wait("all have found together", together)
    for _ in range(2):
        network.drop(1, 2)
        time.sleep(6)
        check_apart()
        network.heal()
        time.sleep(1)
    wait("after a one-way cut of 6 s, twice", together)
    network.link(3, "down")
    time.sleep(15)
    check_apart()
    network.link(3, "up")
    wait("after a full cut of 15 s", together)
    network.drop(2, percent=20)
    time.sleep(8)
    lost = network.lost()
    assert lost > 100, f"only {lost} packets were lost"
    wait(f"while a link loses every fifth packet, {lost} in 8 s", together)
    network.heal()
    end = time.time() + flapping
    while time.time() < end:
        network.link(4, "down")
        time.sleep(1)
        network.link(4, "up")
        time.sleep(1)
    wait(f"after a link that flapped for {flapping:.0f} s", together)


def restart_routers(processes):
    wait("all have found together, through two routers", together)
    for router in ROUTERS:
        processes[router].kill()
        processes[router].wait()
        time.sleep(6)
        check_apart()
        processes[router] = start_node(folder / "sites", router, ROUTERS)
        wait(f"after {name(router)} was killed and started again", together)


def move_apart():
    """Two of the nodes are at the other end of a long wire, until this process ends."""
    wire = Wire(network.bridges, 0.02, 0.04)
    for node in NODES[3:]:
        network.move(node)
    return wire


def use_wire(wire):
    wait("all have found together, two of them 20 to 40 ms away", together)
    assert wire.frames > 100, "nothing goes through the wire"


def run(layout, processes, attack):
    """Lets nodes run, attacks them, and looks whether anything was lost."""
    try:
        attack(processes)
        wait("all are within 1e-6 of the solution", lambda: worst_error(layout) < 1e-6, 120)
        residuals = [status(http(node))["agents"][0]["max_mass_residual"] for node in NODES]
        assert residuals == [0] * 5, residuals
        print("mass residual: 0 at all nodes, at all times")
    finally:
        end_all(processes.values())


def run_layouts():
    """The mesh, the sites with routers, and the long wire, one after the other."""
    do(FABNET, "pki", "init", folder / "pki")
    for node in [*NODES, *ROUTERS]:
        do(FABNET, "pki", "issue", folder / "pki", name(node), "--host", network.host(node))
    for layout in ["mesh", "sites", "apart"]:
        folder.joinpath(layout).mkdir()
        folder.joinpath(layout, "experiment.toml").write_text(EXPERIMENT)
    run(folder / "mesh", {node: start_node(folder / "mesh", node) for node in NODES}, cut_links)
    processes = {router: start_node(folder / "sites", router, ROUTERS) for router in ROUTERS}
    for node in NODES:
        # Each knows the router of its own site only.
        router = ROUTERS[0] if node < 4 else ROUTERS[1]
        processes[node] = start_node(folder / "sites", node, [router])
    run(folder / "sites", processes, restart_routers)
    wire = move_apart()
    processes = {node: start_node(folder / "apart", node) for node in NODES}
    run(folder / "apart", processes, lambda _: use_wire(wire))


if os.environ.get("FABNET_SKIP_NAMESPACES"):
    sys.exit(print("skipped: FABNET_SKIP_NAMESPACES is set"))
folder = pathlib.Path(tempfile.mkdtemp())
try:
    with network:
        run_layouts()
finally:
    shutil.rmtree(folder)
