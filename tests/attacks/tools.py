"""What `fabnet pki`, `collect`, `audit`, `status` and `watch` make of what they should refuse."""

import json
import random
import re
import shutil
import socket
import subprocess
import threading
import time

from cluster import Cluster
from disks import flipped
from expect import Rows, expect
from http_client import PLAIN

ROWS = Rows("operator")


def refuses(stage, words, code, *says):
    """Expect that a command ends with this exit code and these words."""
    found, text = stage.fabnet(*words, check=False)
    expect(found == code, f"exit code {found}, not {code}: {text[-300:]}")
    for each in says:
        expect(each in text, f"it does not say `{each}`: {text[-300:]}")
    return text


@ROWS.row(
    "pki-wrong-names-and-dates",
    "names with slashes, stars and nothing; hosts with ports and blanks; 0, -1 and 4,000 days",
    "exit code 2 for each, no file is written",
    quick=True,
)
def wrong_names(stage):
    before = sorted(stage.pki.iterdir())
    names = ["../escaped", "a/b", "*", "", "ca", ".hidden", "x" * 65, "a b", "a\nb"]
    hosts = ["a:1", "*.example", "a b", "", "http://a", "a/b"]
    calls = [("issue", stage.pki, name) for name in names]
    calls += [("issue", stage.pki, "new", f"--host={host}") for host in hosts]
    calls += [("issue", stage.pki, "new", f"--days={days}") for days in ("0", "-1", "4000", "1e3")]
    calls += [("renew", stage.pki, "../escaped"), ("issue", stage.folder / "nowhere", "new")]
    for call in calls[:-2]:
        refuses(stage, ("pki", *call), 2)
    for call in calls[-2:]:
        found, text = stage.fabnet("pki", *call, check=False)
        expect(found in (1, 2), f"exit code {found}: {text}")
    expect(sorted(stage.pki.iterdir()) == before, "a file was written")
    return f"{len(calls)} refused"


@ROWS.row(
    "pki-altered-request",
    "a request for a certificate of which one byte was changed on the way",
    "exit code 2, nothing is issued",
)
def altered_request(stage):
    folder = stage.folder / "site"
    shutil.rmtree(folder, ignore_errors=True)
    stage.fabnet("pki", "request", "epsilon", "--out", folder)
    path = folder / "epsilon.csr"
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = lines[2][:20] + ("B" if lines[2][20] == "A" else "A") + lines[2][21:]
    path.write_text("".join(lines))
    refuses(stage, ("pki", "sign", stage.pki, path), 2, "epsilon.csr")
    expect(not (stage.pki / "epsilon.pem").exists(), "a certificate was issued")
    return "exit code 2"


def finished(stage):
    """A run of three nodes that has come to its end; made once."""
    folder = stage.folder / "finished"
    if not folder.exists():
        cluster = Cluster(stage.binary, folder, "ended", ["alpha", "beta", "gamma"], rounds=100)
        try:
            for node in cluster.honest:
                node.start()
            codes = [node.end(60) for node in cluster.honest]
            expect(codes == [0, 0, 0], f"exit codes {codes}: {cluster.honest[0].log[-300:]}")
        finally:
            cluster.stop()
    return folder


def states(stage):
    """Copies of the state folders of the finished run, to be damaged."""
    copy = stage.folder / "copies"
    shutil.rmtree(copy, ignore_errors=True)
    for name in ("alpha", "beta", "gamma"):
        shutil.copytree(finished(stage) / name / "state", copy / name)
    return [copy / name for name in ("alpha", "beta", "gamma")]


def collect(stage, folders, *options):
    out = stage.folder / "collected"
    shutil.rmtree(out, ignore_errors=True)
    plan = finished(stage) / "experiment.toml"
    return ("collect", plan, *folders, "--out", out, *options)


