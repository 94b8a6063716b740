#!/usr/bin/env bash
# FAB on policy evaluation: rounds per second of fabnet against NumPy/SciPy, in turns within one run, the best of each.
#   benches/compare_numpy.sh [TURNS]      prints both figures and their ratio; default 5 turns
set -euo pipefail
cd "$(dirname "$0")/.."
turns="${1:-5}"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fabnet"
python="$cache/venv/bin/python"
if ! "$python" -c 'import numpy, scipy' 2>/dev/null; then
  python3 -m venv "$cache/venv"
  "$python" -m pip install --quiet numpy scipy
fi
cargo build --release --locked --quiet -p fabnet-benches
ours="${CARGO_TARGET_DIR:-target}/release/rounds"
theirs="$python benches/peers/numpy_fab/fab.py"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

best() { sort -g | tail -n 1; }
compare() { # name, setting, our rounds, our threads, their rounds
  local a="" b=""
  for _ in $(seq "$turns"); do
    a+="$("$ours" "$2" "$3" "$4")"$'\n'
    b+="$($theirs "$2" "$5")"$'\n'
  done
  awk -v name="$1" -v a="$(printf %s "$a" | best)" -v b="$(printf %s "$b" | best)" \
    'BEGIN { printf "%-46s fabnet %9.0f  numpy %7.0f rounds/s  ratio %5.1f\n", name, a, b, a / b }'
}
compare "n=10, phases, one thread" small 100000 1 20000
compare "n=1000, redrawn every round, one thread" large 500 1 60
compare "n=1000, redrawn every round, all threads" large 500 "$(nproc)" 60
