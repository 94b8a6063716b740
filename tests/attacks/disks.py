"""What can happen to the state folder of a node, whose disk lies, fails or belongs to others."""

import contextlib
import os
import random
import shutil
import subprocess
import time

from cluster import GUEST
from expect import Rows, Skipped, expect, wait
from node import shortened

ROWS = Rows("disk")
FILES = ["life", "checkpoint", "track", "state", "audit.jsonl"]


def files(node, name):
    """The files of the state folder whose names begin like this."""
    return sorted(path for path in node.state.rglob(f"{name}*") if path.is_file())


@contextlib.contextmanager
def after_a_crash(stage):
    """The guest, killed after it has written everything that it keeps."""
    with stage.guest() as guest:
        guest.wait("has a checkpoint", lambda agent: agent["checkpoint_age"] is not None)
        begun = guest.wait("answers", lambda agent: True)["round"]
        guest.wait("has records", lambda agent: agent["round"] > begun + 40)
        guest.kill()
        yield guest


def joins_or_says_why(stage, guest, seconds=60):
    """Expect that a damaged guest is a member again, or ends and names a file; which of both."""
    guest.forget_log()
    guest.start()
    ended = wait(
        "the guest joins or ends",
        lambda: "ended" if not guest.runs() else stage.has_joined(guest) and "joined",
        seconds,
    )
    expect("panicked" not in guest.log, f"a panic: {guest.log[-300:]}")
    if ended == "joined":
        residuals = [node.agent()["max_mass_residual"] for node in (guest, *stage.honest)]
        expect(residuals == [0] * len(residuals), f"mass residuals {residuals}")
        return True
    code = guest.process.returncode
    last = guest.log.strip().splitlines()[-1]
    expect(code == 1 and any(name in last for name in FILES), f"exit code {code}: {last[-300:]}")
    return False


def damaged(stage, name, damage, times):
    """Damage the files of this name again and again, each time after a crash of the guest."""
    ends = {True: 0, False: 0}
    with after_a_crash(stage) as guest:
        whole = guest.folder / "whole"
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(guest.state, whole)
        expect(files(guest, name), f"there is no file {name}")
        for _ in range(times):
            for path in files(guest, name):
                path.write_bytes(damage(path.read_bytes()))
            ends[joins_or_says_why(stage, guest)] += 1
            guest.kill()
            shutil.rmtree(guest.state)
            shutil.copytree(whole, guest.state)
    return f"joined {ends[True]} times, refused {ends[False]} times"


