"""The gallery: a card for each experiment, with picture, command and time."""

import pathlib
import textwrap
import tomllib

import sources

PAGE = "docs/gallery.md"
HEAD = """# Experiments

<!-- Made by site/generate.py of the experiments and of site/gallery.toml; CI compares. -->

One file for each experiment, one command for each file. Pictures were made by the program.
*Measured* is the processor time of the whole command on a virtual machine with two cores of 2.5
GHz; where runs are parallel, two idle cores need about half of it. The
[table of all experiments](../experiments/README.md) lists the same files.
"""


def entries():
    return tomllib.loads(sources.read(sources.ROOT / "site/gallery.toml"))


def duration(seconds):
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def time_of(entry):
    if "seconds" in entry:
        return f"Measured: {duration(entry['seconds'])} of processor time."
    return f"Time: {entry['time']}; not run for this page."


def wrapped(text):
    return textwrap.fill(text.strip(), 100, break_long_words=False, break_on_hyphens=False)


def card(name, entry):
    about = sources.leading_comment(sources.ROOT / f"experiments/{name}.toml")
    what, _, expected = about.partition("Expect")
    file = f"experiments/{name}.toml"
    parts = [
        '<div class="card">',
        f"### {entry['title']}",
        f"![{entry['picture']}](figures/{entry['figure']})" if "figure" in entry else "",
        wrapped(what),
        wrapped(f"*Expect*{expected}") if expected else "",
        f"```sh\n{entry.get('command', f'fabnet run {file}')}\n```",
        wrapped(f"{time_of(entry)} {entry.get('needs', '')}"),
        f"[{file}](../{file})",
        "</div>",
    ]
    return "\n\n".join(part for part in parts if part)


def pages():
    text = [HEAD.strip()]
    known = set()
    for section in entries().values():
        cards = [card(name, entry) for name, entry in section["experiments"].items()]
        known |= set(section["experiments"])
        text += [f"## {section['title']}", '<div class="cards">', *cards, "</div>"]
    folder = sources.ROOT / "experiments"
    there = {
        pathlib.PurePath(path.relative_to(folder)).with_suffix("").as_posix()
        for path in folder.rglob("*.toml")
        if path.parent.name != "benchmark"  # a design, which has a page of its own
    }
    if known != there:
        raise SystemExit(f"site/gallery.toml and experiments/ differ: {sorted(known ^ there)}")
    return {PAGE: "\n\n".join(text) + "\n"}
