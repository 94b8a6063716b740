#!/usr/bin/env python3
"""Switches on the bugs of list.toml one at a time, and reports the seed and the check that find each.

    crates/sim/tests/mutants/run.py [SEEDS] [NAME...]

Builds one copy of the sources in the target directory, in which every bug stands but is switched
off. Each bug, or each of the named ones, is then searched for with SEEDS seeds (10,000 if not
given), from the seed that its entry names or from 0. Fails if a bug is not found, or if the sources
no longer hold what it replaces.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

# The crates that the simulator is built from.
CRATES = ["core", "sim"]

here = pathlib.Path(__file__).parent
root = here.parents[3]
target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "mutants"
copy = target / "src"

SWITCH = """
/// Whether the bug of this number is switched on.
pub fn mutant(number: u32) -> bool {
    static SWITCH: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    *SWITCH.get_or_init(|| std::env::var("MUTANT").ok()?.parse().ok()) == Some(number)
}
"""

MAIN = """//! Runs seeds until something is found.
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


def plant(mutants):
    """Copies the sources, with every bug behind a switch of its own."""
    shutil.rmtree(copy, ignore_errors=True)
    for crate in CRATES:
        shutil.copytree(root / "crates" / crate, copy / "crates" / crate)
    shutil.copy(root / "Cargo.lock", copy)
    # Every member must exist, or cargo refuses the workspace.
    manifest = (root / "Cargo.toml").read_text()
    manifest = manifest.replace('members = ["crates/*", "benches"]', 'members = ["crates/*"]')
    (copy / "Cargo.toml").write_text(manifest)
    (copy / "crates/sim/src/bin").mkdir()
    (copy / "crates/sim/src/bin/mutants.rs").write_text(MAIN)
    # Several bugs may replace the same text: they become one chain of switches.
    edits = {}
    for number, mutant in enumerate(mutants, 1):
        for edit in mutant["edits"]:
            edits.setdefault((edit["file"], edit["find"]), []).append((number, edit["replace"]))
    for (name, find), bugs in edits.items():
        path = copy / "crates" / name
        text = path.read_text()
        if text.count(find) != 1:
            count = text.count(find)
            sys.exit(f"{name} holds {find!r} {count} times instead of once: mend list.toml")
        chain = " else ".join(f"if crate::mutant({number}) {{ {replace} }}" for number, replace in bugs)
        path.write_text(text.replace(find, f"({chain} else {{ {find} }})"))
    lib = copy / "crates/core/src/lib.rs"
    lib.write_text(lib.read_text().replace("#![warn(clippy::unwrap_used)]", "#![allow(warnings)]") + SWITCH)


def hunt(number, first, seeds):
    """Returns the first seed that finds a bug and what it violates, or nothing."""
    command = [target / "release/mutants", str(first), str(seeds)]
    environment = {**os.environ, "MUTANT": str(number)}
    return subprocess.run(command, env=environment, capture_output=True, text=True).stdout.strip()


def main():
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    bugs = tomllib.loads((here / "list.toml").read_text())
    mutants = bugs["mutant"] + bugs["unfound"]
    plant(mutants)
    build = "cargo build --release --quiet --offline -p fabnet-sim --bin mutants".split()
    subprocess.run(build, cwd=copy, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, check=True)
    names = sys.argv[2:] or [mutant["name"] for mutant in bugs["mutant"]]
    numbered = [(number, mutant["name"], mutant.get("from", 0)) for number, mutant in enumerate(mutants, 1)]
    chosen = [mutant for mutant in numbered if mutant[1] in names]
    missed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda mutant: hunt(mutant[0], mutant[2], seeds), chosen)
        for (_, name, _), found in zip(chosen, results):
            seed, _, violation = found.partition("\t")
            missed += not found
            print(f"{name}: {f'seed {seed}, {violation}' if found else 'NOT FOUND'}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} planted bugs found within {seeds} seeds")
    sys.exit(bool(missed))


main()
