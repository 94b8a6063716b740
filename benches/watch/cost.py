#!/usr/bin/env python3
"""What it costs to be watched: the share of CPU time that goes into it.

    benches/watch/cost.py FABNET [--quick]

Three runs with `--watch` are sampled by perf, 399 times a second of CPU time, with all processes
that they start: simulated peers with 10 and with 1,000 agents, and 24 real nodes in lockstep
without pacing. A sample counts as watching if its stack goes through the code of frames,
recordings, the page and gathering, or if its thread serves status requests, which nobody
makes otherwise. CPU seconds with and without `--watch` are not compared: on a shared machine two
equal runs differ by a tenth. What watching costs by displacing caches is not seen.

Then the page itself: 24 nodes at 20 rounds a second, gathered from one status address, with ten
browsers connected; its share of one core is printed. --quick samples the first run only. Fails
where a share is above its bar by more than its 95 % interval, or the page takes more than a tenth
of a core. Needs perf (Debian's linux-perf), and FABNET with debug information.
"""

import argparse
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SIMULATED = """
agents = {agents}
rounds = {rounds}
seeds = 1
[problem]
kind = "policy-evaluation"
[topology]
kind = "one-peer-exponential"
[faults]
loss = 0.1
[[algorithm]]
kind = "dfab"
steps = {{ x = 0.001, u = 0.01, z = 0.01 }}
[record]
every = 100
metrics = ["worst_error"]
"""

NODES = """
agents = 24
rounds = {rounds}
seeds = 1
[problem]
kind = "policy-evaluation"
[topology]
kind = "one-peer-exponential"
[network]
{network}
[[algorithm]]
kind = "dfab"
steps = {{ x = 0.007, u = 0.05, z = 0.05 }}
[record]
every = 20
metrics = ["worst_error"]
"""


WATCHING = re.compile(r"fabnet_watch|fabnet_lab::run::(watching|frame_recording|agent_distances)|fabnet_net::status::(client|gatherer|live_recording)")


def stacks(command, folder):
    """For each sample of a command, the name of its thread and its stack."""
    samples = folder / "perf.data"
    record = ["perf", "record", "--quiet", "--freq", "399", "--event", "cpu-clock"]
    record += ["--call-graph", "dwarf,8192", "--output", samples, "--"]
    subprocess.run([*record, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = ["perf", "script", "--input", samples, "--fields", "comm,tid,ip,sym", "--no-inline"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as lines:
        thread, stack = "", []
        for line in lines.stdout:
            if not line.strip():
                yield thread, "".join(stack)
                stack = []
            elif line[0].isspace():
                stack.append(line)
            else:
                thread = line.split()[0]


def measure(name, command, work, bar):
    """Prints the share of samples that goes into being watched; whether it misses its bar."""
    out = work / "out"
    shutil.rmtree(out, ignore_errors=True)
    samples = watching = 0
    for thread, stack in stacks([*command, "--watch", "--out", out], work):
        samples += 1
        watching += thread == "http" or bool(WATCHING.search(stack))
    if samples < 1000:
        sys.exit(f"{name}: only {samples} samples")
    share = watching / samples
    half = 1.96 * math.sqrt(max(watching, 1)) / samples
    size = sum(file.stat().st_size for file in (out / "watch").iterdir())
    print(f"{name}: {share:.2%} ± {half:.2%} (bar {bar:.0%}; {watching} of {samples} samples; recording of "
          f"{size} bytes)", flush=True)
    return share - half > bar


def write(path, text):
    path.write_text(text)
    return str(path)


def http_of(folder):
    """The status address of the first node, once its file is there."""
    file = folder / "nodes/node-0/node.toml"
    for _ in range(300):
        if file.exists() and (found := re.search(r'^http = "(.*)"', file.read_text(), re.MULTILINE)):
            return found.group(1)
        time.sleep(0.1)
    sys.exit("no node has started")


def follow(address):
    """A browser as far as the server is concerned: it reads the stream and nothing else."""
    host, port = re.search(r"http://([^:]*):(\d+)", address).groups()
    client = socket.create_connection((host, int(port)))
    client.sendall(f"GET /stream HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    client.setblocking(False)
    return client


def page_share(fabnet, work, clients=10, seconds=30):
    """The share of one core that `fabnet watch ADDRESS` takes, and the bytes that it sends."""
    out = work / "page"
    shutil.rmtree(out, ignore_errors=True)
    plan = write(work / "page.toml", NODES.format(rounds=4000, network='pace = "free"\ntick = 0.05'))
    launched = subprocess.Popen([fabnet, "launch", plan, "--out", out, "--quiet"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watching = None
    try:
        http = http_of(out)
        time.sleep(10)
        watching = subprocess.Popen([fabnet, "watch", http], stderr=subprocess.PIPE, text=True)
        address = watching.stderr.readline()
        browsers = [follow(address) for _ in range(clients)]
        time.sleep(2)
        ticks = os.sysconf("SC_CLK_TCK")

        def used():
            fields = pathlib.Path(f"/proc/{watching.pid}/stat").read_text().rsplit(") ", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / ticks

        begun, before, received = time.monotonic(), used(), 0
        while time.monotonic() - begun < seconds:
            for browser in browsers:
                try:
                    received += len(browser.recv(1 << 20))
                except BlockingIOError:
                    pass
            time.sleep(0.05)
        elapsed = time.monotonic() - begun
        share = (used() - before) / elapsed
        print(f"page of 24 nodes at 20 rounds a second, {clients} browsers: {100 * share:.1f} % of "
              f"one core; {received / clients / 24 / elapsed * 60:.0f} bytes per agent-minute and "
              "browser", flush=True)
        return share
    finally:
        if watching:
            watching.send_signal(signal.SIGINT)
            watching.wait()
        launched.send_signal(signal.SIGINT)
        launched.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fabnet", type=os.path.realpath)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work, missed = pathlib.Path(folder), False
        for agents, rounds in [(10, 60_000)] if options.quick else [(10, 60_000), (1000, 600)]:
            plan = write(work / f"{agents}.toml", SIMULATED.format(agents=agents, rounds=rounds))
            run = [options.fabnet, "run", plan, "--quiet", "--threads", "1"]
            missed |= measure(f"{agents} simulated agents", run, work, 0.01)
        if not options.quick:
            network = 'pace = "lockstep"\ntick = 0.05'
            plan = write(work / "nodes.toml", NODES.format(rounds=6000, network=network))
            missed |= measure("24 nodes in lockstep", [options.fabnet, "launch", plan, "--quiet"], work, 0.02)
            missed |= page_share(options.fabnet, work) > 0.1
        sys.exit(missed)


if __name__ == "__main__":
    main()
