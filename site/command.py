"""The page of the command: its help, as the snapshot of the tests has it."""

import re

import sources

SNAPSHOT = "crates/cli/src/snapshots/fabnet__tests__help_fits_a_terminal.snap"
HEAD = """# The command

<!-- Made by site/generate.py of the help of the command; CI compares. -->

This is what `fabnet help COMMAND` prints. Exit codes: 0 if every run was carried out (a diverged
run is a result); 1 if it could not be carried out, or all runs diverged; 2 for wrong usage or an
invalid file.
"""


def pages():
    text = sources.read(sources.ROOT / SNAPSHOT).split("---\n", 2)[2]
    parts = re.split(r"(?m)^## (fabnet.*)$", text)[1:]
    sections = [
        f"## `{name.strip()}`\n\n```text\n{body.strip()}\n```"
        for name, body in zip(parts[::2], parts[1::2])
    ]
    return {"docs/command.md": "\n\n".join([HEAD.strip(), *sections]) + "\n"}
