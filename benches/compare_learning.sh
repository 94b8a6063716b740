#!/usr/bin/env bash
# An epoch of FAB on Fashion-MNIST (ten agents, batches of 64) with fabnet and with PyTorch: the same passes and mixing, the same threads, in one run; and the gradient of the
# perceptron beside the bare products of matrices it consists of.
#   benches/compare_learning.sh [TURNS] [BAR] [HIDDEN]      best of so many alternating turns (3); exit code 1 below the bar (2 times as fast)
set -euo pipefail
cd "$(dirname "$0")/.."
turns="${1:-3}" bar="${2:-2}" hidden="${3:-256}"
export FABNET_DATA="${FABNET_DATA:-$(cd .. && pwd)/shared/data}"
. benches/peers/torch.sh
cargo build --release --locked --quiet -p fabnet-benches
ours="${CARGO_TARGET_DIR:-target}/release/learning"
"$ours" gradient "$hidden"
failed=0
for threads in 1 "$(nproc)"; do
  fabnet=999999 torch=999999
  least() { awk -v a="$1" -v b="$2" 'BEGIN { print (a < b) ? a : b }'; }
  for _ in $(seq "$turns"); do
    fabnet="$(least "$fabnet" "$("$ours" epoch "$threads" 1 "$hidden" | cut -d' ' -f1)")"
    torch="$(least "$torch" "$("$python" benches/peers/fashion_epoch.py "$threads" 1 "$hidden" | cut -d' ' -f1)")"
  done
  awk -v threads="$threads" -v ours="$fabnet" -v theirs="$torch" -v bar="$bar" 'BEGIN {
    printf "%d threads: fabnet %.2f s an epoch, PyTorch %.2f s: %.2f times as fast (bar %.1f)\n", threads, ours, theirs, theirs / ours, bar; exit theirs / ours < bar }' || failed=1
done
exit "$failed"
