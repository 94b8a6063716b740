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
# A listener that does nothing, against a cache of old browsers; new ones warn of it.
sed -i '/^window\.onunload = function() { };$/d' "$to"/book-*.js
