#!/usr/bin/env bash
# The documentation site: whether its generated pages are as they are made, and whether the built
# site is whole, loads nothing from elsewhere, is accessible and follows best practices.
#   tests/site/run.sh [PICTURES]     also takes pictures of all pages at two widths
# Needs mdBook, Debian's chromium, node and npm. Works under the target directory.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
pictures="${1:+$(realpath -m "$1")}"
work="$(realpath -m "${CARGO_TARGET_DIR:-$here/../../target}/site-tests")"
mkdir -p "$work"
"$here/../../site/generate.py" --check
"$here/../../site/build.sh" "$work/site"
python3 "$here/check.py" "$work/site"
cp "$here"/*.mjs "$work"
cd "$work"
# Again whenever other packages are named.
if ! cmp -s "$here/package.json" package.json; then
  cp "$here/package.json" .
  npm install --no-package-lock --no-audit --no-fund --silent || { rm package.json; exit 1; }
fi
node browser.mjs "$work/site" ${pictures:+"$pictures"}
node audit.mjs "$work/site"
