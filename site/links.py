#!/usr/bin/env python3
"""Makes addresses of the site of links between documents of the repository.

    site/links.py            a preprocessor of mdBook: a book as JSON comes in, a book goes out
    site/links.py copy DIR   adds to a built site the files of the repository that it links to

Documents link to each other as they lie in the repository, so that links work in a clone as well.
A page that consists of `{{#include FILE}}` takes in a whole document from outside of docs/, and
links to that document lead to the page. A link to any other file leads to a copy of it, under
source/. A link to a folder becomes plain text. A link to nothing is an error.
"""

import html
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
INCLUDE = re.compile(r"\{\{#include (?P<path>\S+)\}\}\s*")
# Text in brackets, then a target without blanks in parentheses.
LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\[\]]*(?:!?\[[^\]]*\][^\[\]]*)*)\]\((?P<target>[^()\s]+)\)")
FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1\s*?$", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"[a-z]+:|#")
SOURCE = re.compile(r'href="(?:\.\./)*source/(?P<path>[^"#]+)\.html')
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><meta name="description" content="The file {name} of the repository of fabnet">
<link rel="icon" href="data:,"><style>pre {{ overflow-x: auto; }}</style></head>
<body><main><h1>{name}</h1><pre tabindex="0">{text}</pre></main></body>
</html>
"""


def chapters(items):
    """All chapters of a book, in order."""
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def included(chapter):
    """The document that makes up a chapter, if it is one from outside."""
    match = INCLUDE.fullmatch(chapter["content"].strip())
    return match and (DOCS / chapter["path"]).parent.joinpath(match["path"]).resolve()


class Rewriter:
    """Rewrites the links of one chapter. `home` is the folder that they are relative to."""

    def __init__(self, pages, chapter, home):
        self.pages, self.home = pages, home
        self.folder = (DOCS / chapter["path"]).parent
        self.name = chapter["path"]

    def address(self, path):
        """The address of a file of the repository, as seen from this chapter; None for a folder."""
        if path in self.pages:
            path = DOCS / self.pages[path]
        elif path.is_dir():
            return None
        elif not path.is_file():
            sys.exit(f"docs/{self.name}: a link leads to {path}, which is not there")
        elif DOCS not in path.parents:
            # Not `.md.html`: mdBook would take that for a page of its own.
            path = DOCS / "source" / (str(path.relative_to(ROOT)).replace(".", "~") + ".html")
        return os.path.relpath(path, self.folder)

    def link(self, match):
        if ELSEWHERE.match(match["target"]):
            return match[0]
        path, mark, anchor = match["target"].partition("#")
        address = self.address(pathlib.Path(os.path.normpath(self.home / path)))
        text = LINK.sub(self.link, match["text"])
        return f"{match['image']}[{text}]({address}{mark}{anchor})" if address else text

    def text(self, content):
        """A text with its links rewritten, except in blocks of code."""
        done, kept = 0, []
        for block in FENCE.finditer(content):
            kept += [LINK.sub(self.link, content[done : block.start()]), block[0]]
            done = block.end()
        return "".join(kept) + LINK.sub(self.link, content[done:])


def preprocess(book):
    items = book.get("items", book.get("sections"))
    found = list(chapters(items))
    pages = {}
    for chapter in found:
        pages[DOCS / chapter["path"]] = chapter["path"]
        if document := included(chapter):
            pages[document] = chapter["path"]
    for chapter in found:
        document = included(chapter)
        home = document.parent if document else (DOCS / chapter["path"]).parent
        content = document.read_text(encoding="utf-8") if document else chapter["content"]
        chapter["content"] = Rewriter(pages, chapter, home).text(content)
    return book


def copy(site):
    """Writes a page for each file of the repository that a page of the site links to."""
    linked = {
        match["path"]
        for page in site.rglob("*.html")
        for match in SOURCE.finditer(page.read_text(encoding="utf-8"))
    }
    for name in sorted(linked):
        target = site / "source" / f"{name}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        path = name.replace("~", ".")
        text = html.escape((ROOT / path).read_text(encoding="utf-8"))
        target.write_text(PAGE.format(name=path, text=text), encoding="utf-8")
    print(f"{len(linked)} files of the repository copied to {site / 'source'}")


def main():
    if sys.argv[1:2] == ["supports"]:
        sys.exit(sys.argv[2] != "html")
    if sys.argv[1:2] == ["copy"]:
        copy(pathlib.Path(sys.argv[2]))
        return
    _, book = json.load(sys.stdin)
    json.dump(preprocess(book), sys.stdout)


if __name__ == "__main__":
    main()
