"""What a member can do that runs another program: its messages are changed before they are sent.

The guest is honest; between it and the others stand proxies that have its key, and end TLS on both
sides. What leaves them is signed for by the guest's certificate, and says what the proxy wants.
"""

import contextlib
import ssl

from cluster import GUEST
from expect import Rows, expect, wait
from proxy import Proxy
from routers import malformed

ROWS = Rows("member")
BEGINNING = b"FABN\x03\x00"
# Where words of a message's header begin: docs/protocol.md.
VERSION, RUN, SENDER, INCARNATION, ROUND, MASK = 4, 8, 16, 24, 64, 112


def server_side(stage, name):
    """TLS towards the guest: what answers it is, as far as it can see, this member."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(stage.pki / f"{name}.pem", stage.pki / f"{name}.key")
    made.load_verify_locations(stage.pki / "ca.pem")
    made.verify_mode = ssl.CERT_REQUIRED
    return made


def client_side(stage):
    """TLS towards the others, with the certificate of the guest."""
    made = ssl.create_default_context(cafile=stage.pki / "ca.pem")
    made.load_cert_chain(stage.pki / f"{GUEST}.pem", stage.pki / f"{GUEST}.key")
    return made


class Lie:
    """A change of what the guest sends, which can be switched on and off; counts its uses."""

    def __init__(self, change):
        self.change = change
        self.on = False
        self.times = 0

    async def __call__(self, _link, outward, data, send):
        if outward and self.on:
            changed = self.change(bytearray(data))
            self.times += changed != data
            data = bytes(changed)
        await send(data)


@contextlib.contextmanager
def lying(stage, change, joins=True, honest_first=True):
    """The guest, whose messages are changed; if it is honest first, from when it has joined."""
    lie = Lie(change)
    lie.on = not honest_first
    moved = [dict(member) for member in stage.nodes[GUEST].settings["member"]]
    proxies = []
    try:
        for member, node in zip(moved, stage.honest):
            tls = (server_side(stage, node.name), client_side(stage))
            proxies.append(Proxy(int(member["address"].split(":")[1]), lie, tls))
            member["address"] = f"127.0.0.1:{proxies[-1].port}"
        with stage.guest(joins=joins and honest_first, member=moved) as guest:
            lie.on = True
            yield guest, lie
    finally:
        for proxy in proxies:
            proxy.close()


def messages(data):
    """The places at which a message of the protocol begins."""
    place = data.find(BEGINNING)
    while place >= 0:
        yield place
        place = data.find(BEGINNING, place + 1)


def alter(offset, bits=0x01):
    """A change of one byte of each message, this far behind its beginning."""

    def change(data):
        for place in messages(data):
            if place + offset < len(data):
                data[place + offset] ^= bits
        return data

    return change


def refused_messages(stage, change, count, more=5):
    """Expect that each honest node counts what the guest sends as refused, and applies none.

    `count` reads the counter of a node. At the end the guest is honest again, and a member.
    """
    with lying(stage, change) as (guest, lie):
        before = {node.name: count(node) for node in stage.honest}
        for node in stage.honest:
            wait(
                f"{node.name} refuses five messages",
                lambda n=node: count(n) >= before[n.name] + more,
                20,
            )
        counts = [count(node) - before[node.name] for node in stage.honest]
        lie.on = False
        expect(guest.runs(), "the guest has ended")
        stage.join(guest)
    return f"{lie.times} pieces changed, {counts} refused"


def refused_for(reason):
    return lambda node: node.refused(reason)


@ROWS.row(
    "liar-control-case",
    "the same proxies, and nothing is changed",
    "the guest is a member, nothing is counted as malformed",
    quick=True,
)
def control(stage):
    before = [malformed(node) for node in stage.honest]
    seen = []

    def look(data):
        seen.extend(messages(data))
        return data

    with lying(stage, look) as (guest, _):
        wait("the proxies see 100 messages, which they could change", lambda: len(seen) > 100)
        applied = guest.agent()["messages"]["applied"]
        expect(applied > 0, "the guest has heard nobody")
    after = [malformed(node) for node in stage.honest]
    expect(before == after, f"malformed: {before}, then {after}")
    return f"{len(seen)} messages seen, {applied} applied"


@ROWS.row(
    "liar-damaged-messages",
    "one bit of the incarnation in each message is wrong, inside TLS",
    "counted as `malformed` by every other member, none applied",
    quick=True,
)
def damaged(stage):
    return refused_messages(stage, alter(INCARNATION), malformed)


@ROWS.row(
    "liar-damaged-contents",
    "one bit behind the header of each message is wrong, inside TLS",
    "counted as `malformed` by every other member",
)
def damaged_contents(stage):
    return refused_messages(stage, alter(200), malformed)


@ROWS.row(
    "liar-other-wire-version",
    "each message says that it is of version 2 of the wire",
    "counted as `malformed`, the run goes on",
    quick=True,
)
def other_version(stage):
    return refused_messages(stage, alter(VERSION), malformed)


@ROWS.row(
    "liar-other-run",
    "each message carries another run digest, as those of an earlier run do",
    "counted as `manifest` by every other member",
    quick=True,
)
def other_run(stage):
    return refused_messages(stage, alter(RUN), refused_for("manifest"))


@ROWS.row(
    "liar-other-sender",
    "each message names another agent as its sender than its key",
    "counted as `forged` by every other member",
    quick=True,
)
def other_sender(stage):
    return refused_messages(stage, alter(SENDER), refused_for("forged"))


@ROWS.row(
    "liar-later-round",
    "each message claims a round of 2^40 more",
    "counted as `malformed`: the checksum covers the header",
)
def later_round(stage):
    return refused_messages(stage, alter(ROUND + 5), malformed)


def refused_from_the_start(stage, change, reason, nodes):
    """Expect that these nodes refuse what the guest sends from its start on, for this reason."""
    before = {node.name: node.refused(reason) for node in nodes}
    with lying(stage, change, joins=False, honest_first=False) as (_, lie):
        for node in nodes:
            wait(
                f"{node.name} counts refusals for `{reason}`",
                lambda n=node: n.refused(reason) > before[n.name],
                20,
            )
        expect(all(node.runs() for node in stage.honest), "a member has ended")
    counts = [node.refused(reason) - before[node.name] for node in nodes]
    return f"{lie.times} pieces changed, {counts} refused"


@ROWS.row(
    "liar-key-of-another",
    "sends under the keys of alpha instead of its own",
    "counted as `access` by the other members",
)
def key_of_another(stage):
    def change(data):
        return data.replace(b"/3/", b"/0/")

    return refused_from_the_start(stage, change, "access", stage.honest[1:])
