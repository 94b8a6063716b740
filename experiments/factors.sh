#!/usr/bin/env bash
# What saves bytes, as one table: the method, its step sizes, the network, and the length of words.
#   experiments/factors.sh [RUNS]      results stay in RUNS, or in runs/factors if none is given
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-runs/factors}"
for name in factors factors-words; do
  if [ ! -s "$runs/$name/summary.json" ]; then
    cargo run --release --locked --quiet --bin fabnet -- run "experiments/$name.toml" --out "$runs/$name"
  fi
  experiments/bytes_table.py "$runs/$name"
done
