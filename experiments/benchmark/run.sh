#!/usr/bin/env bash
# Carries out the cells of the benchmark that have no result yet, and makes docs/benchmark.md.
#   experiments/benchmark/run.sh              the standard size; goes on where it was
#   experiments/benchmark/run.sh --full       the full product
#   experiments/benchmark/run.sh --cells 100  until 100 cells have a result
#   experiments/benchmark/run.sh page         the page alone
# Other arguments are those of `fabnet bench run`. FABNET is the command, if it is built already.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=experiments/benchmark
fabnet() {
  if [ -n "${FABNET:-}" ]; then "$FABNET" "$@"; else cargo run --release --locked --quiet -p fabnet -- "$@"; fi
}
if [ "${1:-}" != page ]; then
  fabnet bench run $here/design.toml --out $here/results.json "$@"
fi
fabnet bench report $here/design.toml $here/results.json $here/page.md \
  --out docs/benchmark.md --figures docs/figures/benchmark
