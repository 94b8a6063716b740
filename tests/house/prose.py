#!/usr/bin/env python3
"""Comments, documents and messages: how wide, how short, and in whose words.

    tests/house/prose.py

Five checks:
- prose.comments: no line of a comment in Rust is wider than 100 columns, nor is a line of code that
  a comment ends;
- prose.markdown: nor is a line of Markdown, except in tables, blocks of code, headings, links that
  stand alone, and the files of unwrapped.tsv;
- prose.scripts: nor is a line of a comment in shell, Python or TOML;
- prose.short: no doc comment has two words or fewer;
- prose.wordings: none of the wordings of wordings.tsv stands in a comment, a document or a message.
"""

import ast
import csv
import io
import re
import tokenize
from dataclasses import dataclass

import house

WIDEST = 100
RUST = ("crates", "benches", "examples", "fuzz")
# Files without a suffix that are scripts.
SCRIPTS = (".ci/run", "release/check")
LINK_ALONE = re.compile(
    r"^(?:[-*>]\s+)?(?:!?\[.*\]\(\S+\)|\[[^\]]*\]:\s*\S+|<?https?://\S+>?)[.,;:]?$"
)
# Inline code, the targets of links and what is filled in hold names, not words.
NOT_WORDS = re.compile(r"(`+)[^`].*?\1|\]\([^)]*\)|<!--.*?-->|\{\{.*?\}\}|\{[^{}\n]*\}", re.DOTALL)


@dataclass(frozen=True)
class Paragraph:
    """Consecutive lines of prose, joined by line ends; `line` is that of the first."""

    path: object
    line: int
    text: str


def listed(name):
    """The rows of a table of this folder, without its comments."""
    with (house.HERE / name).open(encoding="utf-8") as lines:
        return [
            row
            for row in csv.reader(
                (line for line in lines if not line.startswith("#")),
                delimiter="\t",
                quoting=csv.QUOTE_NONE,
            )
            if row
        ]


def wide_comments(tree):
    for source in tree.sources(*RUST):
        lines = source.text.split("\n")
        for number in sorted({comment.line for comment in source.comments}):
            if len(lines[number - 1]) > WIDEST:
                yield tree.fault(source.path, number, f"{len(lines[number - 1])} columns")


def doc_blocks(source):
    """Doc comments, each as (line, words)."""
    block, previous = [], None
    for comment in source.comments:
        follows = previous and (comment.line, comment.mark) == (previous.line + 1, previous.mark)
        if not follows and block:
            yield block[0].line, " ".join(part.text for part in block).split()
        if comment.mark in ("///", "//!"):
            block = [*block, comment] if follows else [comment]
            previous = comment
        else:
            block, previous = [], None
    if block:
        yield block[0].line, " ".join(part.text for part in block).split()


def short_docs(tree):
    for source in tree.sources(*RUST):
        for line, words in doc_blocks(source):
            if len(words) <= 2:
                yield tree.fault(source.path, line, f'only "{" ".join(words)}"')


def markdown_lines(text):
    """The lines of a document that are prose: (number, line)."""
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if fence:
            fence = None if stripped.startswith(fence) and not stripped.strip(fence[0]) else fence
            continue
        if match := re.match(r"(`{3,}|~{3,})", stripped):
            fence = match.group(1)
            continue
        if not (line.startswith("    ") and not re.match(r"\s*(?:[-*]|\d+\.)\s", line)):
            yield number, line


def wide_markdown(tree):
    generated = {row[0] for row in listed("unwrapped.tsv")}
    for path in tree.files(".md"):
        if tree.name(path) in generated:
            continue
        for number, line in markdown_lines(path.read_text(encoding="utf-8")):
            stripped = line.strip()
            kept = stripped.startswith(("|", "#", "<!--")) or LINK_ALONE.match(stripped)
            if len(line) > WIDEST and not kept:
                yield tree.fault(path, number, f"{len(line)} columns")


