#!/usr/bin/env bash
# What the lab costs: `fabnet run` with records every 20 rounds against the bare engine's loop, at 10 and at 1000 agents.
# benches/compare_lab.sh [TURNS] [BAR]: best of so many alternating turns (5); exit code 1 below the bar (0.9).
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet -p fabnet -p fabnet-benches
target="${CARGO_TARGET_DIR:-target}/release"
"$target/lab" "$target/fabnet" "${1:-5}" "${2:-0.9}"
