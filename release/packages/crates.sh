#!/usr/bin/env bash
# Packs every crate as for a registry, and builds the plain command and all that it is made of from
# the packed files alone. Uploads nothing.
#   release/packages/crates.sh
. "$(dirname "$0")/lib.sh"
export CARGO_TARGET_DIR="$scratch/target"

step "all crates, packed"
# Together, because a crate asks the registry for those that its features name.
cargo package --workspace --exclude fabnet-py --exclude fabnet-benches --locked --no-verify --quiet
packed=("$CARGO_TARGET_DIR"/package/*.crate)
for crate in "${packed[@]}"; do
  tar -xf "$crate" -C "$scratch"
  echo "$(basename "$crate"): $(megabytes "$crate") MB, $(tar -tf "$crate" | wc -l) files"
done

step "the plain command, built from them"
# By its own lock file, in which the crates of the registry give way to the unpacked ones. To build
# those of features as well would take a quarter of an hour; they read no file outside of their
# folders.
patches=()
for folder in "$scratch"/fabnet-*-"$version"; do
  name="$(basename "$folder" "-$version")"
  patches+=(--config "patch.crates-io.$name.path='$folder'")
done
cd "$scratch/fabnet-$version"
cargo build "${patches[@]}"
cargo tree --prefix none "${patches[@]}" | grep -o '^fabnet[^ ]* v[^ ]* ([^)]*)' | sort -u >"$scratch/built"
cat "$scratch/built"
! grep -v "($scratch/" "$scratch/built" || fail "crates that are not the packed ones"
"$CARGO_TARGET_DIR/debug/fabnet" --version
