#!/usr/bin/env bash
# Installs the plain command as the README says, with an empty build folder: how long that takes,
# how large the command is, and that it works.
#   release/packages/command.sh
. "$(dirname "$0")/lib.sh"
step "cargo install --locked --path crates/cli"
begun=$SECONDS
CARGO_TARGET_DIR="$scratch/target" bash -c \
  "time cargo install --locked --quiet --path crates/cli --root '$scratch/installed'"
echo "$((SECONDS - begun)) s on $(nproc) cores"
echo "with line tables for backtraces: $(megabytes "$scratch/installed/bin/fabnet") MB; without:"
strip -o "$scratch/fabnet" "$scratch/installed/bin/fabnet"
at_most 15 "$scratch/fabnet"
"$scratch/installed/bin/fabnet" run experiments/first.toml --out "$scratch/first" --quiet
test -s "$scratch/first/figures/relative_error-by-rounds.svg" || fail "the run has drawn no figure"
