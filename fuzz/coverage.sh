#!/usr/bin/env bash
# Which lines of what reads the bytes of others the inputs of a corpus reach, and that these are
# 95 % of the reader of messages. Other files have writers as well, which no input reaches.
#   fuzz/coverage.sh [FOLDER]     FOLDER has a folder for each target; fuzz/corpus if not given
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
# The files that read, by target; those of several targets count as reached if either reaches them.
while read -r target sources; do
  LLVM_PROFILE_FILE="$work/$target.profraw" "$CARGO_TARGET_DIR/release/$target" -runs=0 "$corpus/$target" >/dev/null 2>&1
  "$tools/llvm-profdata" merge -sparse "$work/$target.profraw" -o "$work/$target.profdata"
  # shellcheck disable=SC2086
  "$tools/llvm-cov" export -format=lcov -instr-profile "$work/$target.profdata" "$CARGO_TARGET_DIR/release/$target" \
    -sources $sources >"$work/$target.lcov"
done <<'TARGETS'
read crates/core/src/peer/wire crates/core/src/peer/exchange/reference.rs
receive crates/core/src/peer/wire crates/core/src/peer/exchange/reference.rs
audit crates/net/src/audit/chain.rs crates/net/src/audit/verify.rs
checkpoint crates/net/src/state/checkpoint.rs crates/net/src/state/stopped_run.rs
contacts crates/core/src/network/topology/contact_plan.rs crates/core/src/network/topology/contact_trace.rs
experiment crates/lab/src/file
expulsion crates/net/src/pki/expulsion.rs
greeting crates/net/src/greeting.rs
recording crates/files/src/frames.rs crates/files/src/label.rs crates/watch/src/stream_file.rs crates/watch/src/follower.rs
status crates/watch/src/agent_frames.rs crates/net/src/status/gatherer.rs
track crates/files/src/frames.rs crates/files/src/label.rs crates/lab/src/results/track.rs
TARGETS
python3 - "$work"/*.lcov <<'EOF' | tee fuzz/coverage.txt
import sys
# A line is reached if any target reaches it.
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
def lines(names):
    hits = [hit for (name, _), hit in reached.items() if name in names]
    return f"{sum(hits):5} of {len(hits):4}", 100 * sum(hits) / len(hits)
names = sorted({name for name, _ in reached})
messages = [name for name in names if name.startswith("core/src/peer")]
print("Lines that the inputs in fuzz/corpus reach:")
for name in names:
    print(lines([name])[0], "", name)
print(lines(messages)[0], f" of what reads and completes messages: {lines(messages)[1]:.1f} %")
EOF
awk 'END { exit !($(NF - 1) >= 95) }' fuzz/coverage.txt