def flipped(chance):
    """Flips one to eight random bits."""

    def damage(data):
        data = bytearray(data)
        for _ in range(chance.randrange(1, 9) if data else 0):
            place = chance.randrange(8 * len(data))
            data[place // 8] ^= 1 << place % 8
        return bytes(data)

    return damage


def cut_off(chance):
    return lambda data: data[: chance.randrange(len(data) + 1)]


def declare(name, quick):
    """Two rows for each file: bits that flip, and an end that is cut off."""
    chance = random.Random(name)
    must = "it joins with mass residual 0, or ends with exit code 1 and names the file"

    @ROWS.row(f"disk-flips-bits-of-{name}", f"flips 1 to 8 bits of `{name}`, 2 times", must, quick)
    def flip(stage):
        return damaged(stage, name, flipped(chance), 2)

    @ROWS.row(f"disk-cuts-{name}", f"cuts `{name}` off at a random byte, 2 times", must)
    def cut(stage):
        return damaged(stage, name, cut_off(chance), 2)


for each, is_quick in [("life", False), ("checkpoint", False), ("track", True)]:
    declare(each, is_quick)


@ROWS.row(
    "disk-tears-the-audit-log",
    "cuts `audit.jsonl` off at a random byte, and flips bits of it",
    "the node joins; `fabnet audit verify` names the place or the cut",
)
def tear_the_audit_log(stage):
    chance = random.Random(5)
    with after_a_crash(stage) as guest:
        log = guest.state / "audit.jsonl"
        whole = log.read_bytes()
        log.write_bytes(whole[: -chance.randrange(5, 60)])
        guest.start()
        stage.join(guest)
        wait("the cut is noted", lambda: b'"cut"' in log.read_bytes(), 10)
        code, text = stage.fabnet("audit", "verify", guest.state, check=False)
        expect(code == 0, f"after the cut was noted: exit code {code}: {text}")
        guest.kill()
        lines = log.read_bytes().splitlines(keepends=True)
        lines[1] = lines[1].replace(b"2", b"3", 1)
        log.write_bytes(b"".join(lines))
        code, text = stage.fabnet("audit", "verify", guest.state, check=False)
        expect(code == 1 and "audit.jsonl:2" in text, f"exit code {code}: {text}")
    return "cut off and noted; line 2 named"


def linked(stage, name, says):
    """A symbolic link in place of a file of the state folder is refused, and not followed."""
    impostor = stage.impostor("linked", tls=stage.certificate(GUEST))
    target = impostor.folder / "elsewhere"
    place = impostor.state / name if name else impostor.state
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    impostor.start()
    said = impostor.refuses_to_run(1, says)
    expect(not target.exists(), "the link was followed")
    return said


@ROWS.row(
    "disk-symbolic-links",
    "symbolic links in place of the folder, its lock, the agent's folder, `life`, `track`",
    "refused with exit code 1, none is followed",
    quick=True,
)
def symbolic_links(stage):
    names = ["", "lock", "3", "3/life", "3/track"]
    for name in names:
        said = linked(stage, name, "symbolic link")
    return f"{len(names)} refused: {said}"


@ROWS.row(
    "disk-audit-log-is-a-link",
    "a symbolic link in place of `audit.jsonl`",
    "it is not followed",
)
def audit_link(stage):
    with after_a_crash(stage) as guest:
        target = guest.folder / "elsewhere"
        target.unlink(missing_ok=True)
        (guest.state / "audit.jsonl").unlink()
        (guest.state / "audit.jsonl").symlink_to(target)
        guest.start()
        stage.join(guest)
        wait("the log says that there is no audit log", lambda: "audit" in guest.log, 15)
        expect(not target.exists(), "the link was followed")
    return "not followed, and the log says so"


@ROWS.row(
    "disk-open-to-others",
    "the folders have mode 0777, the files 0666, after a crash",
    "the node makes its folders 0700 again before it goes on",
    quick=True,
)
def open_to_others(stage):
    with after_a_crash(stage) as guest:
        for path in [guest.state, *guest.state.rglob("*")]:
            path.chmod(0o777 if path.is_dir() else 0o666)
        guest.start()
        stage.join(guest)
        open_still = [
            path.name
            for path in [guest.state, *guest.state.rglob("*")]
            if path.is_dir() and path.stat().st_mode & 0o077
        ]
        expect(not open_still, f"open to others: {open_still}")
    return "0700"


@ROWS.row(
    "disk-other-kinds-of-files",
    "a file in place of the folder, folders in place of `life` and `track`",
    "refused with exit code 1 and the path",
    quick=True,
)
def other_kinds(stage):
    def start(make):
        impostor = stage.impostor("kinds")
        make(impostor.state)
        impostor.start()
        return impostor.refuses_to_run(1, "state")

    start(lambda state: state.write_text("no folder"))
    start(lambda state: (state / "3/life").mkdir(parents=True))
    return start(lambda state: (state / "3/track").mkdir(parents=True))


@ROWS.row(
    "disk-pipe-for-a-file",
    "a named pipe in place of `life`, which nobody writes to",
    "refused with exit code 1 within 15 s: the node must not wait for ever",
)
def pipe(stage):
    impostor = stage.impostor("pipe")
    (impostor.state / "3").mkdir(parents=True)
    os.mkfifo(impostor.state / "3/life")
    impostor.start()
    return impostor.refuses_to_run(1, "life")


@ROWS.row(
    "disk-huge-file",
    "a `life` of 1 GiB, all zeros",
    "refused or replaced, with at most 128 MiB of memory",
)
def huge_file(stage):
    with after_a_crash(stage) as guest:
        with open(guest.state / "3/life", "r+b") as life:
            life.truncate(1 << 30)
        guest.start()
        most, end = 0, time.monotonic() + 20
        while guest.runs() and time.monotonic() < end and not stage.has_joined(guest):
            most = max(most, guest.usage()[1])
            time.sleep(0.01)
        expect(most < 128, f"{most:.0f} MiB")
    return f"at most {most:.0f} MiB"


@ROWS.row(
    "disk-of-another-run",
    "the state folder of a run of another name",
    "refused with exit code 1 before anything is sent",
)
def another_run(stage):
    with after_a_crash(stage) as guest:
        impostor = stage.impostor("foreign-state", run="tomorrow")
        shutil.copytree(guest.state, impostor.state)
        impostor.start()
        said = impostor.refuses_to_run(1, "belongs to run", "of its own")
        expect("started" not in impostor.log, "something was sent before")
    return said


@ROWS.row(
    "disk-of-another-member",
    "the files of alpha in place of the guest's own",
    "refused with exit code 1, or not used: it joins with a life of its own",
)
def another_member(stage):
    with after_a_crash(stage) as guest:
        alpha = stage.honest[0].state / "0"
        shutil.rmtree(guest.state / "3")
        shutil.copytree(alpha, guest.state / "3")
        is_in = joins_or_says_why(stage, guest)
        last = guest.log.strip().splitlines()[-1]
    return "it joined" if is_in else f"refused: {shortened(last)}"


@ROWS.row(
    "disk-lock-held",
    "a second process with the state folder of a node that runs",
    "refused with exit code 1, the first goes on",
    quick=True,
)
def lock_held(stage):
    with stage.guest() as guest:
        impostor = stage.impostor("second", state=str(guest.state))
        impostor.start()
        said = impostor.refuses_to_run(1, "another process uses this state folder")
        expect(guest.runs(), "the first has ended")
    return said


@ROWS.row(
    "disk-removed-while-running",
    "the state folder is removed while the node runs",
    "its rounds go on or it ends with a reason; at the end it says what is missing, exit code 1",
)
def removed(stage):
    with stage.guest() as guest:
        begun = guest.wait("answers", lambda agent: True)["round"]
        shutil.rmtree(guest.state)
        wait(
            "the guest goes on or ends",
            lambda: not guest.runs() or (guest.agent() or {"round": 0})["round"] > begun + 100,
            30,
        )
        went_on = guest.runs()
        code = guest.stop()
        last = guest.log.strip().splitlines()[-1]
        expect(code == 1 and "state" in last, f"exit code {code}: {last[-200:]}")
    return f"{'went on' if went_on else 'ended'}, exit code 1: {last[-90:]}"


@contextlib.contextmanager
def small_disk(place, size="256k"):
    """A file system of this size at a folder."""
    place.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"mounting is not allowed: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
