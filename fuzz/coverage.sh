#!/usr/bin/env bash
# Which lines of the reader of messages the inputs of a corpus reach, and that these are 95 %.
#   fuzz/coverage.sh [FOLDER]     FOLDER has `read` and `receive`; fuzz/corpus if not given
# Needs the component llvm-tools (`rustup component add llvm-tools`). Writes fuzz/coverage.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
corpus="${1:-fuzz/corpus}"
tools="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/host: //p')/bin"
work="$(mktemp -d)"
trap 'rm -r "$work"' EXIT
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/coverage"
# Build scripts are measured as well; nobody asks for that.
LLVM_PROFILE_FILE="$work/build-%p.ignored" RUSTFLAGS="-C instrument-coverage" cargo build --quiet --release --locked --manifest-path fuzz/Cargo.toml
for target in read receive; do
  LLVM_PROFILE_FILE="$work/$target.profraw" "$CARGO_TARGET_DIR/release/$target" -runs=0 "$corpus/$target" >/dev/null 2>&1
  "$tools/llvm-profdata" merge -sparse "$work/$target.profraw" -o "$work/$target.profdata"
  # What takes a message apart: the reader, and what completes words from what is held.
  "$tools/llvm-cov" export -format=lcov -instr-profile "$work/$target.profdata" "$CARGO_TARGET_DIR/release/$target" \
    -sources crates/core/src/peer/wire crates/core/src/peer/exchange/reference.rs >"$work/$target.lcov"
done
python3 - "$work"/*.lcov <<'EOF' | tee fuzz/coverage.txt
import sys
# A line is reached if either target reaches it.
reached = {}
for path in sys.argv[1:]:
    for entry in open(path):
        kind, _, rest = entry.strip().partition(":")
        if kind == "SF":
            name = rest.split("/crates/")[1]
        elif kind == "DA":
            line, count = map(int, rest.split(",")[:2])
            key = (name, line)
            reached[key] = reached.get(key, False) or count > 0
print("Lines that the inputs in fuzz/corpus reach, of what reads and completes messages:")
for name in sorted({name for name, _ in reached}):
    lines = [hit for (other, _), hit in reached.items() if other == name]
    print(f"{sum(lines):5} of {len(lines):4}  {name}")
print(f"{sum(reached.values()):5} of {len(reached):4}  {100 * sum(reached.values()) / len(reached):.1f} %")
EOF
awk 'END { exit !($4 >= 95) }' fuzz/coverage.txt
