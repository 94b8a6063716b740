#!/usr/bin/env python3
"""Looks at the files of a built site: links, requests to other hosts, text alternatives.

    tests/site/check.py DIR

- Every link within the site leads to a file, and to a part of it that is there.
- No script, style, font or image comes from elsewhere, in pages and in styles.
- Every picture has a text alternative of more than two words.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

# Attributes by which a page loads something, without anybody following a link.
LOADS = {"src", "srcset", "poster", "data", "action"}
FEWEST_WORDS = 3
STYLE_LOAD = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])([^"')\s]+)""")


class Page(html.parser.HTMLParser):
    """What one page refers to, and what can be referred to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.pictures, self.parts = [], [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.parts |= {given[name] for name in ("id", "name") if given.get(name)}
        self.loads += [given[name] for name in LOADS if given.get(name)]
        if tag == "link" and given.get("href"):
            self.loads.append(given["href"])
        elif tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag == "img":
            self.pictures.append((given.get("src"), given.get("alt") or ""))


def is_foreign(address):
    parts = urllib.parse.urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def target(page, address):
    """The file that an address of the site leads to, and the part of it."""
    parts = urllib.parse.urlsplit(address)
    path = urllib.parse.unquote(parts.path)
    file = (page.parent / path).resolve() if path else page
    return (file / "index.html" if file.is_dir() else file), urllib.parse.unquote(parts.fragment)


def faults_of(site, path, page, pages):
    name = path.relative_to(site)
    for address in page.loads:
        if is_foreign(address):
            yield f"{name}: loads {address}"
        elif not address.startswith("data:") and not target(path, address)[0].is_file():
            yield f"{name}: loads {address}, which is not there"
    for address in page.links:
        if is_foreign(address):
            continue
        file, part = target(path, address)
        if not file.is_file():
            yield f"{name}: links to {address}, which is not there"
        elif part and file in pages and part not in pages[file].parts:
            yield f"{name}: links to {address}, which has no such part"
    for source, words in page.pictures:
        if len(words.split()) < FEWEST_WORDS:
            yield f"{name}: the picture {source} has no text alternative but {words!r}"


def faults_of_styles(site):
    for path in site.rglob("*.css"):
        for address in STYLE_LOAD.findall(path.read_text(encoding="utf-8")):
            if is_foreign(address):
                yield f"{path.relative_to(site)}: loads {address}"


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = [fault for path, page in pages.items() for fault in faults_of(site, path, page, pages)]
    found += faults_of_styles(site)
    if found:
        sys.exit("\n".join([*found, f"{len(found)} faults"]))
    links = sum(len(page.links) for page in pages.values())
    pictures = sum(len(page.pictures) for page in pages.values())
    print(f"{len(pages)} pages, {links} links, {pictures} pictures: nothing missing, nothing foreign")


if __name__ == "__main__":
    main()