@ROWS.row(
    "collect-with-parts-missing",
    "a missing member, one twice, a track cut off, damaged, empty, of another run",
    "exit code 1 or 2 and the agent; `--partial` lists what is missing",
    quick=True,
)
def parts_missing(stage):
    folders = states(stage)
    text = refuses(stage, collect(stage, folders), 0)
    refuses(stage, collect(stage, folders[:2]), 1, "agent 2")
    refuses(stage, collect(stage, [*folders, finished(stage) / "alpha/state"]), 2, "agent 0")
    refuses(stage, collect(stage, [stage.folder / "nowhere"]), 2, "nowhere")
    track = folders[2] / "2/track"
    whole = track.read_bytes()
    middle = len(whole) // 2
    damages = [whole[:middle], whole[:middle] + b"\xff\xff" + whole[middle + 2 :], b"", b"x" * 999]
    for damage in damages:
        track.write_bytes(damage)
        refuses(stage, collect(stage, folders), 1, "2")
        refuses(stage, collect(stage, folders, "--partial"), 0)
        summary = json.loads((stage.folder / "collected/summary.json").read_text())
        expect(summary["runs"][0]["missing"], "`missing` in summary.json is empty")
    track.write_bytes(whole)
    shutil.copy(stage.honest[2].state / "2/track", track)
    refuses(stage, collect(stage, folders), 1, "run")
    expect("results in" in text, "the whole run was not collected")
    return "7 refused, the whole run collected"


@ROWS.row(
    "audit-tampered",
    "lines altered, dropped, swapped, inserted, cut off; the end cut off",
    "exit code 1 and the line; the end by `--holds`",
    quick=True,
)
def audit_tampered(stage):
    folder = states(stage)[0]
    log = folder / "audit.jsonl"
    whole = log.read_bytes().splitlines(keepends=True)
    text = refuses(stage, ("audit", "verify", folder), 0, "as they were written")
    last = re.findall(r"[0-9a-f]{64}", text)[-1]
    swapped = [*whole]
    swapped[1], swapped[2] = swapped[2], swapped[1]
    cases = {
        "altered": [whole[0], whole[1].replace(b'"', b"'", 1), *whole[2:]],
        "dropped": [whole[0], *whole[2:]],
        "swapped": swapped,
        "inserted": [whole[0], whole[0], *whole[1:]],
        "cut off": [*whole[:-1], whole[-1][:-30]],
        "binary": [whole[0], b"\0\xff\n", *whole[2:]],
        "first dropped": whole[1:],
    }
    for name, lines in cases.items():
        log.write_bytes(b"".join(lines))
        code, text = stage.fabnet("audit", "verify", folder, check=False)
        found = code == 1 and re.search(r"audit\.jsonl:\d+: ", text)
        # Older lines may be gone for good reasons: only the number of the first line shows it.
        expect(found or name == "first dropped" and "number 1" in text, f"{name}: {code}: {text}")
    log.write_bytes(b"".join(whole[:-1]))
    refuses(stage, ("audit", "verify", folder), 0)
    refuses(stage, ("audit", "verify", folder, "--holds", last), 1, last)
    return f"{len(cases) + 1} found"


@ROWS.row(
    "audit-flipped-bits",
    "one to eight random bits of the audit log, 40 times",
    "exit code 1 each time",
)
def audit_flipped(stage):
    folder = states(stage)[1]
    log, chance = folder / "audit.jsonl", random.Random(6)
    whole = log.read_bytes()
    for _ in range(40):
        log.write_bytes(flipped(chance)(whole))
        if log.read_bytes() != whole:
            refuses(stage, ("audit", "verify", folder), 1)
    return "40 found"


class Liar:
    """A status server that says the same to everybody, at its own pace."""

    def __init__(self, pieces, pause=0.0):
        self.pieces, self.pause = pieces, pause
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                client = self.server.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.answer, args=(client,), daemon=True).start()

    def answer(self, client):
        try:
            with client:
                client.recv(4096)
                client.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                for piece in self.pieces():
                    client.sendall(piece)
                    time.sleep(self.pause)
        except OSError:
            pass  # Whoever has asked has heard enough.

    def close(self):
        self.server.close()


