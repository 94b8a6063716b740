#!/usr/bin/env bash
# FAB on policy evaluation: rounds per second of fabnet against NumPy/SciPy, in turns within one
# run, the best of each.
#   benches/compare_numpy.sh [TURNS] [SHARE]
# prints both figures, their ratio and the bar for it. TURNS is 5 if not given. With a SHARE (such
# as 0.5) the script fails if a ratio is below that share of its bar: a guard against regressions on
# machines too noisy for the bar itself.
set -euo pipefail
cd "$(dirname "$0")/.."
turns="${1:-5}"
share="${2:-0}"
. benches/numpy.sh
cargo build --release --locked --quiet -p fabnet-benches
ours="${CARGO_TARGET_DIR:-target}/release/rounds"
theirs="$python benches/baselines/numpy_fab/fab.py"
threads="$(nproc)" # before the next line, because nproc respects OMP_NUM_THREADS
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

best() { sort -g | tail -n 1; }
compare() { # name, bar, our setting, our rounds, our threads, their setting, their rounds
  local a="" b=""
  for _ in $(seq "$turns"); do
    a+="$("$ours" "$3" "$4" "$5")"$'\n'
    b+="$($theirs "$6" "$7")"$'\n'
  done
  awk -v name="$1" -v bar="$2" -v share="$share" -v a="$(printf %s "$a" | best)" -v b="$(printf %s "$b" | best)" 'BEGIN {
    printf "%-42s fabnet %7.0f  numpy %6.0f rounds/s  ratio %5.1f  (bar %s)\n", name, a, b, a / b, bar ? bar : "none"
    exit a / b < share * bar }'
}
compare "n=10, phases, one thread" 10 small 100000 1 small 20000
compare "n=1000, redrawn every round, one thread" 0 large 1000 1 large 40
compare "n=1000, redrawn every round, all threads" 15 large 1500 "$threads" large 40
compare "the same, against careful NumPy" 0 large 1500 "$threads" large-careful 150
