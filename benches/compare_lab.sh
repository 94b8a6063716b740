#!/usr/bin/env bash
# The cost of the lab: `fabnet run` with records every 20 rounds against the bare loop of the
# engine, with 10 and with 1000 agents.
#   benches/compare_lab.sh [TURNS] [BAR]
# takes the best of TURNS alternating turns (5 if not given). The exit code is 1 if the ratio is
# below BAR (0.9 if not given).
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet -p fabnet -p fabnet-benches
target="${CARGO_TARGET_DIR:-target}/release"
"$target/lab" "$target/fabnet" "${1:-5}" "${2:-0.9}"
