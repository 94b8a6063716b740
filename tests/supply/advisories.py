#!/usr/bin/env python3
"""Looks up all dependencies in the database of advisories, and says so where that cannot be read.

    tests/supply/advisories.py              fails if an advisory concerns a dependency
    tests/supply/advisories.py --selftest   the same with databases that are made for it

The database lives on the web. Where it cannot be fetched nothing is known, which is neither success
nor failure: the last line then begins with "not checked". Exceptions stand in deny.toml.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATABASE = "https://github.com/RustSec/advisory-db"
ADVISORY = """```toml
[advisory]
id = "RUSTSEC-2000-{number:04}"
package = "{crate}"
date = "2000-01-01"

[versions]
patched = []
```

# A planted advisory

It is there to be found.
"""


def check(config=ROOT / "deny.toml", environment=None):
    """The advisories that concern dependencies, by name; or why none could be looked up."""
    command = ["cargo", "deny", "--all-features", "--format", "json", "--log-level", "error"]
    command += ["--config", str(config), "check", "advisories"]
    environment = {**os.environ, **(environment or {})}
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = [json.loads(line) for line in answer.stderr.splitlines() if line.startswith("{")]
    fields = [(line["type"], line["fields"]) for line in lines]
    # Only who has read the database sums up.
    if not any(kind == "summary" and "advisories" in field for kind, field in fields):
        logged = [field["message"] for kind, field in fields if kind == "log"]
        return [], (logged or [answer.stderr or "no answer"])[0].partition(" with ")[0]
    errors = [field for kind, field in fields if kind == "diagnostic" and field["severity"] == "error"]
    found = [f"{error.get('advisory', {}).get('package', '?')}: {error['message']}" for error in errors]
    if answer.returncode != 0 and not found:
        found = [f"cargo deny ended with {answer.returncode}"]
    return found, None


def selftest():
    """A planted advisory is found, one of a crate that is not here is not, and nothing is not success."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, crates in (("found", ["rayon"]), ("none", ["no-such-crate"]), ("away", None)):
            place = folder / name
            if crates is not None:
                make_database(place / "database", crates)
            config = place.with_suffix(".toml")
            text = (ROOT / "deny.toml").read_text()
            assert "[advisories]\n" in text, "deny.toml has no section for advisories"
            config.write_text(text.replace("[advisories]\n", f'[advisories]\ndb-path = "{place}/cache"\n'))
            redirect = {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.file://{place}/database.insteadOf",
                "GIT_CONFIG_VALUE_0": DATABASE,
            }
            found, why = check(config, redirect)
            expected = {"found": (1, False), "none": (0, False), "away": (0, True)}[name]
            assert (len(found), why is not None) == expected, f"{name}: {found}, {why}"
            assert name != "found" or found[0].startswith("rayon: "), found
    print("3 databases, each read as it is")


def make_database(folder, crates):
    for number, crate in enumerate(crates, 1):
        file = folder / "crates" / crate / f"RUSTSEC-2000-{number:04}.md"
        file.parent.mkdir(parents=True)
        file.write_text(ADVISORY.format(number=number, crate=crate))
    git = ["git", "-c", "user.name=selftest", "-c", "user.email=selftest@example.org"]
    for command in (["init", "--quiet", "-b", "main"], ["add", "--all"], ["commit", "--quiet", "-m", "All"]):
        subprocess.run([*git, *command], cwd=folder, check=True)


def main():
    if sys.argv[1:] == ["--selftest"]:
        return selftest()
    if sys.argv[1:]:
        sys.exit(__doc__)
    found, why = check()
    for advisory in found:
        print(advisory)
    print(f"not checked: {why}" if why else f"{len(found)} advisories concern dependencies")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
