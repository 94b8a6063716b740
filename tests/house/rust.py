"""Reads Rust without a compiler: code, comments and strings apart, and the items of the code.

`Source` splits a file into code, comments and strings. `code` has the length and the lines of the
file, with blanks in place of everything else, so that an offset in it is an offset in the file.
"""

import bisect
import functools
import pathlib
import re
from dataclasses import dataclass

# What begins a comment or a literal. A lifetime is no character: no second quotation mark follows.
TOKEN = re.compile(
    r"""(?P<line>//[^\n]*)
      | (?P<block>/\*)
      | (?P<raw>\b(?:b|c)?r(?P<hashes>\#*)")
      | (?P<string>\b[bc]"|")
      | (?P<char>\bb'(?:\\.[^']*|[^\\'])'|'(?:\\.[^']*|[^\\'])')
    """,
    re.VERBOSE,
)
STRING_END = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
BLOCK_EDGE = re.compile(r"/\*|\*/")
MARK = re.compile(r"///(?!/)|//!|//")
VISIBLE = re.compile(r"[^\n]")
ESCAPED_LINE_END = re.compile(r"\\\n\s*")


@dataclass(frozen=True)
class Comment:
    """A comment; `text` is without its slashes, `mark` is one of `//`, `///`, `//!`, `/*`."""

    line: int
    mark: str
    text: str
    alone: bool  # nothing but blanks before it on its line


@dataclass(frozen=True)
class Literal:
    """A string; `text` is as written, escapes included, but without escaped line ends."""

    line: int
    text: str


@dataclass(frozen=True)
class Item:
    """An item: `kind` is its keyword, `start` and `end` are offsets of its first and last letter.

    `within` is the kind of the item that directly holds it ("" at the top of a file), `blocks`
    names the modules that are written out in the same file around it.
    """

    kind: str
    name: str
    start: int
    end: int
    within: str
    blocks: tuple[str, ...]
    test: bool


class Source:
    """One file of Rust."""

    def __init__(self, text, path=pathlib.Path("sample.rs")):
        self.path, self.text = path, text
        self.comments, self.strings = [], []
        self._lines = [0] + [match.end() for match in re.finditer("\n", text)]
        self.code = self._split()

    def line(self, offset):
        return bisect.bisect_right(self._lines, offset)

    @functools.cached_property
    def items(self):
        return parse(self.code)

    @functools.cached_property
    def without_tests(self):
        """The code, with blanks in place of what is compiled for tests only."""
        code = self.code
        for item in self.items:
            if item.test:
                code = (
                    code[: item.start]
                    + blank(code[item.start : item.end + 1])
                    + code[item.end + 1 :]
                )
        return code

    def _split(self):
        text, pieces, at = self.text, [], 0
        while match := TOKEN.search(text, at):
            kind, start = match.lastgroup, match.start()
            if kind == "hashes":
                kind = "raw"
            end = self._end(kind, match)
            pieces.append(text[at:start])
            self._keep(kind, start, end, match)
            # Quotation marks stay, so that a string is still seen to be an expression.
            quoted = kind in ("raw", "string") and end - start >= 2
            pieces.append(
                '"' + blank(text[start + 1 : end - 1]) + '"' if quoted else blank(text[start:end])
            )
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def _end(self, kind, match):
        text, end = self.text, match.end()
        if kind == "string":
            found = STRING_END.match(text, end)
            return found.end() if found else len(text)
        if kind == "raw":
            closing = '"' + match["hashes"]
            found = text.find(closing, end)
            return found + len(closing) if found >= 0 else len(text)
        if kind == "block":
            depth = 1
            while depth and (edge := BLOCK_EDGE.search(text, end)):
                depth += 1 if edge.group() == "/*" else -1
                end = edge.end()
        return end

    def _keep(self, kind, start, end, match):
        text = self.text
        if kind == "line":
            mark = MARK.match(match.group()).group()
            line = self.line(start)
            alone = not text[self._lines[line - 1] : start].strip()
            self.comments.append(Comment(line, mark, match.group()[len(mark) :], alone))
        elif kind == "block":
            for number, part in enumerate(text[start + 2 : end - 2].split("\n")):
                self.comments.append(Comment(self.line(start) + number, "/*", part, True))
        elif kind in ("raw", "string"):
            inside = text[match.end() : end - 1 - len(match["hashes"] or "")]
            self.strings.append(Literal(self.line(start), ESCAPED_LINE_END.sub("", inside)))


