#!/usr/bin/env bash
# All methods of the paper on policy evaluation (n = 10, noise 1, 30,000 rounds, 10 seeds each): the
# wall time of fabnet, and an estimate of the time that NumPy would take for as many rounds. The
# estimate comes from its speed at FAB without noise in the same run. It is a lower bound, because
# the double loops do several times the work of FAB.
#   benches/compare_methods.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. benches/numpy.sh
cargo build --release --locked --quiet -p fabnet
out="$(mktemp -d)"
trap 'rm -r "$out"' EXIT
start="$(date +%s.%N)"
"${CARGO_TARGET_DIR:-target}/release/fabnet" run experiments/paper/comparison.toml --out "$out/comparison"
end="$(date +%s.%N)"
rate="$(OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$python" benches/baselines/numpy_fab/fab.py small 20000)"
awk -v s="$start" -v e="$end" -v rate="$rate" -v threads="$(nproc)" 'BEGIN {
  rounds = 10 * 10 * 30000
  printf "fabnet %.0f s on %d threads for %d rounds; NumPy at least %.0f s on as many\n", e - s, threads, rounds, rounds / rate / threads }'
