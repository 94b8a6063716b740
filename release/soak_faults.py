"""What is done to the run of a soak: kills, cuts, full disks, dead routers, new certificates."""

import collections
import heapq
import itertools
import random
import time

from soak_cluster import SITES, Cluster
from real_nodes import FABNET, do

# Seconds until the first and between two faults of a kind; the latter vary by a third.
KILLS, CUTS, FULL_DISKS, DEAD_ROUTERS = (5, 10), (12, 40), (18, 60), (30, 90)
# Every so many cuts, one outlasts the time after which members count as dead.
LONG_CUTS_EVERY, LONG_CUT = 6, 30
RENEWED_DAYS = 300


class SmallDisk:
    """A small file system as the state folder of a node."""

    def __init__(self, node, folder):
        self.node = node
        self.place = folder / node.name / "state"
        self.is_full = self.was_full = False

    def mount(self):
        self.place.mkdir(mode=0o700)
        do("mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", self.place)

    def unmount(self):
        do("umount", self.place, check=False)

    def fill(self):
        """Write until nothing more fits."""
        self.is_full = self.was_full = True
        with open(self.place / "filler", "wb", buffering=0) as filler:
            for size in (1 << 20, 4096):
                try:
                    while filler.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass

    def empty(self):
        (self.place / "filler").unlink(missing_ok=True)
        self.is_full = False


class Faults:
    """An agenda of faults, and how many of each kind there were.

    What ends a fault is on the agenda, too, so that `end` can leave a run without any.
    """

    def __init__(self, cluster, disks, seconds, seed):
        self.cluster = cluster
        self.network = cluster.network
        self.disks = disks
        self.seconds = seconds
        self.count = collections.Counter()
        self.renewed_at = None
        self._random = random.Random(seed)
        self._agenda, self._order = [], itertools.count()
        self._is_cut = False

    def begin(self):
        now = time.monotonic()
        for times, fault in self._kinds():
            self._at(now + times[0], fault)
        self._at(now + self.seconds / 2, self.renew)

    def _kinds(self):
        yield KILLS, self.kill
        yield CUTS, self.cut
        yield FULL_DISKS, self.fill_disk
        yield DEAD_ROUTERS, self.kill_router

    @staticmethod
    def times():
        """The seconds until the first and between two faults, by what is counted."""
        times = (KILLS, CUTS, FULL_DISKS, DEAD_ROUTERS)
        return dict(zip(("kills", "cuts", "full disks", "dead routers"), times))

    def _at(self, moment, what, ends_a_fault=False):
        heapq.heappush(self._agenda, (moment, next(self._order), what, ends_a_fault))

    def step(self):
        """Carry out everything that is due."""
        while self._agenda and self._agenda[0][0] <= time.monotonic():
            _, _, what, ends_a_fault = heapq.heappop(self._agenda)
            what()
            for times, fault in self._kinds():
                if fault == what and not ends_a_fault:
                    pause = times[1] * self._random.uniform(2 / 3, 4 / 3)
                    self._at(time.monotonic() + pause, fault)

    def end(self):
        """Undo every fault that is in force, and carry out no other one."""
        for _, _, what, ends_a_fault in sorted(self._agenda, key=lambda entry: entry[:2]):
            if ends_a_fault:
                what()
        self._agenda = []

    def _for(self, seconds, undo):
        self._at(time.monotonic() + seconds, undo, ends_a_fault=True)

    def kill(self):
        """Kill a random node, unless it is spared or has no room to begin again."""
        full = [disk.node for disk in self.disks if disk.is_full]
        avoided = self.cluster.spared() + full
        alive = [node for node in self.cluster.nodes if node.running and node not in avoided]
        self._random.choice(alive).kill(time.monotonic() + self._random.uniform(0.5, 4))
        self.count["kills"] += 1

    def cut(self):
        """Cut the sites off from each other, in one direction or in both."""
        if self._is_cut:
            return
        self._is_cut = True
        directions = [SITES, SITES[::-1]]
        self.count["cuts"] += 1
        is_long = self.count["cuts"] % LONG_CUTS_EVERY == 0
        seconds = LONG_CUT if is_long else self._random.uniform(3, 12)
        ways = [directions, *([direction] for direction in directions)]
        chosen = directions if is_long else self._random.choice(ways)
        for source, target in chosen:
            self.network.drop(source, target)
        self._for(seconds, self._heal)

    def _heal(self):
        frames = self.network.heal()
        self.count["frames lost in cuts"] += frames
        # A cut that loses nothing shows nothing.
        self.count["cuts without effect"] += frames == 0
        self._is_cut = False

    def fill_disk(self):
        disk = self._random.choice(self.disks)
        if disk.is_full or disk.node.running is None or not disk.node.agent():
            return
        disk.fill()
        self.count["full disks"] += 1
        self._for(self._random.uniform(4, 7), disk.empty)

    def kill_router(self):
        """Kill one router after the other in turn, unless another one is dead at the moment."""
        if all(router.running for router in self.cluster.routers):
            router = self.cluster.routers[self.count["dead routers"] % len(SITES)]
            router.kill(time.monotonic() + self._random.uniform(1, 4))
            self.count["dead routers"] += 1

    def renew(self):
        """Renew all certificates. Nodes take theirs while they run, routers when they start."""
        pki = self.cluster.folder / "pki"
        for name in ["ca", *(name for name, _ in Cluster.names())]:
            do(FABNET, "pki", "renew", pki, name, "--days", RENEWED_DAYS)
            self.count["renewals"] += 1
        self.renewed_at = time.monotonic()
        for after in (15, 25):
            self._at(self.renewed_at + after, self._restart_next_router)

    def _restart_next_router(self):
        self.kill_router()
