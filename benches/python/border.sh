#!/usr/bin/env bash
# What it costs to bring gradients from Python: see border.py.
#   benches/python/border.sh [ROUNDS]     300 if not given
set -euo pipefail
cd "$(dirname "$0")/../.."
environment="$(mktemp -d)"
trap 'rm -r "$environment"' EXIT
cargo build --release --locked --quiet --bin fabnet
export FABNET_COMMAND="${CARGO_TARGET_DIR:-$PWD/target}/release/fabnet"
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet .
# One thread each: what is compared is the work, not the cores.
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$environment/bin/python" benches/python/border.py "${1:-300}"
