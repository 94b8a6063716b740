#!/usr/bin/env python3
"""Circles between the modules of each crate, with re-exports resolved.

    tests/house/circles.py            a table, and one arrow of each circle
    tests/house/circles.py --list     the modules of each circle, with all arrows between them

A module points to another if its code names something that the other one defines, whatever way the
name takes: through `use`, through re-exports of lib.rs or a mod.rs, through a glob, or as a path in
the code. A re-export alone is no arrow, and a module that consists of declarations and re-exports
is no node. Code for tests does not count. Methods are not followed: they are called without naming
the module in which their `impl` stands.

circles.files compares single files, circles.folders the modules of one folder, each with all that
is below it.
"""

import re
from dataclasses import dataclass, field

import house
import rust

NAME = re.compile(r"[A-Za-z_]\w*")
CALL = re.compile(r"(?<![.:\w])(?<!fn )([a-z_]\w*)\s*\(")
PATH = re.compile(r"(?<![\w:.])(?:r#)?[A-Za-z_]\w*(?:\s*::\s*(?:r#)?[A-Za-z_]\w*)*")
USE = re.compile(r"(?P<visibility>\bpub(?:\s*\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]*);")
ATTRIBUTE = re.compile(r"#!?\s*\[[^\]]*\]")
DECLARATION = re.compile(r"\b(?:pub(?:\s*\([^)]*\))?\s+)?(?:mod\s+\w+|extern\s+crate\s+\w+)\s*;")
DEFINES = {"fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules!"}


@dataclass
class Import:
    """One leaf of a `use`: the path it names, under which name, and whether it is a re-export."""

    path: list[str]
    alias: str
    public: bool
    offset: int


@dataclass
class Module:
    """A module: a file, or a block within one."""

    path: tuple[str, ...]
    source: rust.Source
    parent: "Module | None"
    children: dict[str, "Module"] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)
    imports: list[Import] = field(default_factory=list)
    code: str = ""

    @property
    def label(self):
        return "::".join(self.path) or "(root)"

    def read(self, code):
        """Takes declarations out of the code; what is left is where names are used."""
        for match in USE.finditer(code):
            for names, alias in leaves(match["tree"]):
                self.imports.append(Import(names, alias, bool(match["visibility"]), match.start()))
        for declared in (USE, DECLARATION, ATTRIBUTE):
            code = declared.sub(lambda match: rust.blank(match.group()), code)
        self.code = code

    def lookup(self, name, seen=()):
        """The module that defines a name, or the module that has this name, or nothing."""
        if name in self.defined:
            return self
        if name in self.children:
            return self.children[name]
        if (self.path, name) in seen:
            return None
        seen = (*seen, (self.path, name))
        for found in self.imports:
            if found.alias == name and (target := self.resolve(found.path, seen)):
                return target
        for found in self.imports:
            if found.alias == "*":
                origin = self.resolve(found.path, seen)
                if origin and origin is not self and (target := origin.lookup(name, seen)):
                    return target
        return None

    def resolve(self, path, seen=()):
        """The module that a path leads to: the one that defines what it names."""
        at, names = self, list(path)
        if names[0] == "crate":
            at = self.root()
            names.pop(0)
        else:
            while names and names[0] in ("self", "super"):
                at = at.parent if names.pop(0) == "super" and at.parent else at
        for name in names:
            target = at.lookup(name, seen)
            if target is None:
                return at if at is not self else None
            if name in at.defined:
                return at  # what follows is a method or a variant
            if target.path[-1:] != (name,) or target.parent is None:
                # Re-exported: a module under another name, or something that is defined there.
                if name in target.defined or not target.children:
                    return target
            at = target
        return at

    def root(self):
        return self if self.parent is None else self.parent.root()


def leaves(tree, prefix=()):
    """The leaves of a use tree: (path, name in scope) each."""
    tree = tree.strip()
    if not tree:
        return
    if tree.endswith("}"):
        head, inner = tree[:-1].split("{", 1)
        prefix = (*prefix, *NAME.findall(head))
        depth, start = 0, 0
        for at, sign in enumerate(inner + ","):
            depth += (sign == "{") - (sign == "}")
            if sign == "," and depth == 0:
                yield from leaves(inner[start:at], prefix)
                start = at + 1
        return
    path, _, alias = tree.partition(" as ")
    names = [*prefix, *NAME.findall(path)]
    if path.rstrip().endswith("*"):
        yield names, "*"
        return
    if names[-1] == "self" and len(names) > 1:
        names.pop()
    yield names, alias.strip() or names[-1]


def load(tree, path, parent=None, name=None, blocks=()):
    """A module and all modules below it; `blocks` names those written out within one file."""
    source = tree.source(path)
    module = Module((*parent.path, name) if parent else (), source, parent)
    held = [item for item in source.items if item.blocks == blocks and not item.test]
    inner = [item for item in held if item.kind == "mod" and source.code[item.end] == "}"]
    module.defined = {
        item.name for item in held if item.kind in DEFINES and item.within in ("", "mod")
    }
    module.read(own_code(source, blocks, inner))
    for item in held:
        if item in inner:
            module.children[item.name] = load(tree, path, module, item.name, (*blocks, item.name))
        elif item.kind == "mod" and (file := find(path, blocks, item.name)):
            module.children[item.name] = load(tree, file, module, item.name)
    return module


