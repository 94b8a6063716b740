#!/usr/bin/env python3
"""Makes the pages that follow from the code: methods, gallery, the command.

    site/generate.py                     writes the pages
    site/generate.py --check             fails where a committed page differs from what is made
    site/generate.py --figures FABNET    runs the examples of the methods and draws their figures

Equations, papers and settings come from doc comments of the sources and from docs/reference.md; what
no source says stands in methods.toml and gallery.toml beside this script.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile

import command
import gallery
import methods
import sources


def made():
    return {**methods.pages(), **gallery.pages(), **command.pages()}


def check(pages):
    """The pages that are not as they are made, and those that nothing makes any more."""
    wrong = [
        path
        for path, text in pages.items()
        if not (sources.ROOT / path).is_file() or sources.read(sources.ROOT / path) != text
    ]
    there = {f"{methods.FOLDER}/{path.name}" for path in (sources.ROOT / methods.FOLDER).glob("*.md")}
    return wrong + sorted(there - set(pages))


def draw(fabnet):
    """Runs the example of each method, and draws its figure."""
    folder = sources.ROOT / "docs/figures/methods"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as runs:
        for name, settings in methods.figures().items():
            kind = ["--set", f"algorithm.0.kind={name}", *shlex.split(settings)]
            out = f"{runs}/{name}"
            file = sources.ROOT / "experiments/method.toml"
            subprocess.run([fabnet, "run", file, *kind, "--out", out, "--quiet"], check=True)
            figure = folder / f"{name}.svg"
            subprocess.run([fabnet, "plot", out, "--out", figure], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--figures", metavar="FABNET", help="the command to draw figures with")
    arguments = parser.parse_args()
    pages = made()
    if arguments.check:
        if wrong := check(pages):
            sys.exit(f"run site/generate.py: it makes other pages of {', '.join(wrong)}")
        print(f"{len(pages)} pages are as site/generate.py makes them")
        return
    for path, text in pages.items():
        (sources.ROOT / path).write_text(text, encoding="utf-8")
    if arguments.figures:
        draw(arguments.figures)
    print(f"{len(pages)} pages written")


if __name__ == "__main__":
    main()
