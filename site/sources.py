"""What the Rust sources and the reference say of methods: doc comments, the registry, settings."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE = ROOT / "crates/core/src"
# The files that hold the types of patterns and directions.
PATTERNS = {
    "PushPull": "push_pull",
    "PushSum": "push_sum",
    "Gossip": "gossip",
    "TwoStep": "two_step",
    "KGt": "k_gt",
    "Compressed": "compressed",
    "Adaptive": "adaptive",
    "HyperGradientPush": "hyper_gradient_push",
}
# The files of the registry, in the order in which their methods are listed.
REGISTRY = ["bilevel", "single_level", "double_loop"]
DIRECTIONS = {
    "penalty": "Penalty",
    "difference": "Difference",
    "soba": "Soba",
    "moreau": "Moreau",
    "itd": "Itd",
    "neumann": "Neumann",
    "gradient": "Gradient",
}
VENUES = {"AsAsked": "the network of the experiment"}
ENTRY = re.compile(r'(?:method|placed)\(\s*"(?P<name>[\w-]+)",\s*"(?P<about>[^"]+)",\s*"(?P<way>\w+)"')


def read(path):
    return path.read_text(encoding="utf-8")


def doc_of(path, item):
    """The doc comment before an item of a file, as Markdown without links into the code."""
    lines = read(path).split("\n")
    at = next(number for number, line in enumerate(lines) if item.match(line.strip()))
    block = []
    for line in reversed(lines[:at]):
        stripped = line.strip()
        if stripped.startswith("///"):
            block.insert(0, stripped[3:].removeprefix(" "))
        elif not stripped.startswith("#["):
            break
    text = "\n".join(block)
    text = re.sub(r"\[`(?:[\w:]*::)?(\w+)`\]", r"`\1`", text)
    return text.replace("\\[", "[").replace("\\]", "]")


def pattern_doc(kind):
    path = CORE / "algorithm" / f"{PATTERNS[kind]}.rs"
    return path, doc_of(path, re.compile(rf"pub struct {kind}\b"))


def direction_doc(name):
    path = CORE / "direction" / f"{DIRECTIONS[name].lower()}.rs"
    return path, doc_of(path, re.compile(rf"pub struct {DIRECTIONS[name]}\b"))


def estimator_doc(name):
    path = CORE / "algorithm/estimator.rs"
    return path, doc_of(path, re.compile(rf"{name}\b[ ,]"))


def venue_doc(name):
    words = re.search(rf'Self::{name} => Some\("([^"]+)"\)', read(CORE / "network/venue.rs"))
    return words[1] if words else VENUES[name]


def composition(body):
    """Pattern, tracking and estimator of an entry of the registry, as it puts the method together."""
    for pattern in ("Gossip", "KGt", "Compressed", "Adaptive", "HyperGradientPush"):
        if f"{pattern}::new" in body:
            return pattern, None, "Sample"
    if "two_step(" in body:
        return "TwoStep", None, "Sample"
    if "push_pull(" in body or re.search(r"\bfab\)", body):
        return "PushPull", None, "Sample"
    tracking = re.search(r"Tracking::(\w+)", body)[1]
    estimator = re.search(r"Estimator::(\w+)", body)
    return "PushSum", tracking, estimator[1] if estimator else "Recursive"


def methods():
    """The methods of the registry, in its order, each as a dict."""
    text = "".join(read(CORE / f"algorithm/registry/{name}.rs") for name in REGISTRY)
    entries = list(ENTRY.finditer(text))
    ends = [entry.start() for entry in entries[1:]] + [len(text)]
    found = []
    for entry, end in zip(entries, ends):
        body = text[entry.end() : end]
        pattern, tracking, estimator = composition(body)
        venue = re.search(r"Venue::(\w+)", body)
        found.append(
            {
                "name": entry["name"],
                "about": entry["about"],
                "direction": entry["way"],
                "pattern": pattern,
                "tracking": tracking,
                "estimator": estimator,
                "venue": venue_doc(venue[1] if venue else "AsAsked"),
            }
        )
    return found


def settings(name):
    """The table of settings of a method, as the reference has it."""
    text = read(ROOT / "docs/reference.md")
    text = text[text.index("\n## Algorithms") : text.index("\n## Problems")]
    section = re.search(rf"^### `{name}`\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)[1]
    return "\n".join(line for line in section.split("\n") if line.startswith("|"))


def leading_comment(path):
    """The first lines of an experiment file, which say what it is and what to expect."""
    lines = []
    for line in read(path).split("\n"):
        if not line.startswith("#"):
            break
        lines.append(line[1:].strip())
    return " ".join(lines)
