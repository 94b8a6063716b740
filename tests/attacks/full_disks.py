"""State folders on small file systems that are full or read-only."""

import contextlib
import subprocess
import time

from disks import ROWS, small_disk
from expect import expect, wait


def fill(place):
    """Write until nothing more fits."""
    with open(place / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(bytes(4096)):
                pass
        except OSError:
            return


def remount(place, how):
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


@contextlib.contextmanager
def full_disk(stage):
    """The guest on a disk that is full before it starts, as its log says, and what makes space."""
    place = stage.folder / "small"
    with small_disk(place):
        fill(place)
        with stage.guest(joins=False, state=str(place / "state")) as guest:
            wait("the log says why", lambda: "No space left" in guest.log, 10)
            yield guest, (place / "filler").unlink


@ROWS.row(
    "disk-full-for-a-while",
    "the disk of the guest is full for 60 rounds, then has space again",
    "the guest goes on, says what it keeps, and leaves with exit code 0",
    quick=True,
)
def full_for_a_while(stage):
    place = stage.folder / "small"
    with small_disk(place), stage.guest(state=str(place / "state")) as guest:
        fill(place)
        begun = guest.wait("answers", lambda agent: True)["round"]
        guest.wait("goes on", lambda agent: agent["round"] > begun + 60)
        wait("the log says so", lambda: "kept until there is space" in guest.log, 10)
        (place / "filler").unlink()
        emptied = guest.wait("answers", lambda agent: True)["round"]
        guest.wait("goes on", lambda agent: agent["round"] > emptied + 40)
        code = guest.stop()
        expect(code == 0, f"exit code {code}: {guest.log.strip()[-200:]}")
    return "kept until there is space; exit code 0"


@ROWS.row(
    "disk-full-at-the-end",
    "the disk of the guest is full when it is told to leave",
    "it says farewell and ends with exit code 1 and the reason",
)
def full_at_the_end(stage):
    place = stage.folder / "small"
    with small_disk(place), stage.guest(state=str(place / "state")) as guest:
        fill(place)
        begun = guest.wait("answers", lambda agent: True)["round"]
        guest.wait("goes on", lambda agent: agent["round"] > begun + 40)
        code = guest.stop()
        stage.members(len(stage.honest), 5)
        expect(code == 1 and "space" in guest.log, f"exit code {code}: {guest.log.strip()[-200:]}")
    return "exit code 1, farewell heard within 5 s"


@ROWS.row(
    "disk-full-at-the-start",
    "the disk of the guest is full before it starts, and has space 3 s later",
    "it is no member before, says why, and joins afterwards",
    quick=True,
)
def full_at_the_start(stage):
    with full_disk(stage) as (guest, free):
        time.sleep(3)
        stage.members(len(stage.honest), 1)
        free()
        stage.join(guest)
    return "no member before, joined afterwards"


@ROWS.row(
    "disk-full-log",
    "the disk of the guest is full before it starts, for 5 s",
    "at most 50 lines of log say so",
)
def full_log(stage):
    with full_disk(stage) as (guest, free):
        time.sleep(5)
        lines = guest.log.count("No space left")
        free()
        stage.join(guest)
    expect(lines <= 50, f"{lines} lines in 5 s")
    return f"{lines} lines in 5 s"


@ROWS.row(
    "disk-read-only-at-the-start",
    "the disk of the guest is read-only before it starts",
    "it ends with exit code 1 and the reason",
    quick=True,
)
def read_only_at_the_start(stage):
    place = stage.folder / "small"
    with small_disk(place):
        remount(place, "ro")
        impostor = stage.impostor("sealed", state=str(place / "state"))
        impostor.start()
        return impostor.refuses_to_run(1, "ead-only")
