"""Nodes that run under attack: three that are honest, and a place for a fourth, the guest.

All are members of one run, over mutual TLS. The guest comes and goes: its state is damaged, its
certificate misused, its connections disturbed. Whatever is done, the three others go on.
"""

import contextlib
import copy
import pathlib
import random
import shutil
import socket
import subprocess
import time

from expect import Failed, expect, wait
from node import Node

HONEST = ["alpha", "beta", "gamma"]
GUEST = "delta"
TICK = 0.05
EXPERIMENT = """
agents = {agents}
rounds = {rounds}
seeds = 1
[problem]
kind = "policy-evaluation"
[topology]
kind = "complete"
[network]
tick = {tick}
start = {start}
[record]
every = 10
metrics = ["worst_error"]
[[algorithm]]
kind = "dfab"
steps = {{ x = 0.005, u = 0.005, z = 0.005 }}
"""


def free_ports(count):
    """Ports of this machine that nobody listens at.

    They are below those that the system gives to connections: the guest needs its own again.
    """
    ports = []
    for port in random.sample(range(15_000, 32_000), 1000):
        with contextlib.suppress(OSError), contextlib.closing(socket.socket()) as trial:
            trial.bind(("127.0.0.1", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise Failed(f"there are no {count} free ports")


class Cluster:
    """The nodes of one run in a folder, with the certificate authority that admits them."""

    # What a node may use beyond what it used before the first attack.
    MORE_FILES, MORE_MIB = 8, 24

    def __init__(self, binary, folder, run="attacked", names=(*HONEST, GUEST), rounds=100_000_000):
        self.binary = binary
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        start = max(1, len(names) - 1)
        self.experiment = self.folder / "experiment.toml"
        self.experiment.write_text(
            EXPERIMENT.format(agents=len(names), rounds=rounds, tick=TICK, start=start)
        )
        self.pki = self.folder / "pki"
        self.fabnet("pki", "init", self.pki)
        ports = free_ports(2 * len(names))
        members = [
            {"name": name, "agents": [place], "address": f"127.0.0.1:{ports[place]}"}
            for place, name in enumerate(names)
        ]
        self.nodes = {}
        for place, name in enumerate(names):
            self.fabnet("pki", "issue", self.pki, name)
            http = f"127.0.0.1:{ports[len(names) + place]}"
            self.nodes[name] = Node(
                binary, self.folder / name, self.settings(run, name, http, members)
            )
        self.honest = [self.nodes[name] for name in names if name != GUEST]
        self.before = {}
        self.impostors = []

    def settings(self, run, name, http, members):
        return {
            "run": run,
            "node": name,
            "plan": str(self.experiment),
            "state": "state",
            "http": http,
            "checkpoint": "500ms",
            "linger": "3s",
            "tls": self.certificate(name),
            "member": copy.deepcopy(members),
        }

    def certificate(self, name, folder=None):
        """The files of a certificate of this name, as a node's file names them."""
        folder = folder or self.pki
        return {
            "ca": str(folder / "ca.pem"),
            "certificate": str(folder / f"{name}.pem"),
            "key": str(folder / f"{name}.key"),
        }

    def fabnet(self, *words, check=True, seconds=60):
        """Run the command, and return its exit code and all that it prints."""
        command = [str(word) for word in (self.binary, *words)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, cwd=self.folder, check=False
        )
        text = done.stdout + done.stderr
        expect("panicked" not in text, f"a panic: {text[-300:]}")
        expect(not check or done.returncode == 0, f"{' '.join(command)}: {text}")
        return done.returncode, text

    def impostor(self, name, **changes):
        """A node of another folder with settings of the guest and these changes, not started."""
        settings = copy.deepcopy(self.nodes[GUEST].settings)
        ports = free_ports(2)
        settings["http"] = f"127.0.0.1:{ports[0]}"
        settings.update(changes)
        for member in settings["member"]:
            if member["name"] == settings["node"]:
                member["address"] = f"127.0.0.1:{ports[1]}"
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        self.impostors.append(Node(self.binary, folder, settings))
        return self.impostors[-1]

    def start(self):
        """Start the honest nodes, and wait until they have done rounds together."""
        for node in self.honest:
            node.start()
        for node in self.honest:
            node.wait(
                "does rounds with the others",
                lambda agent: agent["round"] > 20 and agent["members"] >= len(self.honest),
                60,
            )

    def members(self, count, seconds=40):
        """Wait until each honest node counts this many members."""
        try:
            for node in self.honest:
                node.wait(
                    f"counts {count} members", lambda agent: agent["members"] == count, seconds
                )
        except Failed as failed:
            found = [(node.name, (node.agent() or {}).get("members")) for node in self.honest]
            raise Failed(f"{failed}, but {found}") from None

    @contextlib.contextmanager
    def guest(self, joins=True, **changes):
        """The guest as a running member, which leaves at the end of the block."""
        node = self.nodes[GUEST]
        kept = node.settings
        node.settings = {**copy.deepcopy(kept), **changes}
        node.forget_log()
        shutil.rmtree(node.state, ignore_errors=True)
        try:
            node.start()
            if joins:
                self.join(node)
            yield node
        finally:
            code = node.stop() if node.runs() else None
            node.settings = kept
        if code is None:
            self.farewell(node)
        self.members(len(self.honest))

    def has_joined(self, node):
        """Whether the guest and the others have heard each other since its last start.

        That they count each other shows little: after a crash, a member counts as alive for a
        while, and for longer with every return.
        """
        status = node.status()
        if not status or not status["agents"] or status["seconds"] < 30 * TICK:
            return False
        agents = [status["agents"][0], *(each.agent() or {} for each in self.honest)]
        everybody = len(self.honest) + 1
        hears = [
            agent.get("members") == everybody and agent["pull_age"] < 20 for agent in agents
        ]
        return all(hears) and agents[0]["messages"]["applied"] > 0

    def join(self, node, seconds=60):
        """Wait until the guest is a member that hears all others and is heard by them."""

        def joined():
            expect(node.runs(), f"{node.name} has ended: {node.log.strip()[-300:]}")
            return self.has_joined(node)

        wait(f"{node.name} is heard by all, and hears them", joined, seconds)

    def farewell(self, node):
        """Let a guest that has crashed come back with an empty folder, and leave in order."""
        shutil.rmtree(node.state, ignore_errors=True)
        node.start()
        self.join(node)
        node.stop()

    def mark(self):
        """Note how far the honest nodes are; the first mark also notes what they use."""
        marks = {}
        for node in self.honest:
            agent = node.wait("answers", lambda agent: agent["round"] > 0)
            marks[node.name] = (time.monotonic(), agent["round"], node.process.pid)
            self.before.setdefault(node.name, node.usage())
        return marks

    def unharmed(self, marks, flat=True):
        """Expect that since these marks all honest nodes went on, and hold no more than before.

        During an attack they may hold more: then `flat` is false.
        """
        slowest = 1.0
        for node in self.honest:
            begun, round_before, pid = marks[node.name]
            expect(node.runs() and node.process.pid == pid, f"{node.name} has ended")
            seconds = time.monotonic() - begun
            agent = node.wait("answers", lambda agent: True)
            share = (agent["round"] - round_before) * TICK / max(seconds, 1)
            if seconds > 2:
                slowest = min(slowest, share)
                expect(share > 0.3, f"{node.name} made {share:.0%} of its rounds meanwhile")
            after = agent["round"] + 5
            agent = node.wait("goes on", lambda agent, after=after: agent["round"] > after)
            residual = agent["max_mass_residual"]
            expect(residual == 0, f"{node.name} has a mass residual of {residual}")
            expect("panicked" not in node.log, f"{node.name}: a thread has panicked")
            if flat:
                self.flat(node)
        return slowest

    def flat(self, node):
        """Wait until a node uses as many files, and about as much memory, as before all attacks."""
        files, memory = self.before[node.name]

        def is_flat():
            now = node.usage()
            return now[0] <= files + self.MORE_FILES and now[1] <= memory + self.MORE_MIB

        try:
            wait(f"{node.name} uses no more than before", is_flat, 40)
        except Failed as failed:
            now = node.usage()
            raise Failed(
                f"{failed}: {now[0]} files, {now[1]:.0f} MiB; before {files}, {memory:.0f} MiB"
            ) from None

    def clear(self):
        """End what an attack has left running: impostors, and the guest."""
        guests = [node for node in self.nodes.values() if node.name == GUEST]
        for node in self.impostors + guests:
            if node.process is not None:
                node.kill()
        self.impostors = []

    def stop(self):
        """End all processes, whatever state they are in."""
        self.clear()
        for node in self.honest:
            if node.process is not None:
                node.kill()
