#!/usr/bin/env bash
# An epoch of FAB on Fashion-MNIST (ten agents, batches of 64) with fabnet and with PyTorch: the
# same passes and mixing, the same number of threads, in one run. It also compares the gradient of
# the perceptron with the bare matrix products that it consists of.
#   benches/compare_learning.sh [TURNS] [BAR] [HIDDEN]
# takes the best of TURNS alternating turns (3 if not given). The exit code is 1 if fabnet is less
# than BAR times as fast (2 if not given).
set -euo pipefail
cd "$(dirname "$0")/.."
turns="${1:-3}" bar="${2:-2}" hidden="${3:-256}"
: "${FABNET_DATA:?set it to the folder of data sets}"
. benches/baselines/torch.sh
cargo build --release --locked --quiet -p fabnet-benches
ours="${CARGO_TARGET_DIR:-target}/release/learning"
"$ours" gradient "$hidden"
failed=0
for threads in 1 "$(nproc)"; do
  fabnet=999999 torch=999999
  least() { awk -v a="$1" -v b="$2" 'BEGIN { print (a < b) ? a : b }'; }
  for _ in $(seq "$turns"); do
    fabnet="$(least "$fabnet" "$("$ours" epoch "$threads" 1 "$hidden" | cut -d' ' -f1)")"
    torch="$(least "$torch" "$("$python" benches/baselines/fashion_epoch.py "$threads" 1 "$hidden" | cut -d' ' -f1)")"
  done
  awk -v threads="$threads" -v ours="$fabnet" -v theirs="$torch" -v bar="$bar" 'BEGIN {
    printf "%d threads: fabnet %.2f s an epoch, PyTorch %.2f s: %.2f times as fast (bar %.1f)\n", threads, ours, theirs, theirs / ours, bar; exit theirs / ours < bar }' || failed=1
done
exit "$failed"
