"""Strangers who connect a thousand times a second, to the port of every honest node in turn."""

import contextlib
import random
import socket
import threading
import time

from expect import Rows, expect
from tls_client import context, hello, port_of

ROWS = Rows("stranger")

A_SECOND = 1000
SECONDS = 20
LEAST_ROUNDS, LONGEST_RETURN = 0.9, 5


class Flood(threading.Thread):
    """Connects at a steady rate, sends each connection the same bytes, and holds the last of them.

    A node whose queue is full does not take a connection up: that counts as tried only.
    """

    HELD = 3000

    def __init__(self, nodes, first_bytes):
        super().__init__(daemon=True)
        self.ports = [port_of(node) for node in nodes]
        self.first_bytes = first_bytes
        self.tried = self.opened = 0
        self.ends = False

    def run(self):
        held, begun = [], time.monotonic()
        while not self.ends:
            due = (time.monotonic() - begun) * A_SECOND
            while self.tried < due:
                held.append(self.connect())
            for client in held[: -self.HELD]:
                client.close()
            del held[: -self.HELD]
            time.sleep(0.005)
        for client in held:
            client.close()

    def connect(self):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", self.ports[self.tried % len(self.ports)]))
        self.tried += 1
        with contextlib.suppress(OSError):
            client.send(self.first_bytes)
            self.opened += 1
        return client


def flooded(stage, first_bytes):
    """A flood, in which a member is killed and starts again."""
    with stage.guest() as guest:
        flood = Flood(stage.honest, first_bytes)
        marks = stage.mark()
        begun = time.monotonic()
        flood.start()
        try:
            time.sleep(SECONDS / 2)
            guest.kill()
            guest.start()
            started = time.monotonic()
            stage.join(guest, SECONDS / 2)
            returned = time.monotonic() - started
            time.sleep(max(0, SECONDS - (time.monotonic() - begun)))
            share = stage.unharmed(marks, flat=False)
        finally:
            flood.ends = True
            flood.join()
        seconds = time.monotonic() - begun
    tried, opened = flood.tried / seconds, flood.opened / seconds
    expect(tried > 0.9 * A_SECOND, f"only {tried:.0f} connections a second were tried")
    expect(share >= LEAST_ROUNDS, f"{share:.0%} of the rounds were made during the flood")
    expect(returned <= LONGEST_RETURN, f"the guest was back after {returned:.1f} s")
    return f"{opened:.0f} of {tried:.0f} connections a second taken up, the guest was back after {returned:.1f} s"


MUST = "at least 90 % of the rounds meanwhile, and a member that is killed is back within 5 s"


@ROWS.row(
    "flood-of-garbage",
    "1,000 connections a second for 20 s, with 200 random bytes each",
    MUST,
    quick=True,
)
def of_garbage(stage):
    return flooded(stage, random.Random(1).randbytes(200))


@ROWS.row(
    "flood-of-silence",
    "1,000 connections a second for 20 s that say nothing",
    MUST,
)
def of_silence(stage):
    return flooded(stage, b"")


@ROWS.row(
    "flood-of-hellos",
    "1,000 connections a second for 20 s, with the first message of TLS",
    MUST,
)
def of_hellos(stage):
    return flooded(stage, hello(context(stage.honest[0])))