def script_files(tree):
    return [
        *tree.files(".sh", ".py", ".toml"),
        *(tree.root / name for name in SCRIPTS if (tree.root / name).is_file()),
    ]


def wide_scripts(tree):
    for path in script_files(tree):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if len(line) > WIDEST and line.lstrip().startswith("#") and not line.startswith("#!"):
                yield tree.fault(path, number, f"{len(line)} columns")


def rust_prose(tree):
    """Comments, and strings of more than one word: messages and help."""
    for source in tree.sources(*RUST):
        yield from joined(
            source.path, [(comment.line, comment.text) for comment in source.comments]
        )
        for literal in source.strings:
            if " " in literal.text:
                yield Paragraph(source.path, literal.line, literal.text)


def markdown_prose(tree):
    for path in tree.files(".md"):
        yield from joined(path, markdown_lines(path.read_text(encoding="utf-8")))


def toml_prose(tree):
    for path in tree.files(".toml", under=("experiments",)):
        lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        yield from joined(
            path, [(number, line.lstrip("# ")) for number, line in lines if line.startswith("#")]
        )


def python_prose(tree):
    for path in tree.files(".py", under=("python",)):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield Paragraph(path, node.lineno, node.value)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        yield from joined(
            path,
            [
                (token.start[0], token.string[1:])
                for token in tokens
                if token.type == tokenize.COMMENT
            ],
        )


def joined(path, lines):
    """Lines that follow each other, as paragraphs: a wording may go over the end of a line."""
    block, last = [], None
    for number, text in lines:
        if block and (number != last + 1 or not text.strip()):
            yield Paragraph(path, block[0][0], "\n".join(line for _, line in block))
            block = []
        if text.strip():
            block.append((number, text))
            last = number
    if block:
        yield Paragraph(path, block[0][0], "\n".join(line for _, line in block))


def pattern(wording):
    """A wording as an expression: blanks are any blanks, … is anything within a sentence."""
    words = [r"[^.]{0,120}?" if word == "…" else re.escape(word) for word in wording.split()]
    edge = r"\b" if wording[-1].isalnum() else ""
    return re.compile(
        r"\b" + r"\s+".join(words).replace(r"\s+[^.]{0,120}?\s+", r"\b[^.]{0,120}?\b") + edge,
        re.IGNORECASE,
    )


def wordings():
    """Each as (wording, what to write, expression, exceptions)."""
    for wording, instead, *rest in listed("wordings.tsv"):
        exceptions = re.compile(rest[0], re.IGNORECASE) if rest and rest[0] else None
        yield wording, instead, pattern(wording), exceptions


def found_in(paragraph, known):
    """Wordings in a paragraph: (line, wording, what to write)."""
    text = NOT_WORDS.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), paragraph.text)
    for wording, instead, expression, exceptions in known:
        spans = None
        for match in expression.finditer(text):
            if spans is None:
                spans = (
                    [excepted.span() for excepted in exceptions.finditer(paragraph.text)]
                    if exceptions
                    else []
                )
            if not any(start <= match.start() and match.end() <= end for start, end in spans):
                yield paragraph.line + text.count("\n", 0, match.start()), wording, instead


def used_wordings(tree):
    known = list(wordings())
    for collect in (rust_prose, markdown_prose, toml_prose, python_prose):
        for paragraph in collect(tree):
            for line, wording, instead in found_in(paragraph, known):
                yield tree.fault(paragraph.path, line, f'"{wording}": write {instead}')


def measure(tree):
    columns = f"≤ {WIDEST} columns"
    checks = [
        ("comments", wide_comments, columns),
        ("markdown", wide_markdown, columns),
        ("scripts", wide_scripts, columns),
        ("short", short_docs, "more than two words"),
        ("wordings", used_wordings, "none"),
    ]
    found = [(name, list(find(tree)), bar) for name, find, bar in checks]
    return [
        house.Check(f"prose.{name}", f"{len(faults)} places", bar, faults)
        for name, faults, bar in found
    ]


if __name__ == "__main__":
    house.main(measure, __doc__)
