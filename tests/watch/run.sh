#!/usr/bin/env bash
# The page of `fabnet watch` in a real browser: with data that was made up, for every state that it
# can show, and with real runs.
#   tests/watch/run.sh FABNET     the program
# Needs Debian's chromium, node and npm. Works in a folder of its own, under the target directory.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
fabnet="$(realpath "$1")"
work="${CARGO_TARGET_DIR:-$here/../../target}/watch-tests"
mkdir -p "$work/out"
cp "$here"/*.mjs "$here"/data.py "$here"/package.json "$work"
cd "$work"
[ -d node_modules/playwright-core ] || npm install --no-package-lock --no-audit --no-fund --silent
"$fabnet" watch --seed 1 --export out/exported.html > /dev/null
python3 data.py out
node real.mjs "$fabnet"
node nodes.mjs "$fabnet"
node test.mjs
mkdir -p out/pictures
node pictures.mjs "$fabnet" out/pictures
