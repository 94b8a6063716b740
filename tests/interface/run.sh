#!/usr/bin/env bash
# The public interface of the library crates, as rustdoc sees it, against the lists in this folder.
#   tests/interface/run.sh             fails where they differ
#   tests/interface/run.sh --update    writes the lists anew
# Needs cargo-public-api. What rustdoc writes for it is not stable yet, so another version of Rust
# may need another version of that tool.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# Only rustdoc itself is to allow what is not stable: cargo would build all dependencies anew.
rustdoc="$CARGO_TARGET_DIR/rustdoc-unstable"
printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n' >"$rustdoc"
chmod +x "$rustdoc"
crates=(burn core files http import lab net node problems sim watch)
RUSTDOC="$rustdoc" RUSTDOCFLAGS="-Z unstable-options --output-format json --cap-lints allow" \
  cargo doc --lib --no-deps --all-features --release --locked --quiet "${crates[@]/#/-pfabnet-}"

changed=()
for crate in "${crates[@]}"; do
  list="tests/interface/$crate.txt"
  # Without what follows from derived and automatic traits.
  cargo public-api -sss --rustdoc-json "$CARGO_TARGET_DIR/doc/fabnet_$crate.json" >"$scratch/$crate.txt"
  [ "${1:-}" != --update ] || cp "$scratch/$crate.txt" "$list"
  diff -U0 "$list" "$scratch/$crate.txt" || changed+=("$crate")
  echo "fabnet-$crate: $(wc -l <"$list") public items"
done
if [ "${#changed[@]}" -gt 0 ]; then
  echo "the public interface of ${changed[*]} has changed: if it is meant to, say so in CHANGELOG.md," \
    "and run tests/interface/run.sh --update" >&2
  exit 1
fi
