#!/usr/bin/env python3
"""Synthetic data for the tests of the page, as crates/watch/page/README.md has it. Nothing here is measured.

    python3 data.py DIRECTORY     # writes 4.json, 24.json, 200.json, 500.json, seed.json,
                                  # minimal.json and hostile.json

Messages, losses, deaths and ages are simulated round by round; metrics, times and sizes are
drawn from plausible laws.
"""

import json
import math
import pathlib
import random
import sys

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_!#$%()*+,./:;=?@[]^{|}~"
FRAME, DETECT, BACK, SLOWEST = 0.5, 1.4, 3.0, 24


def age_code(age):
    """Rounds: exact below 40, then in steps of 2^(1/8)."""
    code = age if age < 40 else 40 + round(8 * math.log2(age / 40))
    return ALPHABET[min(code, len(ALPHABET) - 1)]


def time_code(us):
    """Microseconds: 0, or 50 us times 2^(i/8)."""
    code = 0 if us < 48 else 1 + max(0, round(8 * math.log2(us / 50)))
    return ALPHABET[min(code, len(ALPHABET) - 1)]


class Network:
    """A run on the one-peer exponential schedule with deaths, losses and partitions."""

    def __init__(self, n, seconds, tick, kills, cut=None, loss=0.3, clock="s", seed=0):
        self.rng = random.Random(4711 + n + seed)
        self.n, self.seconds, self.tick, self.loss, self.clock = n, seconds, tick, loss, clock
        self.cut, self.events, self.frames = cut, [], []
        self.hops = [2**j for j in range(max(1, math.ceil(math.log2(n))))]
        self.edges = [(i, (i + h) % n) for h in self.hops for i in range(n)]
        self.of_edge = {edge: e for e, edge in enumerate(self.edges)}
        self.state, self.life, self.since = ["u"] * n, [1] * n, [0.0] * n
        self.last, self.parked, self.refused = [0] * len(self.edges), {}, [0] * n
        self.offset = [self.rng.gauss(0, 0.1) for _ in range(n)]
        self.noise, self.private, self.jolt = [0.0] * n, [0.0] * n, 0.0
        self.speed = [self.rng.lognormvariate(0, 0.16) for _ in range(n)]
        self.speed[self.rng.randrange(n)] *= 2.1
        self.phase = [self.rng.uniform(0, 5) for _ in range(n)]
        self.saved = [p - 5 for p in self.phase]
        self.step, self.epoch, self.sent, self.times, self.sticky = [0.007] * n, 1, 0, [], {}
        self.work = [0.0] * n
        self.queue = sorted(((at, "kill", i) for at, i in kills), key=lambda x: x[0])
        if cut:
            self.plan(cut[0], "cut", None)
            self.plan(cut[1], "heal", None)
        self.plan(seconds * 0.39, "bad", n // 3)
        self.plan(14.2, "refuse", (n * 7) // 11)

    def plan(self, at, what, who):
        self.queue = sorted(self.queue + [(at, what, who)], key=lambda x: x[0])

    def unit(self, t):
        """Seconds in the clock of the run."""
        return round(t, 2) if self.clock == "s" else round(t / self.tick)

    def note(self, t, k, kind, **more):
        self.events.append(dict(t=self.unit(t), k=k, kind=kind, **more))

    def happen(self, t, k, what, who):
        n, ease = self.n, 6.25 / self.seconds
        if what == "kill":
            self.state[who], self.since[who] = "d", t
            self.note(t, k, "kill", agent=who)
            self.plan(t + DETECT, "evict", who)
            self.plan(t + BACK, "join", who)
            for h in self.hops:
                edge = ((who - h) % n, who)
                if self.rng.random() < 0.75 and edge in self.of_edge:
                    mass = self.rng.lognormvariate(-2, 1) * 10 ** (-ease * t * 0.8)
                    self.parked[self.of_edge[edge]] = float(f"{mass:.1e}")
        elif what == "evict":
            for h in self.hops:
                mass = self.parked.pop(self.of_edge[(who - h) % n, who], 0)
                self.note(t + 0.1, k, "reversal", agent=(who - h) % n, other=who, mass=mass)
            self.jolt += self.rng.uniform(0.2, 0.4) / (1 if n <= 50 else 2.5)
            if len(self.events) % 2:
                self.epoch += 1
                self.note(t + 0.1, k, "epoch", epoch=self.epoch)
        elif what == "join":
            self.life[who] += 1
            self.state[who], self.since[who], self.private[who] = "j", t, 0.8
            self.saved[who] = t
            self.note(t, k, "join", agent=who, life=self.life[who])
        elif what == "refuse":
            self.refused[who] += 3
            self.note(t, k, "refusal", agent=who, reason="oversized")
        elif what == "bad":
            self.step[who] = 0.0035
            self.note(t, k, "bad_step", agent=who)
        elif what == "cut":
            self.note(t, k, "partition", side=self.cut[2], until=self.unit(self.cut[1]))
        elif what == "heal":
            self.jolt += 0.3

    def round(self, t, k):
        """Messages of one round, and what changes slowly."""
        n, rng = self.n, self.rng
        cut = self.cut and self.cut[0] <= t < self.cut[1]
        first = (k % len(self.hops)) * n
        for e in range(first, first + n):
            i, j = self.edges[e]
            if self.state[i] == "d":
                continue
            self.sent += 1782
            blocked = cut and (i < self.cut[2]) != (j < self.cut[2])
            if self.state[j] != "d" and not blocked and rng.random() >= self.loss:
                self.last[e] = k
                self.parked.pop(e, None)
            elif blocked and k - self.last[e] > 9 * len(self.hops) and e not in self.parked:
                mass = rng.lognormvariate(-2.5, 0.8) * 10 ** (-5 * t / self.seconds)
                self.parked[e] = float(f"{mass:.1e}")
        for i in range(n):
            if self.state[i] == "j" and t - self.since[i] > 1.5:
                self.state[i] = "u"
            if (t - self.phase[i]) // 5 != (t - self.tick - self.phase[i]) // 5:
                self.saved[i] = t if self.state[i] != "d" else self.saved[i]
            self.noise[i] = 0.97 * self.noise[i] + rng.gauss(0, 0.018)
            self.private[i] *= 0.5 ** (self.tick / 1.1)
        self.jolt *= 0.5 ** (self.tick / 2.2)
        self.times.append([self.spent(i, t) for i in range(n)])

    def spent(self, i, t):
        """Compute, wait, mix and disk of one round in microseconds."""
        if self.state[i] == "d":
            return (0, 0, 0, 0)
        rng = self.rng
        compute = 5200 * self.speed[i] * rng.lognormvariate(0, 0.1)
        compute += 16000 * rng.random() if rng.random() < 0.004 else 0
        mix, disk = 1900 * rng.lognormvariate(0, 0.14), 380 * rng.lognormvariate(0, 0.3)
        disk += 7500 if t - self.saved[i] < self.tick else 0
        wait = max(60, self.tick * 1e6 - compute - mix - disk + rng.gauss(0, 500))
        return (compute, wait, mix, disk)

    def shown(self):
        """Agents whose times are sent: all, or the slowest by smoothed work."""
        if self.n <= 50:
            return list(range(self.n))
        for i in range(self.n):
            now = sum(r[i][0] + r[i][2] + r[i][3] for r in self.times) / len(self.times)
            self.work[i] = 0.97 * self.work[i] + 0.03 * now if self.frames else now
        slowest = sorted(range(self.n), key=lambda i: -self.work[i])[:SLOWEST]
        return sorted(slowest)

    def frame(self, t, k):
        n, rng = self.n, self.rng
        base = -6.25 / self.seconds * t - 0.18 * (1 - math.exp(-t / 4)) + self.jolt
        error = [base + self.offset[i] + self.noise[i] + self.private[i] for i in range(n)]
        oldest = [0] * n
        for e, (i, j) in enumerate(self.edges):
            if self.state[i] != "d":
                oldest[j] = max(oldest[j], k - self.last[e])
        frame = dict(t=self.unit(t), k=k)
        frame["s"] = "".join("s" if s == "d" and t - self.since[i] < 0.5 else s
                             for i, s in enumerate(self.state))
        frame["r"] = [k - int((k * self.tick - t + self.since[i]) / self.tick)
                      if self.state[i] == "d" else int(rng.random() < 0.35) for i in range(n)]
        frame["e"] = [round(100 * x) for x in error]
        frame["d"] = [round(100 * (x - 0.75 + 0.7 * self.offset[i])) for i, x in enumerate(error)]
        frame["a"] = oldest
        ages = [max(0, t - s) for s in self.saved]
        frame["c"] = [round(10 * a) if self.clock == "s" else self.unit(a) for a in ages]
        values = dict(ep=self.epoch, li=self.life, h=self.step, rf=self.refused, m=0, mx=0)
        for key, value in values.items():
            if isinstance(value, list):
                value = value[0] if len(set(value)) == 1 else list(value)
            if self.sticky.get(key) != value:
                frame[key] = self.sticky[key] = value
        first = (k % len(self.hops)) * n
        frame["b"], frame["q"] = self.sent, [first, first + n]
        frame["g"] = "".join(age_code(k - last) for last in self.last)
        if self.parked or not self.frames:
            frame["p"] = [[e, mass] for e, mass in sorted(self.parked.items())]
        who = self.shown()
        frame["w"] = dict(n=len(self.times), x="".join(
            time_code(v) for i in who for r in self.times for v in r[i]))
        if n > 50:
            frame["w"]["a"] = who
        self.times = []
        self.frames.append(frame)

    def run(self):
        next_frame, grid = 0.0, 0.0
        for k in range(int(self.seconds / self.tick) + 1):
            t = k * self.tick
            while self.queue and self.queue[0][0] <= t:
                _, what, who = self.queue.pop(0)
                self.happen(t, k, what, who)
            self.round(t, k)
            if t >= next_frame - 1e-9:
                grid += FRAME  # At a random round, or frames would beat with the schedule.
                next_frame = grid + self.rng.uniform(-0.12, 0.12)
                self.frame(t, k)
        return self

    def data(self, **more):
        hello = dict(
            v=1, run="synthetic", problem="policy-evaluation", method="dfab", source="nodes",
            topology="one-peer-exponential", agents=self.n, clock=self.clock, loss=self.loss,
            rounds=int(self.seconds / self.tick), tick=self.tick, metric="relative error",
            target=1e-6, every=FRAME, edges=[x for edge in self.edges for x in edge],
            names=[f"n{i}" for i in range(self.n)], **more)
        events = sorted(self.events, key=lambda e: e["t"])
        return dict(hello=hello, frames=self.frames, events=events)


def four():
    made = Network(4, 90, 0.03, [(22, 2), (52, 0)]).run().data()
    made["hello"]["run"] = "quartet"
    made["hello"]["names"] = ["charite", "karolinska", "mayo", "st-thomas"]
    return made


def twenty_four():
    rng = random.Random(3)
    kills = [(at + rng.uniform(-0.2, 0.2), rng.randrange(24)) for at in range(10, 92, 10)]
    made = Network(24, 120, 0.0335, kills, cut=(63.0, 67.5, 12)).run().data()
    made["hello"]["run"] = "network-churn"
    for frame in made["frames"]:  # Two agents that the watcher does not reach for a while.
        frame["v"] = "".join("n" if i in (3, 9) and 34 < frame["t"] < 37 else "y"
                             for i in range(24))
    last = made["frames"][-1]
    made["events"].append(dict(t=last["t"], k=last["k"], kind="end", reason="all rounds done"))
    return made


def many(n, seconds):
    rng = random.Random(n)
    kills = [(at, i) for at in range(10, 46, 10) for i in rng.sample(range(n), 3)]
    made = Network(n, seconds, 0.048, kills, cut=(33.0, 39.0, n // 2)).run().data()
    made["hello"]["run"] = f"network-{n}"
    return made


def seed():
    """A fault simulation in ticks, with faults and kinds that the page does not know."""
    net = Network(8, 60, 0.04, [(15, 5), (41, 2)], cut=(26.0, 31.0, 3), clock="ticks").run()
    made = net.data()
    made["hello"].update(run="seed 918273", source="seed")
    made["hello"].pop("names")
    edges = made["hello"]["edges"]
    made["hello"]["edges"] = edges[: len(edges) // 2]  # The rest comes with the frames.
    for e, frame in enumerate(made["frames"]):
        if e == 0:
            frame["ne"] = edges[len(edges) // 2:]
        first, end = frame["q"]
        frame["q"] = dict(i=list(range(first, end)))
    extra = [
        dict(t=210, k=210, kind="fault", text="delay 40 ticks", agent=1, other=2, until=330),
        dict(t=374, k=374, kind="fault", text="crash", agent=5),
        dict(t=650, k=650, kind="fault", text="partition 0-2 | 3-7", until=775),
        dict(t=880, k=880, kind="fault", text="duplicate messages", until=1010),
        dict(t=905, k=905, kind="suspect", agent=4, other=6),
        dict(t=921, k=921, kind="refute", agent=6, life=2),
        dict(t=1100, k=1100, kind="disk_full", agent=3, path="/state", free=0),
        dict(t=1240, k=1240, kind="clock_jump", agent=7, by=-12.5),
        dict(t=1300, k=1300, kind="close", agent=1, other=3, mass=2.5e-5),
        dict(t=1350, k=1350, kind="leave", agent=6, reason="planned"),
    ]
    made["events"] = sorted(made["events"] + extra, key=lambda e: e["t"])
    for frame in made["frames"]:
        if frame["t"] >= 1350:
            frame["s"] = frame["s"][:6] + "d" + frame["s"][7:]
    return made


def minimal():
    """A simulation without agents' numbers: round, one metric, bytes and further metrics."""
    rng = random.Random(5)
    frames = []
    for k in range(0, 4001, 20):
        frame = dict(t=k, k=k, b=k * 98304)
        frame["x0"] = round(100 * (0.4 - 5.2 * k / 4000 + rng.gauss(0, 0.03)))
        if k % 100 == 0:
            frame["mm"] = {
                "hypergradient norm": 3.1 * 10 ** (-4 * k / 4000 + rng.gauss(0, 0.05)),
                "test accuracy": 0.95 - 0.6 * math.exp(-k / 700) + rng.gauss(0, 0.004),
                "upper-level loss": 2.4 * math.exp(-k / 1500) + 0.31,
            }
        frames.append(frame)
    hello = dict(v=1, agents=16, source="run", clock="rounds", run="hyperparameters",
                 problem="logistic-regression", method="madsbo", topology="ring", rounds=4000,
                 metric="squared gradient norm", target=None)
    return dict(hello=hello, frames=frames, events=[])


def hostile():
    """Names that try to be markup, fields of wrong lengths, and unknown kinds."""
    made = Network(6, 30, 0.05, [(9, 1)]).run().data()
    made["hello"]["run"] = "<b>bold</b></script><script>alert(2)</script>"
    made["hello"]["names"] = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>",
                              "a" * 300, "\u202eevil", "javascript:alert(1)", ""]
    made["frames"][5]["e"] = [1, 2]
    made["frames"][6]["g"] = "x" * 5000
    made["frames"][7]["w"] = dict(n=3, x="short")
    made["frames"][8]["q"] = [0, 1e9]
    made["frames"][9]["p"] = [[99999, 1]]
    made["frames"][10]["h"] = "0.1"
    made["frames"].insert(20, "no frame")
    made["frames"].insert(21, dict(t="late", k=None))
    made["events"] += [dict(t=12, k=240, kind="<svg onload=alert(3)>", agent=2, a={"b": [1]}),
                       dict(t=13, kind="kill", agent=77), dict(kind="no time"), None]
    return made


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    made = {"4": four, "24": twenty_four, "200": lambda: many(200, 60),
            "500": lambda: many(500, 45), "seed": seed, "minimal": minimal, "hostile": hostile}
    for name, make in made.items():
        text = json.dumps(make(), separators=(",", ":"))
        (directory / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"{name}: {len(text):,} bytes")


if __name__ == "__main__":
    main()
