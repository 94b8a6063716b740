#!/usr/bin/env bash
# Automatic step sizes against the best fixed setting, cell by cell: problems, networks, numbers of
# agents, methods, noise.
#   experiments/steps/run.sh          the rest of all cells (hours): goes on where cells.tsv ends
#   experiments/steps/run.sh 60       a sample of 60 cells, in a file of its own
# Prints the table, and for all cells draws docs/figures/steps.svg.
set -euo pipefail
cd "$(dirname "$0")/../.."
cells=experiments/steps/cells.tsv
figure=docs/figures/steps.svg
if [ $# -gt 0 ]; then
  cells="$(mktemp)"
  figure="$cells.svg"
fi
cargo run --release --locked --quiet -p fabnet-benches --bin yardstick -- "$cells" "${1:-full}"
benches/steps/table.py "$cells" "$figure"
