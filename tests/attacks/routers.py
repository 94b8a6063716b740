"""What a router can do that stands between the guest and the others, without their keys."""

import asyncio
import contextlib
import random
import time

from cluster import GUEST
from expect import Rows, expect, wait
from proxy import Proxy

ROWS = Rows("router")


@contextlib.contextmanager
def between(stage, treat=None, joins=True):
    """The guest, which dials the others through proxies that treat what passes."""
    members = stage.nodes[GUEST].settings["member"]
    ports = [int(member["address"].split(":")[1]) for member in members[: len(stage.honest)]]
    proxies = [Proxy(port, treat) for port in ports]
    moved = [dict(member) for member in members]
    for member, proxy in zip(moved, proxies):
        member["address"] = f"127.0.0.1:{proxy.port}"
    try:
        with stage.guest(joins=joins, member=moved) as guest:
            yield guest, proxies
    finally:
        for proxy in proxies:
            proxy.close()


def malformed(node):
    """The damaged messages that its peer has refused so far."""
    return node.wait("answers", lambda agent: True)["messages"]["malformed"]


class Attack:
    """A treatment of bytes that can be switched on and off while nodes run."""

    def __init__(self, act, seed=1):
        self.act = act
        self.on = False
        self.times = 0
        self.random = random.Random(seed)

    async def __call__(self, link, outward, data, send):
        if not self.on:
            await send(data)
            return
        await self.act(self, link, outward, data, send)


def attacked(stage, act, seconds, times=5):
    """The guest joins, is attacked for this long, and must be a member again afterwards.

    The attack must have done something this often, or the row shows nothing.
    """
    attack = Attack(act)
    before = {node.name: malformed(node) for node in stage.honest}
    with between(stage, attack) as (guest, proxies):
        expect(all(proxy.accepted for proxy in proxies), "the guest does not use the proxies")
        attack.on = True
        time.sleep(seconds)
        attack.on = False
        expect(attack.times >= times, f"the attack was carried out {attack.times} times only")
        begun = time.monotonic()
        stage.join(guest)
        again = time.monotonic() - begun
        connections = sum(proxy.accepted for proxy in proxies)
        for node in [guest, *stage.honest]:
            more = malformed(node) - before.get(node.name, 0)
            expect(more == 0, f"{more} damaged messages have passed TLS at {node.name}")
    return f"{attack.times} times, {connections} connections, together again after {again:.1f} s"


@ROWS.row(
    "router-flips-bits",
    "flips a random bit in every tenth piece of TLS for 8 s",
    "TLS notices, nothing damaged reaches a peer, the guest returns",
    quick=True,
)
def flip_bits(stage):
    async def act(attack, _link, _outward, data, send):
        if attack.random.random() < 0.1:
            place = attack.random.randrange(8 * len(data))
            data = bytearray(data)
            data[place // 8] ^= 1 << place % 8
            attack.times += 1
        await send(bytes(data))

    return attacked(stage, act, 8)


@ROWS.row(
    "router-inserts-bytes",
    "puts random bytes between pieces of TLS for 8 s",
    "TLS notices, nothing damaged reaches a peer, the guest returns",
)
def insert_bytes(stage):
    async def act(attack, _link, _outward, data, send):
        if attack.random.random() < 0.1:
            data += attack.random.randbytes(attack.random.randrange(1, 300))
            attack.times += 1
        await send(data)

    return attacked(stage, act, 8)


@ROWS.row(
    "router-replays",
    "sends every tenth piece of TLS twice for 8 s",
    "TLS notices, no message counts twice, the guest returns",
    quick=True,
)
def replay(stage):
    async def act(attack, _link, _outward, data, send):
        await send(data)
        if attack.random.random() < 0.1:
            attack.times += 1
            await send(data)

    return attacked(stage, act, 8)


@ROWS.row(
    "router-drops-pieces",
    "drops every tenth piece of TLS for 8 s",
    "TLS notices, the guest returns, no mass is missing",
)
def drop_pieces(stage):
    async def act(attack, _link, _outward, data, send):
        if attack.random.random() < 0.1:
            attack.times += 1
            return
        await send(data)

    return attacked(stage, act, 8)


@ROWS.row(
    "router-swaps-pieces",
    "holds every tenth piece of TLS back until after the next one, for 8 s",
    "TLS notices, the guest returns, no mass is missing",
)
def swap_pieces(stage):
    held = {}

    async def act(attack, link, outward, data, send):
        before = held.pop((link, outward), None)
        if before is None and attack.random.random() < 0.1:
            attack.times += 1
            held[link, outward] = data
            return
        await send(data)
        if before is not None:
            await send(before)

    return attacked(stage, act, 8)


@ROWS.row(
    "router-resets",
    "resets each connection at a random moment, again and again, for 10 s",
    "the guest returns, no mass is missing, no connections are left over",
)
def reset(stage):
    async def act(attack, link, _outward, data, send):
        if attack.random.random() < 0.03:
            attack.times += 1
            link.cut()
            return
        await send(data)

    return attacked(stage, act, 10, times=3)


@ROWS.row(
    "router-delays",
    "delays each piece by 50 to 300 ms for 10 s",
    "the run goes on with the guest",
)
def delay(stage):
    async def act(attack, _link, _outward, data, send):
        attack.times += 1
        await asyncio.sleep(attack.random.uniform(0.05, 0.3))
        await send(data)

    return attacked(stage, act, 10)


@ROWS.row(
    "router-drips",
    "passes on 20 bytes at a time, with 10 ms between, for 10 s",
    "the others go on at their pace, the guest returns",
)
def drip(stage):
    async def act(attack, _link, _outward, data, send):
        for start in range(0, len(data), 20):
            attack.times += 1
            await send(data[start : start + 20])
            await asyncio.sleep(0.01 if attack.on else 0)

    return attacked(stage, act, 10)


@ROWS.row(
    "router-stalls",
    "keeps connections open and passes nothing on for 15 s",
    "the others go on without the guest, which returns",
    quick=True,
)
def stall(stage):
    async def act(attack, _link, _outward, data, send):
        attack.times += 1
        while attack.on:
            await asyncio.sleep(0.05)
        await send(data)

    return attacked(stage, act, 15, times=3)


@ROWS.row(
    "router-stalls-one-way",
    "passes on only what the guest receives, for 15 s",
    "the others go on without the guest, which returns",
)
def stall_one_way(stage):
    async def act(attack, _link, outward, data, send):
        while outward and attack.on:
            attack.times += 1
            await asyncio.sleep(0.05)
        await send(data)

    return attacked(stage, act, 15)


@ROWS.row(
    "router-cuts-in-the-handshake",
    "cuts each connection of the guest after 300 to 3,000 bytes from its start on, ten times",
    "the guest joins once it is let through",
)
def cut_in_the_handshake(stage):
    async def act(attack, link, outward, data, send):
        await send(data)
        if sum(link.passed) > attack.random.randrange(300, 3000):
            attack.times += 1
            link.cut()

    attack = Attack(act)
    attack.on = True
    with between(stage, attack, joins=False) as (guest, _):
        wait("ten connections were cut", lambda: attack.times >= 10, 20)
        if not guest.runs():
            guest.refuses_to_run(1, "not admitted")
            attack.on = False
            guest.start()
        attack.on = False
        stage.join(guest)
    return f"{attack.times} connections were cut"
