#!/usr/bin/env bash
# The cost of gradients from Python: border.py describes what is measured.
#   benches/python/border.sh [ROUNDS]
# runs 300 rounds if ROUNDS is not given.
set -euo pipefail
cd "$(dirname "$0")/../.."
environment="$(mktemp -d)"
trap 'rm -r "$environment"' EXIT
cargo build --release --locked --quiet --bin fabnet
export FABNET_COMMAND="${CARGO_TARGET_DIR:-$PWD/target}/release/fabnet"
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet .
# One thread each, because the work is compared and not the use of the cores.
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "$environment/bin/python" benches/python/border.py "${1:-300}"
