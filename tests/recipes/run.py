#!/usr/bin/env python3
"""Applies the recipes of CONTRIBUTING.md to a copy of the sources, and looks whether they work.

    tests/recipes/run.py [algorithm] [problem] [topology]      all of them if none is named

A recipe is a section `### Add a …` whose blocks of code each follow a line with the path of a file
in backticks. A block of Rust is that file; in a `diff` block, lines with `+` are added after the
lines before them. The copy must then build, `fabnet list` and the reference must have the new name,
and the tests of every algorithm, problem and topology must pass with it. Lints hold the copy too
where RUSTC_WORKSPACE_WRAPPER is set, as .ci/run does.

The copy is kept in the target directory, and shares the dependencies that are built there.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
COPY = TARGET / "recipes/src"
BUILT = TARGET / "recipes/target"
COPIED = [
    "Cargo.toml",
    "Cargo.lock",
    ".cargo",
    "clippy.toml",
    "README.md",
    "CONTRIBUTING.md",
    "benches",
    "crates",
    "docs",
    "examples",
    "experiments",
]
# What each recipe is expected to touch beside its own file.
MOST_FILES = 3
# The crates that hold the registries, and the tests that go through them.
TESTED = ["fabnet-core", "fabnet-problems", "fabnet-lab"]
TABLES = "every_algorithm|every_problem|every_topology|keys"
# Runs every method with thousands of agents on one and on four threads, which takes minutes.
TOO_LONG = "any_number_of_threads"

SECTION = re.compile(
    r"^### Add an? (?P<name>\w+)\n(?P<text>.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL
)
BLOCK = re.compile(
    r"`(?P<path>[\w./-]+\.rs)`:\n\n```(?P<kind>rust|diff)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
ENTRY = re.compile(r'^\+\s*\w+\("(?P<name>[\w-]+)"', re.MULTILINE)


def recipes(page):
    """Each recipe by name: its blocks as (path, kind, text). Sections without blocks are none."""
    found = {
        section["name"]: [
            block.group("path", "kind", "text") for block in BLOCK.finditer(section["text"])
        ]
        for section in SECTION.finditer(page)
    }
    return {name: blocks for name, blocks in found.items() if blocks}


def edited(text, path, diff):
    """A file with the lines of a diff added after their context, which must be there once."""
    lines = diff.rstrip("\n").split("\n")
    context = "".join(line[1:] + "\n" for line in lines if not line.startswith("+"))
    added = "".join(line[1:] + "\n" for line in lines if line.startswith("+"))
    times = ("\n" + text).count("\n" + context)
    if times != 1:
        sys.exit(f"CONTRIBUTING.md: {path} holds these lines {times} times, not once:\n{context}")
    return ("\n" + text).replace("\n" + context, "\n" + context + added)[1:]


def applied(name, blocks):
    """The files that a recipe makes or changes, with their new contents."""
    files = {}
    for path, kind, text in blocks:
        if kind == "rust" and (ROOT / path).exists():
            sys.exit(f"CONTRIBUTING.md: the recipe for {name} makes {path}, which is there already")
        files[path] = text if kind == "rust" else edited((ROOT / path).read_text(), path, text)
    if len(files) > MOST_FILES:
        sys.exit(
            f"CONTRIBUTING.md: the recipe for {name} touches {len(files)} files: {', '.join(files)}"
        )
    return files


def synchronise(changes):
    """Brings the copy up to date. Files that are right stay as they are: cargo builds little."""
    wanted = {}
    for entry in COPIED:
        start = ROOT / entry
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            if path.is_file() and "target" not in path.relative_to(ROOT).parts:
                wanted[path.relative_to(ROOT).as_posix()] = path
    for path in COPY.rglob("*"):
        if path.is_file() and path.relative_to(COPY).as_posix() not in wanted | changes:
            path.unlink()
    for name in wanted.keys() | changes.keys():
        content = changes[name].encode() if name in changes else wanted[name].read_bytes()
        path = COPY / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def share_dependencies():
    """Links what was built of other people's crates into the target directory of the copy."""
    ours = {path.name for path in (ROOT / "crates").iterdir()} | {"fabnet"}
    source, copy = TARGET / "release", BUILT / "release"
    hashes = set()
    for folder in (source / ".fingerprint").iterdir() if (source / ".fingerprint").is_dir() else ():
        package, _, tail = folder.name.rpartition("-")
        if package.removeprefix("fabnet-") not in ours:
            hashes.add(tail)
    for part in (".fingerprint", "build", "deps"):
        for path in (source / part).iterdir() if hashes else ():
            tail = re.search(r"-([0-9a-f]{16})(?:\.|$)", path.name)
            target = copy / part / path.name
            if tail and tail[1] in hashes and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(path, target, copy_function=os.link) if path.is_dir() else os.link(
                    path, target
                )


