#!/usr/bin/env python3
"""Carries out the tutorials: runs the commands of their pages, and compares the results.

    tests/tutorials/run.py FABNET [NAME…]      the command to test; all tutorials if none is named
    tests/tutorials/run.py FABNET --figures    also puts the figures that were made into docs/figures

In a page of docs/tutorials, `<!-- file NAME -->` is followed by a block that is that file, blocks of
`sh` are run in order, `<!-- expect DIR "LABEL" METRIC LOWEST HIGHEST -->` holds the median of a
group to bounds, and every picture of figures/tutorials must have been made by a command. A page with
`<!-- data NAME -->` is skipped, with a word, where that data set is not there.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/tutorials"
FIGURES = ROOT / "docs/figures/tutorials"
PART = re.compile(
    r"<!-- file (?P<file>\S+) -->\n```\w+\n(?P<text>.*?)^```$"
    r"|^```sh\n(?P<commands>.*?)^```$"
    r'|<!-- expect (?P<folder>\S+) "(?P<label>[^"]+)" (?P<metric>\w+)'
    r" (?P<lowest>\S+) (?P<highest>\S+) -->"
    r"|!\[[^\]]+\]\(\.\./figures/tutorials/(?P<figure>[\w.-]+)\)",
    re.MULTILINE | re.DOTALL,
)
DATA = re.compile(r"<!-- data (\S+) -->")


def missing_data(text):
    """A data set that a page needs and that is not there."""
    folder = pathlib.Path(os.environ.get("FABNET_DATA", pathlib.Path.home() / ".cache/fabnet/data"))
    return next((name for name in DATA.findall(text) if not (folder / name).is_dir()), None)


def compare(folder, part):
    """Whether the median of a group is within its bounds; prints it in any case."""
    summary = json.loads((folder / part["folder"] / "summary.json").read_text())
    groups = {group["label"]: group for group in summary["groups"]}
    if part["label"] not in groups:
        sys.exit(f"{part['folder']}: no group {part['label']!r} among {sorted(groups)}")
    value = groups[part["label"]]["final"][part["metric"]]["median"]
    lowest, highest = float(part["lowest"]), float(part["highest"])
    right = value is not None and lowest <= value <= highest
    words = f"{part['label']}: {part['metric']} {value} in [{lowest}, {highest}]"
    print(f"   {words}" if right else f"   WRONG {words}")
    return right


def execute(commands, folder, environment):
    print("   $ " + commands.strip().replace("\n", "\n     "))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    print("".join(f"     > {line}\n" for line in done.stdout.splitlines()[-6:]), end="")
    if done.returncode:
        sys.exit(f"exit code {done.returncode}:\n{done.stdout}")


def carry_out(page, environment, keep):
    """Carries out one page in a folder of its own; false if a figure or a number is wrong."""
    text = page.read_text(encoding="utf-8")
    right = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in PART.finditer(text):
            if part["file"]:
                (folder / part["file"]).write_text(part["text"], encoding="utf-8")
            elif part["commands"]:
                execute(part["commands"], folder, environment)
            elif part["figure"]:
                if not (folder / part["figure"]).is_file():
                    print(f"   WRONG: no command has made {part['figure']}")
                    right = False
                elif keep:
                    shutil.copy(folder / part["figure"], FIGURES / part["figure"])
            else:
                right &= compare(folder, part)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("fabnet", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="clinics, fleet, laptops")
    parser.add_argument("--figures", action="store_true")
    arguments = parser.parse_intermixed_args()
    wrong = []
    with tempfile.TemporaryDirectory() as tools:
        (pathlib.Path(tools) / "fabnet").symlink_to(arguments.fabnet.resolve())
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        for page in sorted(PAGES.glob("*.md")):
            if arguments.names and page.stem not in arguments.names:
                continue
            print(f"-- {page.stem}")
            if missing := missing_data(page.read_text(encoding="utf-8")):
                print(f"   skipped: the data set {missing} is not there")
                continue
            begun = time.monotonic()
            if not carry_out(page, environment, arguments.figures):
                wrong.append(page.stem)
            print(f"   {time.monotonic() - begun:.0f} s")
    if wrong:
        sys.exit(f"not as the pages say: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
