#!/usr/bin/env python3
"""Says how old each entry of passed.tsv is, in days and in commits, and which checks have none.

release/ages.py
"""

import datetime
import pathlib
import re
import subprocess

import passed

HERE = pathlib.Path(__file__).resolve().parent


def commits_since(commit):
    """How many commits came after one; a mark behind its name says that files were changed too."""
    commit = commit.removesuffix("-dirty")
    count = subprocess.run(
        ["git", "rev-list", "--count", f"{commit}..HEAD"], cwd=HERE, capture_output=True, text=True
    )
    return (
        f"{count.stdout.strip()} commits"
        if count.returncode == 0
        else "a commit that is not in this history"
    )


def days_since(day):
    days = (
        datetime.datetime.now(datetime.timezone.utc).date() - datetime.date.fromisoformat(day)
    ).days
    return f"{days} days"


def main():
    known = re.findall(
        r'^\s*(?:\w+=\S+ )*check "([\w-]+)"',
        (HERE / "check").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    rows = passed.rows()
    for name in known:
        if name not in rows:
            print(f"{name:<24} has never passed")
            continue
        _, day, commit, minutes, measured = rows[name]
        print(f"{name:<24} {days_since(day)}, {commits_since(commit)} ago ({minutes}): {measured}")
    for name in sorted(set(rows) - set(known)):
        print(f"{name:<24} is no check any more: take it out of passed.tsv")


main()
