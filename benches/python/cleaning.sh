#!/usr/bin/env bash
# Data hyper-cleaning with gradients of PyTorch, of JAX and of this project: with the same data,
# seed and settings, the accuracies differ by less than one percentage point. Runs the tests of
# fabnet.torch first.
#   benches/python/cleaning.sh
# reads Fashion-MNIST from the folder FABNET_DATA.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${FABNET_DATA:?set it to the folder of data sets}"
. benches/baselines/torch.sh
results="$(mktemp -d)"
trap 'rm -r "$results"' EXIT
cargo build --release --locked --quiet --all-features --bin fabnet
fabnet="${CARGO_TARGET_DIR:-target}/release/fabnet"
"$python" -m pip install --quiet jax safetensors pytest psutil .
"$python" -m pytest -q python/tests/test_torch.py python/tests/test_jax.py

"$fabnet" data divide examples/python/cleaning.toml --out "$results/shares"
"$fabnet" run examples/python/cleaning.toml --out "$results/own" --quiet
ours="$(tail -1 "$results/own/records.csv" | cut -d, -f7)"
echo "with gradients of this project: accuracy $ours"
for library in torch jax; do
  theirs="$("$python" "examples/python/cleaning_$library.py" "$results/shares" 2>/dev/null)"
  echo "with gradients of $library: $theirs"
  awk -v a="$ours" -v b="$(cut -d' ' -f2 <<<"$theirs" | tr -d ,)" 'BEGIN { exit !(a - b < 0.01 && b - a < 0.01) }' || { echo "more than a point apart"; exit 1; }
done
