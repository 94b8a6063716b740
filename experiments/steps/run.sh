#!/usr/bin/env bash
# Automatic step sizes against the best fixed setting, cell by cell: problems, networks, numbers of
# agents, methods, noise.
#   experiments/steps/run.sh          the rest of all cells (hours): goes on where cells.tsv ends
#   experiments/steps/run.sh 60       a sample of 60 cells, in a file of its own
#   experiments/steps/run.sh again 60 runs only automatic step sizes in a sample of 60 cells, and
#                                     fails if one is worse than in cells.tsv (minutes; full: all)
# Prints the table, and for all cells draws docs/figures/steps.svg.
set -euo pipefail
cd "$(dirname "$0")/../.."
cells=experiments/steps/cells.tsv
figure=docs/figures/steps.svg
yardstick() { cargo run --release --locked --quiet -p fabnet-benches --bin yardstick -- "$@"; }
if [ "${1:-}" = again ]; then
  found="$(mktemp)"
  yardstick "$found" "${2:-full}" "$cells" > /dev/null
  exec benches/steps/again.py "$cells" "$found"
fi
if [ $# -gt 0 ]; then
  cells="$(mktemp)"
  figure="$cells.svg"
fi
yardstick "$cells" "${1:-full}"
benches/steps/table.py "$cells" "$figure"
