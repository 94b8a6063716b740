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

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from wire import Wire

flapping = float(sys.argv[1]) if len(sys.argv) > 1 else 60
root = pathlib.Path(__file__).resolve().parents[2]
fabnet = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "release/fabnet"
NODES = range(1, 6)
ROUTERS = range(6, 8)
BRIDGES = ["fabnet-br", "fabnet-far"]
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


def do(*command, check=True):
    return subprocess.run(
        [str(word) for word in command], check=check, capture_output=True, text=True
    )


def name(node):
    return f"r{node}" if node in ROUTERS else f"n{node}"


def host(node):
    return f"10.77.0.{node}"


def build_network():
    for bridge in BRIDGES:
        do("ip", "link", "add", bridge, "type", "bridge")
        do("ip", "link", "set", bridge, "up")
    do("ip", "addr", "add", "10.77.0.254/24", "dev", BRIDGES[0])
    do("nft", "add", "table", "bridge", "fabnet")
    do(
        "nft",
        "add",
        "chain",
        "bridge",
        "fabnet",
        "forward",
        "{ type filter hook forward priority 0; }",
    )
    for node in [*NODES, *ROUTERS]:
        do("ip", "netns", "add", f"fabnet-{node}")
        do(
            "ip",
            "link",
            "add",
            f"fabnet-v{node}",
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            f"fabnet-{node}",
        )
        do("ip", "link", "set", f"fabnet-v{node}", "master", BRIDGES[0], "up")
        do("ip", "-n", f"fabnet-{node}", "addr", "add", f"{host(node)}/24", "dev", "eth0")
        do("ip", "-n", f"fabnet-{node}", "link", "set", "eth0", "up")
        do("ip", "-n", f"fabnet-{node}", "link", "set", "lo", "up")


def remove_network():
    for node in [*NODES, *ROUTERS]:
        do("ip", "netns", "del", f"fabnet-{node}", check=False)
        do("ip", "link", "del", f"fabnet-v{node}", check=False)
    do("nft", "delete", "table", "bridge", "fabnet", check=False)
    for bridge in BRIDGES:
        do("ip", "link", "del", bridge, check=False)


def link(node, state):
    do("ip", "link", "set", f"fabnet-v{node}", state)


def status(node):
    try:
        return json.load(urllib.request.urlopen(f"http://{host(node)}:9464/status", timeout=2))
    except OSError:
        return None


def wait(what, condition, seconds=60):
    start = time.time()
    while time.time() - start < seconds:
        if condition():
            print(f"{what} ({time.time() - start:.0f} s)", flush=True)
            return
        time.sleep(0.5)
    for node in NODES:
        found = status(node)
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
    agents = [(status(node) or {}).get("agents") for node in NODES]
    return all(agent and agent[0]["members"] == 5 and agent[0]["pull_age"] < 50 for agent in agents)


def check_apart():
    """An attack that nobody notices shows nothing."""
    assert not together(), "the attack did nothing"


def worst_error(folder):
    """The largest distance of an agent from the solution, relative to where it started."""
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    states = [folder / f"{node}/state" for node in NODES]
    do(
        fabnet,
        "collect",
        folder / "experiment.toml",
        *states,
        "--out",
        results,
        "--partial",
        "--quiet",
    )
    return json.loads(results.joinpath("summary.json").read_text())["runs"][0]["final"][
        "worst_error"
    ]


def start(folder, node, routers=()):
    """One process in its namespace, told of these routers."""
    place = folder / str(node)
    place.mkdir(exist_ok=True)
    members = "".join(
        f'[[member]]\nname = "{name(other)}"\nagents = [{other - 1}]\naddress = "{host(other)}:7447"\n'
        for other in NODES
    )
    routers = "".join(
        f'[[router]]\nname = "{name(router)}"\naddress = "{host(router)}:7447"\n'
        for router in routers
    )
    pki = f"../../pki/{name(node)}"
    place.joinpath("node.toml").write_text(
        f'run = "{folder.name}"\nnode = "{name(node)}"\nplan = "../experiment.toml"\nstate = "state"\nhttp = "{host(node)}:9464"\n'
        f'[tls]\nca = "../../pki/ca.pem"\ncertificate = "{pki}.pem"\nkey = "{pki}.key"\n{members}{routers}'
    )
    command = [
        "ip",
        "netns",
        "exec",
        f"fabnet-{node}",
        str(fabnet),
        "node",
        str(place / "node.toml"),
    ]
    return subprocess.Popen(command, stderr=open(place / "log", "a"))


