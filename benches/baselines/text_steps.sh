#!/usr/bin/env bash
# FAB fine-tuning a BERT, four agents, batches of 4 × 128 tokens: seconds of a step with fabnet and
# with PyTorch, one thread an agent, as many agents at a time as there are cores.
#   benches/baselines/text_steps.sh [STEPS] [BAR]
# has exit code 1 if fabnet takes more than BAR (2.5) times as long as PyTorch.
# The model and the reviews are the folders `bert` and `imdb` under FABNET_DATA. That both compute
# the same is a test: crates/burn/tests/it/bert.rs.
set -euo pipefail
cd "$(dirname "$0")/../.."
steps="${1:-5}" bar="${2:-2.5}"
: "${FABNET_DATA:?set it to the folder of data sets}"
[ -f "$FABNET_DATA/bert/model.safetensors" ] || { echo "no model in $FABNET_DATA/bert: set FABNET_DATA to the folder of data" >&2; exit 1; }
. benches/baselines/torch.sh
# All features of the workspace: burn is built once for this and for the tests.
cargo build --release --locked --quiet --all-features --bin fabnet
out="$(mktemp -d)"
trap 'rm -r "$out"' EXIT
"${CARGO_TARGET_DIR:-target}/release/fabnet" run experiments/paper/text-fine-tuning.toml --out "$out/run" --quiet \
  --set rounds="$steps" --set record.every="$steps" --set 'record.metrics=["mass_residual"]'
ours="$(tail -1 "$out/run/records.csv" | awk -F, -v steps="$steps" '{ print $5 / steps }')"
OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TRANSFORMERS_VERBOSITY=error HF_HUB_DISABLE_PROGRESS_BARS=1 \
  "$python" benches/baselines/torch_text/steps.py "$FABNET_DATA/bert" "$steps" | tee "$out/torch"
theirs="$(awk '/seconds of a step/ { print $5 }' "$out/torch")"
awk -v ours="$ours" -v theirs="$theirs" -v bar="$bar" 'BEGIN {
  printf "fabnet %.2f s a step, PyTorch %.2f s: %.2f times as long (bar %.2f)\n", ours, theirs, ours / theirs, bar; exit ours / theirs > bar }'