def cargo(*arguments):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILT)}
    result = subprocess.run(["cargo", *arguments, "--locked"], cwd=COPY, env=environment)
    if result.returncode:
        sys.exit(f"failed in {COPY}: cargo {' '.join(arguments)}")


def test_targets():
    """The test programs that hold the tables: a crate has one for all, or one for each."""
    for crate in TESTED:
        tests = COPY / "crates" / crate.removeprefix("fabnet-") / "tests"
        names = [path.stem for path in tests.glob("*.rs")] + [
            path.parent.name for path in tests.glob("*/main.rs")
        ]
        yield from (name for name in names if name == "it" or re.fullmatch(TABLES, name))


def ask(*words):
    """What the command of the copy prints."""
    command = [BUILT / "release/fabnet", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def build():
    """Builds the command and the tests in one go: dependencies then have the features of both."""
    packages = [word for crate in TESTED for word in ("-p", crate)]
    targets = list(dict.fromkeys(test_targets()))
    # One test among the targets is enough for that; a program for all tests is too long a build.
    short = next((name for name in targets if name != "it"), "it")
    command = ["-p", "fabnet", "--bin", "fabnet"]
    cargo("build", "--release", *command, *packages, "--test", short)
    return [*packages, *(word for name in targets for word in ("--test", name))]


def look_for(names):
    """Asks the command for the new names."""
    listed, reference = ask("list"), ask("list", "--markdown")
    known = (ROOT / "docs/reference.md").read_text()
    for name in names:
        whole = re.compile(rf"(?<![\w-]){name}(?![\w-])")
        for place, text in [("fabnet list", listed), ("the reference", reference)]:
            if not whole.search(text):
                sys.exit(f"{name} is not in {place}")
        if whole.search(known):
            sys.exit(f"{name} was in docs/reference.md before the recipe: choose another example")


def gather(known, chosen):
    """The changes of all chosen recipes, and the name that each registers."""
    changes, names = {}, []
    for name in chosen:
        if name not in known:
            sys.exit(f"there is no recipe {name}: {', '.join(known)}")
        files = applied(name, known[name])
        if both := changes.keys() & files.keys():
            sys.exit(f"CONTRIBUTING.md: two recipes change {', '.join(both)}")
        changes |= files
        diffs = [text for _, kind, text in known[name] if kind == "diff"]
        entries = [entry["name"] for text in diffs for entry in ENTRY.finditer(text)]
        if len(entries) != 1:
            sys.exit(f"CONTRIBUTING.md: the recipe for {name} registers {entries}, not one name")
        names += entries
    return changes, names


def main():
    known = recipes((ROOT / "CONTRIBUTING.md").read_text())
    chosen = sys.argv[1:] or list(known)
    changes, names = gather(known, chosen)
    synchronise(changes)
    share_dependencies()
    selection = build()
    look_for(names)
    tables = f"(binary(/^({TABLES})$/) | test(/^({TABLES})::/)) & not test({TOO_LONG})"
    cargo("nextest", "run", "--cargo-profile", "release", *selection, "-E", tables)
    for name, new in zip(chosen, names):
        print(f"{name}: {new} is built, listed, documented and passes every test of its registry")


if __name__ == "__main__":
    main()