def blank(text):
    return VISIBLE.sub(" ", text)


def read(path):
    return Source(path.read_text(encoding="utf-8"), path)


# What can begin or end an item, in code without comments and strings.
PART = re.compile(
    r"""(?P<attribute>\#!?\s*\[)
      | (?P<named>\b(?:fn|struct|enum|union|trait|type|mod|static|macro_rules!)\s+
                  (?P<name>[A-Za-z_]\w*))
      | (?P<const>\bconst\s+(?P<const_name>[A-Za-z_]\w*)\s*:)
      | (?P<bare>\b(?:impl|use)\b)
      | (?P<edge>[{}()\[\];=])
    """,
    re.VERBOSE,
)
# What may stand between the end of one item and the keyword of the next.
LEAD = re.compile(
    r'(?:^|[;{}\]])\s*(?:(?:pub(?:\s*\([^)]*\))?|unsafe|async|const|default|extern|"\s*")\s*)*$'
)
TEST = re.compile(
    r"#\s*\[\s*(?:cfg\s*\(\s*(?:all\s*\(\s*)?test\s*[,)]|test\s*\]|(?:proptest|tokio)::test)"
)


class Open:
    """A bracket that is not closed yet, and the item whose body it opens, if it does."""

    def __init__(self, bracket, item=None):
        self.bracket, self.item = bracket, item


class Pending:
    """An item whose body or semicolon is still to come."""

    def __init__(self, kind, name, start, depth, test):
        self.kind, self.name, self.start, self.depth, self.test = kind, name, start, depth, test


def parse(code):
    """The items of a file, those within others too, in the order in which they end."""
    items, stack, pending = [], [], None
    marked, first_mark = (
        False,
        None,
    )  # whether attributes before the next item make it a test, and where they begin
    at = 0

    def finish(item, end):
        holders = [bracket.item for bracket in stack if bracket.item]
        within = holders[-1].kind if holders else ""
        blocks = tuple(holder.name for holder in holders if holder.kind == "mod")
        test = item.test or any(holder.test for holder in holders)
        items.append(Item(item.kind, item.name, item.start, end, within, blocks, test))

    while match := PART.search(code, at):
        at = match.end()
        kind = match.lastgroup
        if kind == "attribute":
            at = closing(code, match.end() - 1)
            if "!" not in match.group():
                first_mark = match.start() if first_mark is None else first_mark
                marked = marked or bool(TEST.match(code, match.start(), at))
        elif kind == "edge":
            sign = match.group()
            if sign in "{([":
                body = pending if sign == "{" and pending and len(stack) == pending.depth else None
                stack.append(Open(sign, body))
                pending = None if body else pending
            elif sign in "})]":
                if stack:
                    opened = stack.pop()
                    if opened.item and sign == "}":
                        finish(opened.item, match.start())
            elif sign == ";" and pending and len(stack) == pending.depth:
                finish(pending, match.start())
                pending = None
            if sign in "{};":
                marked, first_mark = False, None
        else:
            head = code[max(0, match.start() - 200) : match.start()]
            if pending and len(stack) >= pending.depth:
                continue  # a type or a bound within the head of an item
            if not LEAD.search(head):
                continue  # `impl Trait` in a type, `fn(…)` as a type, `use` in a name
            start = match.start() if first_mark is None else first_mark
            word = match.group().split()[0]
            name = match["name"] or match["const_name"] or ""
            pending = Pending(word, name, start, len(stack), marked)
            marked, first_mark = False, None
            if match["const"]:
                at = match.end()
    return items


def closing(code, at):
    """The offset after the bracket that closes the one at `at`."""
    depth = 0
    for match in re.compile(r"[\[\](){}]").finditer(code, at):
        depth += 1 if match.group() in "[({" else -1
        if depth == 0:
            return match.end()
    return len(code)
