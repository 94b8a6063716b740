#!/usr/bin/env python3
"""What it costs to be watched: CPU seconds with `--watch` divided by those without.

    benches/watch/cost.py FABNET [--width 0.02] [--most 40] [--quick]

Three runs are measured in alternating turns, until the 95 % interval of the mean ratio is narrower
than --width, or --most pairs were measured: simulated peers with 10 and with 1,000 agents, and 24
real nodes in lockstep without pacing. CPU seconds are those of all processes. Then the page itself:
24 nodes at 20 rounds a second, gathered from one status address, with ten browsers connected; its
share of one core is printed. --quick measures a few pairs of the first run only. Fails where a mean
is above its bar by more than its interval, or the page takes more than a tenth of a core.
"""

import argparse
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import statistics
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


def cpu_seconds(command, folder):
    """The CPU seconds of a command and of all processes that it starts."""
    shutil.rmtree(folder, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--out", folder], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def interval(ratios):
    """The mean, and half the width of its 95 % interval (Student's t is near 2 from ten pairs)."""
    mean = statistics.fmean(ratios)
    if len(ratios) < 3:
        return mean, math.inf
    factor = {3: 4.3, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31}.get(len(ratios), 2.2)
    return mean, factor * statistics.stdev(ratios) / math.sqrt(len(ratios))


def measure(name, command, work, agent_rounds, bar, options):
    """Prints the ratio of a command with --watch to the same without; whether it misses its bar."""
    ratios, off_seconds = [], []
    while len(ratios) < options.most:
        turns = {}
        for watched in ([False, True] if len(ratios) % 2 else [True, False]):
            turns[watched] = cpu_seconds(command + ["--watch"] * watched, work / "out")
            if watched:
                size = sum(file.stat().st_size for file in (work / "out/watch").iterdir())
        ratios.append(turns[True] / turns[False])
        off_seconds.append(turns[False])
        mean, half = interval(ratios)
        if 2 * half < options.width:
            break
    mean, half = interval(ratios)
    micro = 1e6 * statistics.median(off_seconds) / agent_rounds
    print(f"{name}: {mean:.4f} ± {half:.4f} (bar {bar}; {len(ratios)} pairs; {micro:.2f} µs of CPU per "
          f"agent-round without; recording of {size} bytes)", flush=True)
    return mean - half > bar


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
    parser.add_argument("--width", type=float, default=0.02)
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work, missed = pathlib.Path(folder), False
        sizes = [(10, 60_000)] if options.quick else [(10, 60_000), (1000, 600)]
        if options.quick:
            options.most = 4
        for agents, rounds in sizes:
            plan = write(work / f"{agents}.toml", SIMULATED.format(agents=agents, rounds=rounds))
            run = [options.fabnet, "run", plan, "--quiet", "--threads", "1"]
            missed |= measure(f"{agents} simulated agents", run, work, agents * rounds, 1.01, options)
        if options.quick:
            sys.exit(missed)
        network = 'pace = "lockstep"\ntick = 0.05'
        plan = write(work / "nodes.toml", NODES.format(rounds=6000, network=network))
        launch = [options.fabnet, "launch", plan, "--quiet"]
        missed |= measure("24 nodes in lockstep", launch, work, 24 * 6000, 1.02, options)
        missed |= page_share(options.fabnet, work) > 0.1
        sys.exit(missed)


if __name__ == "__main__":
    main()