def cut_links(_):
    wait("all have found together", together)
    for _ in range(2):
        do(
            "nft",
            "add",
            "rule",
            "bridge",
            "fabnet",
            "forward",
            "iifname",
            "fabnet-v1",
            "oifname",
            "fabnet-v2",
            "drop",
        )
        time.sleep(6)
        check_apart()
        do("nft", "flush", "chain", "bridge", "fabnet", "forward")
        time.sleep(1)
    wait("after a one-way cut of 6 s, twice", together)
    link(3, "down")
    time.sleep(15)
    check_apart()
    link(3, "up")
    wait("after a full cut of 15 s", together)
    do(
        "nft",
        "add",
        "rule",
        "bridge",
        "fabnet",
        "forward",
        "iifname",
        "fabnet-v2",
        "numgen",
        "random",
        "mod",
        "100",
        "<",
        "20",
        "counter",
        "drop",
    )
    time.sleep(8)
    lost = (
        do("nft", "list", "chain", "bridge", "fabnet", "forward")
        .stdout.split("packets ")[1]
        .split()[0]
    )
    assert int(lost) > 100, f"only {lost} packets were lost"
    wait(f"while a link loses every fifth packet, {lost} in 8 s", together)
    do("nft", "flush", "chain", "bridge", "fabnet", "forward")
    end = time.time() + flapping
    while time.time() < end:
        link(4, "down")
        time.sleep(1)
        link(4, "up")
        time.sleep(1)
    wait(f"after a link that flapped for {flapping:.0f} s", together)


def restart_routers(processes):
    wait("all have found together, through two routers", together)
    for router in ROUTERS:
        processes[router].kill()
        processes[router].wait()
        time.sleep(6)
        check_apart()
        processes[router] = start(folder / "sites", router, ROUTERS)
        wait(f"after {name(router)} was killed and started again", together)


def move_apart():
    """Two of the nodes are at the other end of a long wire, until this process ends."""
    wire = Wire(BRIDGES, 0.02, 0.04)
    for node in NODES[3:]:
        do("ip", "link", "set", f"fabnet-v{node}", "master", BRIDGES[1])
    return wire


def use_wire(wire):
    wait("all have found together, two of them 20 to 40 ms away", together)
    assert wire.frames > 100, "nothing goes through the wire"


def run(folder, processes, attack):
    """Lets nodes run, attacks them, and looks whether anything was lost."""
    try:
        attack(processes)
        wait("all are within 1e-6 of the solution", lambda: worst_error(folder) < 1e-6, 120)
        residuals = [status(node)["agents"][0]["max_mass_residual"] for node in NODES]
        assert residuals == [0] * 5, residuals
        print("mass residual: 0 at all nodes, at all times")
    finally:
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.wait()


if os.environ.get("FABNET_SKIP_NAMESPACES"):
    sys.exit(print("skipped: FABNET_SKIP_NAMESPACES is set"))
folder = pathlib.Path(tempfile.mkdtemp())
try:
    remove_network()
    build_network()
    do(fabnet, "pki", "init", folder / "pki")
    for node in [*NODES, *ROUTERS]:
        do(fabnet, "pki", "issue", folder / "pki", name(node), "--host", host(node))
    for layout in ["mesh", "sites", "apart"]:
        folder.joinpath(layout).mkdir()
        folder.joinpath(layout, "experiment.toml").write_text(EXPERIMENT)
    run(folder / "mesh", {node: start(folder / "mesh", node) for node in NODES}, cut_links)
    processes = {router: start(folder / "sites", router, ROUTERS) for router in ROUTERS}
    for node in NODES:
        # Each knows the router of its own site only.
        processes[node] = start(folder / "sites", node, [ROUTERS[0] if node < 4 else ROUTERS[1]])
    run(folder / "sites", processes, restart_routers)
    wire = move_apart()
    processes = {node: start(folder / "apart", node) for node in NODES}
    run(folder / "apart", processes, lambda _: use_wire(wire))
finally:
    remove_network()
    shutil.rmtree(folder)
