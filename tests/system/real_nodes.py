"""Real nodes and routers as processes: their files, how they are started, asked and collected."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
FABNET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/fabnet"


def do(*command, check=True):
    """Run a command; one that fails ends the test with what it said, unless it may fail."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def toml(tables):
    """Tables as TOML: pairs of a head (the empty one comes first) and the keys beneath it."""
    lines = []
    for head, keys in tables:
        lines += [head] if head else []
        # For strings, numbers and lists of numbers, JSON is TOML.
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def write_node_file(place, settings, pki, members, routers=()):
    """Write the node.toml of a node or a router, and return its path.

    `settings` are the keys without a table, `run` and `node` among them. A member is a tuple of
    name, agents and address, and a router one of name and address.
    """
    place.mkdir(parents=True, exist_ok=True)
    name = settings["node"]
    certificate, key = str(pki / f"{name}.pem"), str(pki / f"{name}.key")
    tls = {"ca": str(pki / "ca.pem"), "certificate": certificate, "key": key}
    tables = [("", settings), ("[tls]", tls)]
    for member, agents, address in members:
        keys = {"name": member, "agents": list(agents), "address": address}
        tables.append(("[[member]]", keys))
    for router, address in routers:
        tables.append(("[[router]]", {"name": router, "address": address}))
    path = place / "node.toml"
    path.write_text(toml(tables))
    return path


def start(path, namespace):
    """Start the node or router of a file in a namespace; its log is beside the file.

    The command that enters the namespace becomes the node, so that the process is the node's own.
    """
    command = ["ip", "netns", "exec", namespace, str(FABNET), "node", str(path)]
    with open(path.parent / "log", "a") as log:
        return subprocess.Popen(command, stderr=log)


def status(http):
    """What a node says of itself, or none if it does not answer."""
    try:
        with urllib.request.urlopen(f"http://{http}/status", timeout=2) as answer:
            return json.load(answer)
    except (OSError, ValueError):
        return None


def collected(experiment, states, results, partial=False):
    """What the records of all nodes come to: their run, as summary.json has it."""
    shutil.rmtree(results, ignore_errors=True)
    more = ["--partial"] if partial else []
    do(FABNET, "collect", experiment, *states, "--out", results, "--quiet", *more)
    return json.loads((results / "summary.json").read_text())["runs"][0]


def simulated(experiment, results):
    """The same run without a network: its entry in summary.json."""
    do(FABNET, "run", experiment, "--out", results, "--quiet")
    return json.loads((results / "summary.json").read_text())["runs"][0]


def end_all(processes):
    """Tell processes to leave, wait for them, and return their exit codes."""
    for process in processes:
        process.terminate()
    codes = []
    for process in processes:
        try:
            codes.append(process.wait(30))
        except subprocess.TimeoutExpired:
            process.kill()
            codes.append(process.wait())
    return codes
