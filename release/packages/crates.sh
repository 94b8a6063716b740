#!/usr/bin/env bash
# Packs every crate as for a registry, and builds the plain command and all that it is made of from
# the packed files alone. Uploads nothing.
#   release/packages/crates.sh
. "$(dirname "$0")/lib.sh"
export CARGO_TARGET_DIR="$scratch/target"

step "the plain command and its crates, packed and built"
plain=(core files http import lab problems sim watch)
cargo publish --dry-run --locked -p fabnet "${plain[@]/#/-pfabnet-}"

step "crates of features, packed"
# To build these takes a quarter of an hour; they have no files outside of their folders.
cargo package --locked --no-verify -p fabnet-burn -p fabnet-net -p fabnet-node
