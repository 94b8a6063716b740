#!/usr/bin/env python3
"""The table of release checks that passed, release/passed.tsv: reads it and notes a pass.

    release/passed.py NAME MINUTES PATTERN <OUTPUT      notes the lines of the output that match

A note has the name of the check, the day, the commit, the minutes it took, and what it measured.
"""

import datetime
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "passed.tsv"


def rows():
    """Each note by the name of its check."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    fields = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {row[0]: row for row in fields}


def git(*words):
    command = ["git", "-C", str(HERE.parent), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commit():
    """The commit of the working copy; a mark says that it has changes that are not committed.

    The table itself does not count: a check that has just passed changes it.
    """
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{TABLE}")
    return git("describe", "--always").strip() + ("-dirty" if changed else "")


def note(name, minutes, measured, of_commit=None):
    """Note that a check has passed, in place of its note of an earlier pass.

    What takes hours says which commit it began with.
    """
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    row = "\t".join([name, day, of_commit or commit(), f"{minutes} min", measured])
    kept = TABLE.read_text(encoding="utf-8").splitlines()
    kept = [line for line in kept if line.split("\t")[0] != name]
    # The head begins with a character that comes before all letters.
    TABLE.write_text("\n".join(sorted([*kept, row])) + "\n", encoding="utf-8")


def main():
    name, minutes, pattern = sys.argv[1:]
    lines = [line.strip() for line in sys.stdin if re.search(pattern, line.rstrip("\n"))]
    note(name, int(minutes), ";".join(lines))


if __name__ == "__main__":
    main()