def own_code(source, blocks, inner):
    """The code of one module of a file, without that of modules written out within it."""
    code, start, end = source.without_tests, 0, len(source.code)
    for item in source.items if blocks else ():
        if item.kind == "mod" and (*item.blocks, item.name) == blocks:
            start, end = source.code.index("{", item.start) + 1, item.end
    code = rust.blank(code[:start]) + code[start:end] + rust.blank(code[end:])
    for item in inner:
        code = (
            code[: item.start] + rust.blank(code[item.start : item.end + 1]) + code[item.end + 1 :]
        )
    return code


def find(path, blocks, child):
    """The file of a module that is declared in the file `path`."""
    folder = (
        path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.parent / path.stem
    )
    folder = folder.joinpath(*blocks)
    candidates = [folder / f"{child}.rs", folder / child / "mod.rs"]
    return next((file for file in candidates if file.is_file()), None)


def modules(module):
    yield module
    for child in module.children.values():
        yield from modules(child)


def is_node(module):
    """Whether a module has code of its own, besides declarations and re-exports."""
    return bool(module.code.strip())


def arrows(module):
    """The modules that this one points to, each with the offset of one place that does."""
    found = {}

    def point(target, offset):
        if target is not None and target is not module:
            found.setdefault(target.path, (target, offset))

    words = set(NAME.findall(module.code))
    for entry in module.imports:
        if entry.alias == "*":
            for target in through_glob(module, entry):
                point(target, entry.offset)
        elif not entry.public or entry.alias in words:
            point(module.resolve(entry.path), entry.offset)
    scope = {entry.alias for entry in module.imports} | set(module.children)
    for match in PATH.finditer(module.code):
        names = NAME.findall(match.group())
        if len(names) > 1 and names[0] in scope | {"crate", "self", "super"}:
            point(module.resolve(names), match.start())
    return list(found.values())


def through_glob(module, entry):
    """The modules that define what a module names by way of a glob: types, constants and calls."""
    origin = module.resolve(entry.path)
    if origin is None or origin is module:
        return
    names = {name for name in NAME.findall(module.code) if name[0].isupper()}
    names |= set(CALL.findall(module.code))
    for name in names - module.defined:
        yield origin.lookup(name)


def components(graph):
    """Strongly connected components of more than one node (Tarjan's algorithm, no recursion)."""
    index, low, on, stack, out = {}, {}, set(), [], []
    for start in graph:
        if start in index:
            continue
        work = [(start, iter(graph[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on.add(target)
                    work.append((target, iter(graph[target])))
                    break
                if target in on:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = set()
                    while node not in part:
                        part.add(last := stack.pop())
                        on.discard(last)
                    if len(part) > 1:
                        out.append(part)
    return out


def graph_of(root):
    """The arrows between all modules of a crate: {from: {to: offset}}."""
    nodes = {module.path: module for module in modules(root) if is_node(module)}
    graph = {}
    for path, module in nodes.items():
        targets = {target.path: offset for target, offset in arrows(module)}
        graph[path] = {
            target: offset
            for target, offset in targets.items()
            if target in nodes and target != path
        }
    return nodes, graph


def roots(crate):
    """The files that begin a crate: its library and its programs."""
    found = [crate / "src/lib.rs", crate / "src/main.rs", *sorted(crate.glob("src/bin/*.rs"))]
    return [path for path in found if path.is_file()]


def folded(nodes, graph):
    """For each module that holds others: the arrows between these, with all that is below them."""
    levels = {}
    for path, targets in graph.items():
        for target, offset in targets.items():
            depth = next((i for i, (a, b) in enumerate(zip(path, target)) if a != b), None)
            if depth is not None:
                level = levels.setdefault(path[:depth], {})
                level.setdefault(path[: depth + 1], {}).setdefault(
                    target[: depth + 1], (path, target, offset)
                )
                level.setdefault(target[: depth + 1], {})
    return levels.values()


def measure(tree, list=False):
    files, folders = [], []
    for crate in tree.crates():
        single, folder = Tally(tree), Tally(tree)
        for root in roots(crate):
            nodes, graph = graph_of(load(tree, root))
            single.add(
                nodes,
                {
                    path: {to: (path, to, at) for to, at in targets.items()}
                    for path, targets in graph.items()
                },
                list,
            )
            for level in folded(nodes, graph):
                folder.add(nodes, level, list)
        files.append(
            house.Check(
                f"circles.files.{crate.name}", f"{single.count} circles", "0", single.faults
            )
        )
        folders.append(
            house.Check(
                f"circles.folders.{crate.name}", f"{folder.count} circles", "0", folder.faults
            )
        )
    return files + folders


class Tally:
    """Counts circles, and writes down where they are."""

    def __init__(self, tree):
        self.tree, self.count, self.faults = tree, 0, []

    def add(self, nodes, graph, all_arrows):
        for part in components(graph):
            self.count += 1
            arrows = [
                graph[start][end]
                for start in sorted(part)
                for end in sorted(graph[start])
                if end in part
            ]
            labels = ", ".join("::".join(path) or "(root)" for path in sorted(part))
            self.faults.append(self.fault(nodes, arrows[0], f"a circle of {len(part)}: {labels}"))
            for start, end, offset in arrows if all_arrows else ():
                text = f"  {nodes[start].label} → {nodes[end].label}"
                self.faults.append(self.fault(nodes, (start, end, offset), text))

    def fault(self, nodes, arrow, text):
        source = nodes[arrow[0]].source
        return self.tree.fault(source.path, source.line(arrow[2]), text)


if __name__ == "__main__":
    house.main(measure, __doc__, [("--list", "all arrows within each circle")])
