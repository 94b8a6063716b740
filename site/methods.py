"""The pages of the methods: one for each, and one with all of them."""

import re
import textwrap
import tomllib

import sources

FOLDER = "docs/methods"
PATTERN_NAMES = {
    "PushPull": "push-pull",
    "PushSum": "push-sum",
    "Gossip": "gossip",
    "TwoStep": "gossip with the step before",
    "KGt": "gradient tracking with local steps",
    "Compressed": "compressed push-pull",
    "Adaptive": "gossip with accumulated norms",
    "HyperGradientPush": "push-sum by turns",
}
TRACKING = {
    "None": "none: agents step along their own direction",
    "StepThenMix": "the tracker, before mixing",
    "MixThenStep": "the tracker, after mixing",
}
GROUPS = [
    ("Bilevel, one loop", lambda m: m["direction"] in ("penalty", "difference", "soba", "moreau")),
    ("Single level", lambda m: m["direction"] == "gradient"),
    ("Bilevel, double loop", lambda m: m["direction"] in ("itd", "neumann")),
]


NOT_HERE = """\
## Not here, and why

- R-FAST (Zhu, Tian, Huang, Xu, He, arXiv 2307.11617) and ASY-SONATA (Tian, Sun, Scutari, arXiv
  1803.10359): agents that do not wait, with running sums that make up for what is lost. This is
  what `push-pull` and `dfab` do over peers with ledgers, whose sums are whole numbers
  ([protocol](../protocol.md), `experiments/stragglers.toml`).
- RCPP (arXiv 2408.01727): CPP with compressors whose scale changes with the rounds.
- C²DFB (arXiv 2410.14115): its recursion could be neither read nor derived."""


def extra():
    return tomllib.loads(sources.read(sources.ROOT / "site/methods.toml"))


def file_link(path):
    name = path.relative_to(sources.ROOT)
    return f"[{path.name}](../../{name})"


def command(name, more):
    """The command of the example, over as many lines as it needs."""
    words = f"fabnet run experiments/method.toml --set algorithm.0.kind={name}"
    tail = " ".join(filter(None, [more.get("example", ""), f"--out runs/{name}"]))
    return f"{words} \\\n  {tail}"


def facts(method, more):
    rows = [
        ("pattern", PATTERN_NAMES[method["pattern"]]),
        ("direction", f"`{method['direction']}`"),
        ("runs on", method["venue"]),
    ]
    if method["tracking"]:
        rows.insert(1, ("what agents step along", TRACKING[method["tracking"]]))
    rows.append(("needs", more["needs"]))
    return "\n".join(["| | |", "|---|---|"] + [f"| {name} | {text} |" for name, text in rows])


def equations(method):
    """The doc comments of the parts that a method consists of."""
    parts = [
        ("The pattern", sources.pattern_doc(method["pattern"])),
        ("The direction", sources.direction_doc(method["direction"])),
    ]
    if method["estimator"] != "Sample":
        parts.append(("The estimator", sources.estimator_doc(method["estimator"])))
    return "\n\n".join(
        f"### {title}\n\n{spaced(text)}\n\n(From {file_link(path)}.)" for title, (path, text) in parts
    )


def one_each(block):
    """A block of equations with one on each line, so that it fits on narrow screens."""
    return "\n" + re.sub(r"\n* {4,}", "\n", block[0]) + "\n"


def spaced(text):
    """A doc comment with empty lines around blocks and tables, as Markdown of all readers wants."""
    text = re.sub(r"(?m)^```text\n.*?^```$", one_each, text, flags=re.DOTALL)
    text = re.sub(r"(?m)((?:^\|.*\n)+)", r"\n\1", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def alternative(method, more):
    problem = "the quadratic" if method["direction"] == "gradient" else "policy evaluation"
    return f"Relative error of {more['title']} by rounds on {problem}, ten agents, five seeds"


def page(method, more):
    words = f'`kind = "{method["name"]}"`: {method["about"]}. {more["note"]}'
    return f"""# {more["title"]}

<!-- Made by site/generate.py of the sources and of site/methods.toml; CI compares. -->

{textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False)}

{facts(method, more)}

## Equations

{equations(method)}

The [symbols](../glossary.md#symbols) are those of the glossary. `v` is the shared point, which has
the blocks of the direction; a superscript ⁺ marks the next round.

## Example

```sh
{command(method["name"], more)}
fabnet plot runs/{method["name"]} --out {method["name"]}.svg
```

![{alternative(method, more)}](../figures/methods/{method["name"]}.svg)

## Settings

{sources.settings(method["name"])}

[All methods](index.md) · [choosing a method](../guide.md#choosing-a-method) ·
[what reproduces](../../REPRODUCTION.md)
"""


def overview(found, more):
    parts = [
        "# All methods",
        "<!-- Made by site/generate.py of the sources and of site/methods.toml; CI compares. -->",
        "A method is a *pattern* (how agents exchange) times a *direction* (what an agent computes from\n"
        "its own data). [Choosing a method](../guide.md#choosing-a-method) says which one to take,\n"
        "[a map](../reference.md#methods-by-what-they-need) what a round of each needs, and\n"
        "[the benchmark](../benchmark.md) how they compare.",
    ]
    for title, belongs in GROUPS:
        rows = [
            f"| [{more[m['name']]['title']}]({m['name']}.md) | `{m['name']}` |"
            f" {PATTERN_NAMES[m['pattern']]} | `{m['direction']}` | {more[m['name']]['needs']} |"
            for m in found
            if belongs(m)
        ]
        head = "| method | `kind` | pattern | direction | needs |\n|---|---|---|---|---|"
        parts.append("\n\n".join([f"## {title}", "\n".join([head, *rows])]))
    return "\n\n".join([*parts, NOT_HERE]) + "\n"


def pages():
    """All pages by path."""
    found, more = sources.methods(), extra()
    names = [method["name"] for method in found]
    if set(names) != set(more):
        raise SystemExit(f"site/methods.toml and the registry differ: {set(names) ^ set(more)}")
    made = {f"{FOLDER}/index.md": overview(found, more)}
    for method in found:
        made[f"{FOLDER}/{method['name']}.md"] = page(method, more[method["name"]])
    return made


def figures():
    """The commands that make the figures: the arguments of each run, by the name of its figure."""
    return {name: more.get("example", "") for name, more in extra().items()}
