#!/usr/bin/env bash
# That fuzzing finds a mistake in the reader: one that reads beyond the end of a message is planted
# in a copy of the sources, and must be found.
#   fuzz/planted.sh [SECONDS]     time for finding it; 60 if not given
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-60}"
copy="$(mktemp -d)"
trap 'rm -r "$copy"' EXIT
cp -r Cargo.toml Cargo.lock .cargo crates benches examples fuzz "$copy/"
file="$copy/crates/core/src/peer/wire/chunk.rs"
python3 - "$file" <<'EOF'
import pathlib, sys
file, find = pathlib.Path(sys.argv[1]), "rest.get(..scalars * kind.length.bytes())?"
text = file.read_text()
assert text.count(find) == 1, "the place of the planted mistake has changed"
file.write_text(text.replace(find, "&rest[..scalars * kind.length.bytes()]"))
EOF
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/planted"
cd "$copy"
mkdir found
if cargo fuzz run --sanitizer none read found fuzz/corpus/read -- -max_total_time="$seconds" -max_len=1024 -print_final_stats=1 >log 2>&1; then
  echo "not found within $seconds seconds" >&2
  exit 1
fi
if ! grep -q "panicked at .*wire/chunk.rs" log; then
  tail -n 20 log >&2
  exit 1
fi
echo "found: $(grep -A1 -m1 'panicked at' log | tail -n 1)"
