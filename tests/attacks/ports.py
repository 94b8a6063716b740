"""What strangers can do at the port at which nodes listen for each other, short of a handshake."""

import contextlib
import os
import random
import socket
import time

from cluster import Cluster
from expect import Rows, expect, wait
from handshakes import counted
from tls_client import connect, context, hello, is_closed, shake_hands

ROWS = Rows("stranger")


@ROWS.row(
    "port-garbage",
    "200 connections, one after the other, with 2 KiB of random bytes each",
    "closed, counted as `certificate`, no descriptors left",
    quick=True,
)
def garbage(stage):
    chance = random.Random(1)

    def act(node):
        for _ in range(200):
            with contextlib.suppress(OSError), contextlib.closing(connect(node)) as connection:
                connection.sendall(chance.randbytes(2048))
        return "200 connections"

    return counted(stage, "certificate", 100, act)


def is_refused(stage, first_bytes, says_no_more=False):
    """Expect that who begins with these bytes instead of TLS is cut off, and counted."""

    def act(node):
        with contextlib.closing(connect(node)) as connection:
            connection.sendall(first_bytes)
            if says_no_more:
                connection.shutdown(socket.SHUT_WR)
            expect(is_closed(connection, 15), "the connection stays open")
        return "closed"

    return counted(stage, "certificate", 1, act)


@ROWS.row(
    "port-plain-http",
    "a request of plain HTTP",
    "closed within 15 s, counted as `certificate`",
    quick=True,
)
def plain_http(stage):
    return is_refused(stage, b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")


@ROWS.row(
    "port-plain-zenoh",
    "the first bytes of Zenoh without TLS",
    "closed within 15 s, counted as `certificate`",
)
def plain_zenoh(stage):
    return is_refused(stage, bytes.fromhex("1b00410a0f00") + bytes(40), says_no_more=True)


@ROWS.row(
    "port-half-open-handshakes",
    "100 clients that send half of their first message and wait",
    "all are closed within 40 s, others are served meanwhile",
)
def half_open(stage):
    node = stage.honest[0]
    first = hello(context(node))
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(contextlib.closing(connect(node))) for _ in range(100)]
        for client in clients:
            client.sendall(first[: len(first) // 2])
        said = shake_hands(node, context(node))
        expect(said and "certificate required" in said, f"somebody else is not served: {said}")
        begun = time.monotonic()
        open_still = sum(not is_closed(client, 40) for client in clients[:3] + clients[-3:])
        expect(open_still == 0, f"{open_still} of 6 clients stay open")
    return f"closed after {time.monotonic() - begun:.0f} s"


@ROWS.row(
    "port-slow-writer",
    "sends its first TLS message a byte every 200 ms",
    "closed within 30 s",
)
def slow_writer(stage):
    node = stage.honest[0]
    first = hello(context(node))
    begun = time.monotonic()
    with contextlib.closing(connect(node)) as client:
        client.settimeout(0.2)
        for place in range(len(first)):
            try:
                client.sendall(first[place : place + 1])
                if not client.recv(1):
                    break
            except TimeoutError:
                pass
            except OSError:
                break
            expect(time.monotonic() - begun < 30, "it is borne for longer than 30 s")
    return f"closed after {time.monotonic() - begun:.0f} s"


@ROWS.row(
    "port-oversized-hello",
    "a first TLS message that claims 16 MiB, and 4 MiB of it",
    "closed, memory flat",
    quick=True,
)
def oversized_hello(stage):
    node = stage.honest[0]
    sent = 0
    with contextlib.closing(connect(node)) as client:
        record = b"\x16\x03\x01\x40\x00"
        piece = os.urandom(16384)
        try:
            client.sendall(record + b"\x01\xff\xff\xff" + piece[4:])
            for _ in range(256):
                client.sendall(record + piece)
                sent += len(piece)
        except OSError:
            pass
        expect(is_closed(client, 15), "the connection stays open")
    expect(sent < 4 << 20, "all 4 MiB were taken")
    return f"closed after {sent >> 10} KiB"


@ROWS.row(
    "port-many-connections",
    "300 connections at once that say nothing, for 5 s",
    "all are closed in the end, the run goes on, the guest can join afterwards",
)
def many_connections(stage):
    node = stage.honest[0]
    with contextlib.ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(contextlib.closing(connect(node)))
        time.sleep(5)
    begun = time.monotonic()
    with stage.guest():
        joined = time.monotonic() - begun
    return f"the guest has joined {joined:.0f} s later"


@ROWS.row(
    "port-connect-and-reset",
    "1,000 connections that are reset at once",
    "their descriptors are free again within 150 s, then the guest can join",
)
def connect_and_reset(stage):
    node = stage.honest[0]
    for _ in range(1000):
        with contextlib.suppress(OSError), contextlib.closing(connect(node)) as client:
            linger = (1).to_bytes(4, "little") + bytes(4)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    begun, files = time.monotonic(), stage.before[node.name][0]
    most = node.usage()[0]
    wait("the files are free again", lambda: node.usage()[0] <= files + stage.MORE_FILES, 150)
    free = time.monotonic() - begun
    with stage.guest():
        joined = time.monotonic() - begun - free
    return f"{most} files, free after {free:.0f} s, the guest has joined {joined:.0f} s later"


@ROWS.row(
    "port-no-descriptors-left",
    "400 garbage connections at once to a node that may open 256 files",
    "the node survives, its rounds go on, its files are free again within 90 s",
)
def no_descriptors_left(stage):
    cluster = Cluster(stage.binary, stage.folder / "narrow", run="narrow", names=["alpha", "beta"])
    first, second = cluster.honest
    try:
        first.start(limit=256)
        second.start()
        first.wait("does rounds", lambda agent: agent["round"] > 20 and agent["members"] == 2)
        files = first.usage()[0]
        with contextlib.ExitStack() as stack:
            for _ in range(400):
                with contextlib.suppress(OSError):
                    client = stack.enter_context(contextlib.closing(connect(first, 2)))
                    client.sendall(b"nonsense" * 100)
        begun, most = time.monotonic(), 0

        def is_free():
            nonlocal most
            now = first.usage()[0]
            most = max(most, now)
            # The connections are taken up only after they were made.
            return most > files + 50 and now <= files + 8

        wait("the files are taken, and then free again", is_free, 90)
        free = time.monotonic() - begun
        after = first.wait("answers", lambda agent: True)["round"]
        first.wait("goes on", lambda agent: agent["round"] > after + 20 and agent["members"] == 2)
    finally:
        cluster.stop()
    return f"at most {most} files, free again after {free:.0f} s"
