"""What the scripts of this folder share: where files are, what a check is, how it is printed."""

import argparse
import pathlib
import sys
from dataclasses import dataclass, field

import rust

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = {"target", ".git", "__pycache__", "node_modules", "runs"}


@dataclass(frozen=True)
class Fault:
    """A place where a bar is not met."""

    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


@dataclass
class Check:
    """Something measured, the bar it is held to, and the places where it is not met."""

    name: str
    measured: str
    bar: str
    faults: list[Fault] = field(default_factory=list)

    @property
    def met(self):
        return not self.faults


class Tree:
    """The files of a working copy. Each is read once, however many checks look at it."""

    def __init__(self, root=ROOT):
        self.root = pathlib.Path(root).resolve()
        self._sources = {}

    def files(self, *suffixes, under=("",)):
        """Files with one of these suffixes, sorted by path."""
        found = (path for start in under for path in self._walk(self.root / start))
        return sorted(path for path in found if path.suffix in suffixes)

    def sources(self, *under):
        """Sources in Rust, parsed."""
        return [self.source(path) for path in self.files(".rs", under=under or ("",))]

    def source(self, path):
        if path not in self._sources:
            self._sources[path] = rust.read(path)
        return self._sources[path]

    def crates(self):
        return sorted(path.parent for path in self.root.glob("crates/*/Cargo.toml"))

    def name(self, path):
        return path.relative_to(self.root).as_posix()

    def fault(self, path, line, text):
        return Fault(self.name(path), line, text)

    def _walk(self, start):
        if not start.is_dir():
            return
        for path in start.iterdir():
            if path.name in SKIPPED:
                continue
            if path.is_dir():
                yield from self._walk(path)
            else:
                yield path


def table(rows, heads):
    """Rows of words as text in columns."""
    rows = [tuple(map(str, row)) for row in [heads, *rows]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
    return "\n".join(lines)


def is_test_file(path):
    return "tests" in path.parts or path.name == "tests.rs"


def rows(checks):
    return [
        (
            check.name,
            check.measured,
            check.bar,
            "met" if check.met else f"{len(check.faults)} faults",
        )
        for check in checks
    ]


HEADS = ("check", "measured", "bar", "")


def main(measure, description, options=()):
    """Runs one script: prints its table, then its faults, and fails if there is one."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--root", default=ROOT, help="the working copy to measure (this one if not given)"
    )
    for name, about in options:
        parser.add_argument(name, action="store_true", help=about)
    arguments = vars(parser.parse_args())
    tree = Tree(arguments.pop("root"))
    checks = measure(tree, **arguments)
    print(table(rows(checks), HEADS))
    faults = [fault for check in checks for fault in check.faults]
    for check in checks:
        if check.faults:
            print(f"\n{check.name}:")
            print(*check.faults, sep="\n")
    sys.exit(bool(faults))
