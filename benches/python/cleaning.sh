#!/usr/bin/env bash
# Cleaning data with gradients of PyTorch and of JAX, beside the gradients of this project: same shares, same seed, same settings, accuracies within a point. Runs the tests of fabnet.torch, too.
#   benches/python/cleaning.sh          needs FABNET_DATA; installs PyTorch (for CPUs) and JAX into an environment of its own, which takes a while
set -euo pipefail
cd "$(dirname "$0")/../.."
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fabnet/learning"
results="$(mktemp -d)"
trap 'rm -r "$results"' EXIT
cargo build --release --locked --quiet --bin fabnet
fabnet="${CARGO_TARGET_DIR:-$PWD/target}/release/fabnet"
[ -d "$cache" ] || python3 -m venv "$cache"
"$cache/bin/pip" install --quiet torch jax safetensors pytest psutil .
"$cache/bin/python" -m pytest -q python/tests/test_torch.py python/tests/test_jax.py

"$fabnet" data divide examples/python/cleaning.toml --out "$results/shares"
"$fabnet" run examples/python/cleaning.toml --out "$results/own" --quiet
ours="$(tail -1 "$results/own/records.csv" | cut -d, -f7)"
echo "with gradients of this project: accuracy $ours"
for library in torch jax; do
  theirs="$("$cache/bin/python" "examples/python/cleaning_$library.py" "$results/shares" 2>/dev/null)"
  echo "with gradients of $library: $theirs"
  awk -v a="$ours" -v b="$(cut -d' ' -f2 <<<"$theirs" | tr -d ,)" 'BEGIN { exit !(a - b < 0.01 && b - a < 0.01) }' || { echo "more than a point apart"; exit 1; }
done
