#!/usr/bin/env bash
# Fuzzes what comes from the network, beginning with the inputs in fuzz/corpus.
#   fuzz/smoke.sh [SECONDS]     half of the time for each of the two targets; 60 if not given
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-60}"
for target in read receive; do
  # New inputs go to a temporary folder: the corpus in the repository stays small.
  found="$(mktemp -d)"
  if ! cargo fuzz run --sanitizer none "$target" "$found" "fuzz/corpus/$target" -- \
    -max_total_time="$((seconds / 2))" -max_len=1024 -print_final_stats=1 >"$found.log" 2>&1; then
    tail -n 60 "$found.log"
    exit 1
  fi
  echo "$target: $(grep number_of_executed_units "$found.log")"
  rm -r "$found" "$found.log"
done
