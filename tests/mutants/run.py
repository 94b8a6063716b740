#!/usr/bin/env python3
"""Switches on planted bugs one at a time, and reports the seed and the check that find each.

    tests/mutants/run.py peers [SEEDS] [NAME...]     the rules of peers, by the simulator of faults
    tests/mutants/run.py nodes [SEEDS] [NAME...]     the loop of nodes, by whole nodes in memory
    tests/mutants/run.py places                      whether the sources hold what all bugs replace

Builds one copy of the sources in the target directory, in which every bug of peers.toml or
nodes.toml stands but is switched off. Each bug, or each of the named ones, is then searched for with
SEEDS seeds, from the seed that its entry names or from 0; one whose entry names a test of the core is
to be found by this test. Fails if a bug is not found, or if the sources no longer hold what it
replaces.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

here = pathlib.Path(__file__).parent
root = here.parents[1]
target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))

SWITCH = """
/// Whether the bug of this number is switched on.
pub fn mutant(number: u32) -> bool {
    static SWITCH: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    *SWITCH.get_or_init(|| std::env::var("MUTANT").ok()?.parse().ok()) == Some(number)
}
"""


class Peers:
    """Seeds of the simulator of faults, which stops at the first that finds something."""

    crates = ["core", "sim"]
    seeds = 10_000
    main = """//! Runs seeds until something is found.
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>().expect("a number"));
    let (first, seeds) = (numbers.next().expect("the first seed"), numbers.next().expect("how many"));
    for seed in first..first + seeds {
        if let Some(violation) = fabnet_sim::run(&fabnet_sim::Scenario::from_seed(seed), false).violation {
            println!("{seed}\\t{violation}");
            return;
        }
    }
}
"""

    def build(self, copy):
        (copy / "crates/sim/src/bin").mkdir()
        (copy / "crates/sim/src/bin/mutants.rs").write_text(self.main)
        own = target / "mutants"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(own)}
        build = "cargo build --release --quiet --offline -p fabnet-sim --bin mutants".split()
        subprocess.run(build, cwd=copy, env=environment, check=True)
        self.program = own / "release/mutants"
        self.tests = built_tests("-p fabnet-core --lib", "fabnet_core", copy, environment)
        listed = subprocess.run([self.tests, "--list"], capture_output=True, text=True, check=True).stdout
        self.known = {line.removesuffix(": test") for line in listed.splitlines()}

    def hunt(self, environment, mutant, seeds):
        if test := mutant.get("test"):
            if test not in self.known:
                sys.exit(f"{mutant['name']}: the core has no test {test}")
            command = [self.tests, "--exact", test]
            failed = subprocess.run(command, env=environment, capture_output=True).returncode != 0
            return f"test {test}" if failed else ""
        command = [self.program, str(mutant.get("from", 0)), str(seeds)]
        found = subprocess.run(command, env=environment, capture_output=True, text=True).stdout.strip()
        return found and "seed {}, {}".format(*found.split("\t", 1))


class Nodes:
    """Seeds of whole nodes in memory: a test, whose message names the seeds that find something."""

    crates = None  # all of them
    seeds = 400
    test = "attack::no_seed_finds_anything_in_whole_nodes"

    def build(self, copy):
        # A folder of its own: cargo would take what is built of the copy for what it is a copy of.
        own = target / "mutants" / "built-nodes"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(own)}
        self.program = built_tests("-p fabnet-node --test in_memory", "in_memory", copy, environment)

    def hunt(self, environment, mutant, seeds):
        first = mutant.get("from", 0)
        environment["NODE_SEEDS"] = f"{first}..{first + seeds}"
        command = [self.program, "--exact", self.test, "--nocapture"]
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        if result.returncode == 0:
            return ""
        output = result.stdout + result.stderr
        found = re.search(r'^ +(\d+): "(.*)",$', output, re.M)
        missing = re.search(r"^(.*never happened)", output, re.M)
        if found:
            return "seed {}, {}".format(*found.groups())
        return f"seed {first}, {missing[1] if missing else 'ended early'}"


def built_tests(what, name, copy, environment):
    """Builds a program of tests in a copy of the sources, and returns its path."""
    build = "cargo test --no-run --release --quiet --offline --all-features --message-format json"
    command = [*build.split(), *what.split()]
    output = subprocess.run(command, cwd=copy, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    built = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return next(item["executable"] for item in built if item.get("executable") and item["target"]["name"] == name)


def bugs_of(kind):
    """The bugs of a list that something finds, and those that nothing has found."""
    lists = tomllib.loads((here / f"{kind}.toml").read_text())
    return lists["mutant"], lists.get("unfound", [])


def edits_of(mutants, crates):
    """The bugs by the file and the text that they replace, which must stand there exactly once.

    Several bugs may replace the same text.
    """
    edits = {}
    for number, mutant in enumerate(mutants, 1):
        for edit in mutant["edits"]:
            edits.setdefault((edit["file"], edit["find"]), []).append((number, edit["replace"]))
    for name, find in edits:
        count = (crates / name).read_text().count(find)
        if count != 1:
            sys.exit(f"{name} holds {find!r} {count} times instead of once: mend the list")
    return edits


def plant(copy, crates, mutants):
    """Copies the sources, with every bug behind a switch of its own."""
    shutil.rmtree(copy, ignore_errors=True)
    if crates is None:
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        listed = subprocess.run(command, cwd=root, check=True, capture_output=True)
        for name in filter(None, listed.stdout.decode().split("\n")):
            if (root / name).is_file():
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, copy / name)
    else:
        for crate in crates:
            shutil.copytree(root / "crates" / crate, copy / "crates" / crate)
        shutil.copy(root / "Cargo.lock", copy)
        # Every member must exist, or cargo refuses the workspace.
        manifest = (root / "Cargo.toml").read_text()
        manifest = manifest.replace('members = ["crates/*", "benches"]', 'members = ["crates/*"]')
        (copy / "Cargo.toml").write_text(manifest)
    edits = edits_of(mutants, copy / "crates")
    for (name, find), bugs in edits.items():
        path = copy / "crates" / name
        text = path.read_text()
        # Those that replace the same text become one chain of switches.
        chain = " else ".join(f"if crate::mutant({number}) {{ {replace} }}" for number, replace in bugs)
        path.write_text(text.replace(find, f"({chain} else {{ {find} }})"))
    for crate in {name.split("/")[0] for name, _ in edits}:
        lib = copy / "crates" / crate / "src/lib.rs"
        lib.write_text(lib.read_text().replace("#![warn(clippy::unwrap_used)]", "#![allow(warnings)]") + SWITCH)


def main():
    kind = sys.argv[1] if len(sys.argv) > 1 else ""
    if kind == "places":
        mutants = [sum(bugs_of(kind), []) for kind in ("peers", "nodes")]
        places = sum(len(edits_of(bugs, root / "crates")) for bugs in mutants)
        print(f"{sum(map(len, mutants))} planted bugs at {places} places")
        return
    if kind not in ("peers", "nodes"):
        sys.exit(__doc__)
    harness = Peers() if kind == "peers" else Nodes()
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else harness.seeds
    found, unfound = bugs_of(kind)
    mutants = found + unfound
    copy = target / "mutants" / kind
    plant(copy, harness.crates, mutants)
    harness.build(copy)
    names = sys.argv[3:] or [mutant["name"] for mutant in found]
    chosen = [(number, mutant) for number, mutant in enumerate(mutants, 1) if mutant["name"] in names]
    hunt = lambda numbered: harness.hunt({**os.environ, "MUTANT": str(numbered[0])}, numbered[1], seeds)
    missed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (_, mutant), found in zip(chosen, pool.map(hunt, chosen)):
            missed += not found
            print(f"{mutant['name']}: {found or 'NOT FOUND'}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs found, by {seeds} seeds or the test that is named")
    sys.exit(bool(missed))


main()
