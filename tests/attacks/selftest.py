#!/usr/bin/env python3
"""Harm that is done on purpose: the table of attacks must say of each that it failed.

    tests/attacks/selftest.py [--fabnet PATH]

A row that holds whatever happens shows nothing. Here nodes are stopped and killed, a right
certificate takes the place of a wrong one, and a router does nothing.
"""

import argparse
import pathlib
import signal
import sys
import tempfile
import time

from cluster import GUEST, Cluster
from expect import Rows, expect
from handshakes import refused_handshake
from liars import malformed, refused_messages
from routers import attacked
from run import TARGET, carry_out
from tls_client import context

ROWS = Rows("harm")


@ROWS.row("stopped", "a node is stopped for 4 s", "rounds are missing")
def stopped(stage):
    stage.honest[1].send(signal.SIGSTOP)
    time.sleep(4)
    stage.honest[1].send(signal.SIGCONT)
    return "stopped"


@ROWS.row("right-certificate", "the certificate of a member", "a refusal is expected")
def right_certificate(stage):
    pair = (stage.pki / f"{GUEST}.pem", stage.pki / f"{GUEST}.key")
    return refused_handshake(stage, lambda node: context(node, pair))


@ROWS.row("right-file", "a node's file without a mistake", "a refusal is expected")
def right_file(stage):
    impostor = stage.impostor("right")
    impostor.start()
    return impostor.refuses_to_run(2, seconds=5)


@ROWS.row("idle-router", "a router that does nothing", "the attack must have done something")
def idle_router(stage):
    async def act(_attack, _link, _outward, data, send):
        await send(data)

    return attacked(stage, act, 1)


@ROWS.row("idle-liar", "a member whose messages are not changed", "refusals are expected")
def idle_liar(stage):
    return refused_messages(stage, lambda data: data, malformed)


@ROWS.row("fewer-files", "12 files fewer were open before", "more files than before")
def fewer_files(stage):
    files, memory = stage.before[stage.honest[0].name]
    stage.before[stage.honest[0].name] = (files - 12, memory)
    return "noted"


@ROWS.row("killed", "a node is killed", "it has ended")
def killed(stage):
    stage.honest[2].kill()
    return "killed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fabnet", type=pathlib.Path, default=TARGET / "release/fabnet")
    fabnet = parser.parse_args().fabnet.resolve()
    missed = []
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        stage = Cluster(fabnet, folder)
        try:
            stage.start()
            stage.mark()
            before = dict(stage.before)
            for row in ROWS:
                result, said, seconds = carry_out(row, stage)
                stage.before.update(before)
                print(f"{result:7} {row.name} ({seconds:.0f} s): {said}", flush=True)
                missed += [row.name] if result != "FAILED" else []
                expect("Error" not in said.split(":")[0], f"{row.name} is itself at fault: {said}")
        finally:
            stage.stop()
    print(f"{len(ROWS)} kinds of harm, {len(missed)} not noticed: {missed}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
