#!/usr/bin/env bash
# Makes the documentation site in target/site.
#   site/build.sh [DIR]      or in another folder
# Needs mdBook (`cargo install --locked mdbook`) and Python. Open index.html in a browser, or serve
# the folder by any web server: search works in both cases.
set -euo pipefail
cd "$(dirname "$0")/.."
to="$(realpath -m "${1:-target/site}")"
mdbook build --dest-dir "$to"
python3 site/links.py copy "$to"
