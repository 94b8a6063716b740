#!/usr/bin/env python3
"""Attacks real nodes in many ways, and prints what became of each attack.

    tests/attacks/run.py                 all attacks, under 20 minutes
    tests/attacks/run.py --quick         half of them, under 4 minutes
    tests/attacks/run.py --only NAME…    those whose names begin like this
    tests/attacks/run.py --list          what there is, without carrying it out

One run of three nodes over mutual TLS goes on through all attacks on loopback. After each, all
three must have made rounds meanwhile and go on, with mass residual 0, and with about the
descriptors and the memory that they had before the first attack. At the end they leave with exit
code 0, and their audit logs are as they were written. Mounting needs root: rows that mount a small
disk are skipped elsewhere.

The command is that of CARGO_TARGET_DIR, or `--fabnet PATH`. The exit code is 1 if a row fails.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import floods
import full_disks
import handshakes
import liars
import members
import operators
import pages
import ports
import routers
import tools
from cluster import Cluster
from expect import Failed, Skipped, expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
KINDS = [handshakes, ports, floods, pages, members, liars, full_disks, operators, tools, routers]


def rows():
    return [row for kind in KINDS for row in kind.ROWS]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only the quick half")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="attacks that begin like this")
    parser.add_argument("--list", action="store_true", help="print what there is, and end")
    parser.add_argument("--fabnet", type=pathlib.Path, default=TARGET / "release/fabnet")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the nodes")
    return parser.parse_args()


def chosen(arguments):
    """The attacks that were asked for; an error if there is none."""
    found = [row for row in rows() if not arguments.quick or row.quick]
    if arguments.only:
        found = [row for row in found if row.name.startswith(tuple(arguments.only))]
    if not found:
        sys.exit("there is no such attack: --list prints all names")
    return found


def carry_out(row, stage):
    """One attack: the word for its result, what was measured, and how long it took."""
    begun = time.monotonic()
    try:
        marks = stage.mark()
        measured = row.act(stage)
        stage.clear()
        share = stage.unharmed(marks)
        result = "held", f"{measured}; {share:.0%} of the rounds"
    except Skipped as skipped:
        result = "skipped", str(skipped)
    except Failed as failed:
        result = "FAILED", str(failed)
    except Exception as error:  # A row that breaks must not hide the others.
        result = "FAILED", f"{type(error).__name__}: {error}"
    finally:
        stage.clear()
    return *result, time.monotonic() - begun


def leave(stage):
    """The end of the run: every node leaves with exit code 0, and its audit log is intact."""
    for node in stage.honest:
        node.send(signal.SIGTERM)
    for node in stage.honest:
        code = node.end(20)
        expect(code == 0, f"{node.name}: exit code {code}: {node.log.strip()[-300:]}")
        code, text = stage.fabnet("audit", "verify", node.state, check=False)
        expect(code == 0, f"{node.name}: {text}")


def report(row, result, measured, seconds):
    print(f"{result:7} {row.name}  [{row.attacker}, {seconds:.0f} s]", flush=True)
    print(f"        done: {row.done}")
    print(f"        must: {row.must}")
    print(f"        {'found' if result == 'held' else 'but'}: {measured}", flush=True)


def attack(found, stage):
    """Carry out all these attacks on a run, and return the number of those that failed."""
    stage.start()
    results = []
    for row in found:
        result = carry_out(row, stage)
        report(row, *result)
        results.append(result[0])
        if not all(node.runs() for node in stage.honest):
            print("a node of the run has ended: what follows would show nothing")
            return max(1, results.count("FAILED"))
    failed = results.count("FAILED")
    print(f"\n{len(found)} attacks: {results.count('held')} held, {failed} failed,"
          f" {results.count('skipped')} skipped")
    try:
        leave(stage)
        print("the run has ended well: exit code 0 and intact audit logs at all nodes")
    except Failed as left:
        print(f"the run has not ended well: {left}")
        failed += 1
    return failed


def main():
    # The nodes must end with this process, whatever ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    arguments = parse()
    found = chosen(arguments)
    if arguments.list:
        for row in found:
            print(f"{row.attacker:9} {row.name:36} {'quick' if row.quick else '':6} {row.done}")
        return 0
    if not arguments.fabnet.exists():
        sys.exit(f"{arguments.fabnet}: there is no command; build it, or name it with --fabnet")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="attacks-"))
    folder.chmod(0o755)
    begun = time.monotonic()
    stage = Cluster(arguments.fabnet.resolve(), folder)
    try:
        failed = attack(found, stage)
    finally:
        stage.stop()
        if arguments.keep:
            print(f"the files of the nodes are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{time.monotonic() - begun:.0f} s")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
