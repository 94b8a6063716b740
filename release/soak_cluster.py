"""The processes of a soak: nodes and routers in two sites, started, killed and asked."""

import collections
import math
import time

import real_nodes

PER_SITE = 16
SITES = (1, 2)
NODES = PER_SITE * len(SITES)
# The first nodes of each site are never killed: their memory and descriptors show a trend.
SPARED_PER_SITE = 2
FIRST_PORT = 9400


class Fault(Exception):
    """Something happened that must not happen, whatever is done to the run."""


class Process:
    """A node or a router in its site, whichever process it is at present."""

    def __init__(self, name, site, path, namespace, http=None):
        self.name = name
        self.site = site
        self.http = http
        self.status = None
        # What earlier processes of this node have counted: each one begins at 0.
        self.earlier = collections.Counter()
        self.running = None
        self.started_at = None
        self.restart_at = None
        self._path = path
        self._namespace = namespace

    def start(self):
        self.started_at, self.restart_at = time.monotonic(), None
        self.running = real_nodes.start(self._path, self._namespace)

    def kill(self, restart_at):
        """Kill the process at once; it is started again when it is looked at after this time."""
        self.running.kill()
        self.running.wait()
        self.running, self.restart_at = None, restart_at
        self.earlier += self.counted()
        self.status = None

    def counted(self):
        """What the present process has counted, as far as it has told."""
        if self.status is None:
            return collections.Counter()
        sent = sum(agent["messages"]["sent"] for agent in self.status["agents"])
        return collections.Counter(dropped=self.status["dropped"], sent=sent)

    def look(self):
        """Start the process if that is due, and ask it how it is; a fault if it has ended."""
        if self.running is None:
            if time.monotonic() >= self.restart_at:
                self.start()
            return
        code = self.running.poll()
        if code is not None:
            raise Fault(f"{self.name} ended by itself with {code}: {self.log_lines()[-1:]}")
        if self.http is not None:
            self.status = real_nodes.status(self.http) or self.status

    def agent(self):
        """What the process last said of its only agent; none if it has said nothing yet."""
        agents = (self.status or {}).get("agents")
        return agents[0] if agents else None

    def log_lines(self):
        return self._path.with_name("log").read_text().splitlines()

    def logged(self, text):
        """Whether a line of its log has this text."""
        return any(text in line for line in self.log_lines())

    def days_left(self):
        """The days for which its certificates are valid, as it says itself."""
        return self.status["certificate"]["days_left"]

    def log_bytes(self):
        """The length of everything that it logs: its log and its audit log."""
        audit = self._path.parent.glob("state/audit*.jsonl")
        return sum(path.stat().st_size for path in [self._path.with_name("log"), *audit])


class Cluster:
    """All processes of the run."""

    def __init__(self, folder, network, settings):
        self.folder = folder
        self.network = network
        self.checks = 0
        self.worst_residual = 0
        # Both sites know both routers, but a member dials only that of its own.
        routers = [(f"r{site}", f"{network.host(site)}:7447") for site in SITES]
        self.nodes = [self._node(index, settings, routers) for index in range(NODES)]
        self.routers = [self._router(site, settings, routers) for site in SITES]

    @staticmethod
    def names():
        """Every name with its site."""
        nodes = [(f"n{index}", site_of(index)) for index in range(NODES)]
        return nodes + [(f"r{site}", site) for site in SITES]

    def _members(self):
        host = self.network.host
        return [(f"n{i}", [i], f"{host(site_of(i))}:{7500 + i}") for i in range(NODES)]

    def _node(self, index, settings, routers):
        name, site = f"n{index}", site_of(index)
        http = f"{self.network.host(site)}:{FIRST_PORT + index}"
        own = {"node": name, "plan": "../experiment.toml", "state": "state", "http": http}
        return self._process(name, site, settings | own, [routers[site - 1]])

    def _router(self, site, settings, routers):
        own = {"run": settings["run"], "node": f"r{site}"}
        return self._process(f"r{site}", site, own, routers)

    def _process(self, name, site, settings, routers):
        place, pki = self.folder / name, self.folder / "pki"
        path = real_nodes.write_node_file(place, settings, pki, self._members(), routers)
        return Process(name, site, path, self.network.namespace(site), settings.get("http"))

    @property
    def processes(self):
        return self.routers + self.nodes

    def spared(self):
        """The nodes that are never killed."""
        return [node for i, node in enumerate(self.nodes) if i % PER_SITE < SPARED_PER_SITE]

    def start(self):
        for process in self.processes:
            process.start()

    def look(self):
        """Ask all processes how they are; a fault if one has ended, or mass is missing anywhere."""
        for process in self.processes:
            process.look()
        for node in self.nodes:
            agent = node.agent()
            if agent is None:
                continue
            self.checks += 1
            residual = max(agent["mass_residual"], agent["max_mass_residual"])
            self.worst_residual = max(self.worst_residual, residual)
            if residual != 0:
                raise Fault(f"{node.name}: a mass residual of {residual}")

    def all_run(self):
        """Whether every node runs and has said something since it was started."""
        return all(node.running is not None and node.agent() for node in self.nodes)

    def together(self):
        """Everybody counts everybody, and has heard from all sources within the last 50 rounds."""
        if not self.all_run():
            return False
        agents = [node.agent() for node in self.nodes]
        return all(agent["members"] == NODES and agent["pull_age"] < 50 for agent in agents)

    def rounds(self):
        """The rounds that the slowest and the fastest node have done."""
        rounds = [node.agent()["round"] for node in self.nodes if node.agent()] or [0]
        return min(rounds), max(rounds)

    def worst_error(self):
        """The largest error that an agent last said it has; NaN if none has said so."""
        errors = [(node.agent() or {}).get("metric") for node in self.nodes]
        return max((error for error in errors if error is not None), default=math.nan)

    def counted(self):
        """What all processes of all nodes have counted."""
        total = collections.Counter()
        for node in self.nodes:
            total += node.earlier + node.counted()
        return total

    def end(self):
        """Tell all processes to leave, routers last; return their exit codes by name."""
        codes = {}
        for group in (self.nodes, self.routers):
            ended = real_nodes.end_all([process.running for process in group])
            codes |= zip((process.name for process in group), ended)
        return codes

    def kill_all(self):
        """Leave no process behind."""
        for process in self.processes:
            if process.running is not None:
                process.running.kill()
                process.running.wait()


def site_of(index):
    return SITES[index // PER_SITE]