def asked(stage, pieces, pause=0.0, words=("status",), seconds=20):
    """What the command says of a liar; it must end within this time."""
    liar = Liar(pieces, pause)
    try:
        return stage.fabnet(words[0], liar.address, *words[1:], check=False, seconds=seconds)
    except subprocess.TimeoutExpired:
        expect(False, f"it has not ended within {seconds} s")
    finally:
        liar.close()


def status(stage, **changes):
    """A true status with lies in it, as bytes."""
    return json.dumps({**stage.honest[0].status(), **changes}).encode()


@ROWS.row(
    "status-of-a-liar",
    "answers that are empty, binary, nested 100,000 deep, of wrong kinds, endless",
    "`status` and `watch` end with exit code 1 or 2 and the address within 20 s",
    quick=True,
)
def status_of_a_liar(stage):
    endless = b"[" + b"0," * (1 << 19)
    lies = [
        lambda: [b""],
        lambda: [b"\xff\xfe\0" * 1000],
        lambda: [b"[" * 100_000],
        lambda: [b"{}"],
        lambda: [PLAIN],
        lambda: [status(stage, seconds="long", agents=[{"round": -1}])],
        lambda: [status(stage, seconds=1e999)],
        lambda: iter(lambda: endless, None),
    ]
    for lie in lies:
        for words in (("status",), ("status", "--json"), ("watch",)):
            code, text = asked(stage, lie, words=words)
            expect(code in (1, 2) and "no node answers" in text, f"exit code {code}: {text[-200:]}")
    return f"{3 * len(lies)} refused"


@ROWS.row(
    "status-that-drips",
    "an answer of one byte every 500 ms, without an end",
    "`status` gives up within 30 s",
)
def status_that_drips(stage):
    begun = time.monotonic()
    code, text = asked(stage, lambda: iter(lambda: b" ", None), pause=0.5, seconds=30)
    expect(code == 1 and "no node answers" in text, f"exit code {code}: {text[-200:]}")
    return f"given up after {time.monotonic() - begun:.0f} s"


@ROWS.row(
    "status-with-control-characters",
    "names with escape sequences for the terminal of whoever asks",
    "they are not printed as they are",
)
def control_characters(stage):
    evil = "\x1b[2J\x1b]0;owned\x07"
    lie = status(stage, node=f"alpha{evil}", absent=[evil], refused={evil: 3})
    code, text = asked(stage, lambda: [lie])
    expect(code == 0, f"exit code {code}: {text[-200:]}")
    expect("\x1b" not in text and "\x07" not in text, "escape sequences reach the terminal")
    return "printed without them"


@ROWS.row(
    "status-of-the-other-members",
    "a liar that names 20,000 members, all at its own address",
    "`watch` serves its page within 20 s; it asks at most 64 at once",
)
def many_members(stage):
    here = []

    def lie():
        member = {"agents": [0], "http": here[0]}
        members = [{"name": f"m{number}", **member} for number in range(20_000)]
        return [status(stage, members=members)]

    liar = Liar(lie)
    here.append(liar.address)
    process = subprocess.Popen(
        [str(stage.binary), "watch", liar.address],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    most = 0
    try:
        end = time.monotonic() + 20
        while time.monotonic() < end and process.poll() is None:
            with open(f"/proc/{process.pid}/statm", encoding="ascii") as memory:
                most = max(most, int(memory.read().split()[1]) * 4096 / 2**20)
            time.sleep(0.2)
        ended = process.poll()
        expect(ended in (None, 1, 2), f"exit code {ended}")
        expect(most < 512, f"{most:.0f} MiB")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        liar.close()
    return f"at most {most:.0f} MiB in 20 s"
