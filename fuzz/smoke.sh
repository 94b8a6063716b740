#!/usr/bin/env bash
# Fuzzes what others wrote, beginning with the inputs in fuzz/corpus.
#   fuzz/smoke.sh [SECONDS] [TARGET…]     time for all targets together, 60 if not given
# What comes from the network while a run goes on, `read` and `receive`, gets a quarter of the time
# each; the other targets share the rest. The targets that are named get equal shares.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-60}"
targets=(read receive audit checkpoint contacts experiment expulsion greeting recording status track)
[ $# -lt 2 ] || targets=("${@:2}")
for target in "${targets[@]}"; do
  case "$#:$target" in
    [01]:read | [01]:receive) share=$((seconds / 4)) length=1024 ;;
    [01]:*) share=$((seconds / 2 / (${#targets[@]} - 2))) length=2048 ;;
    *) share=$((seconds / ${#targets[@]})) length=2048 ;;
  esac
  # New inputs go to a temporary folder: the corpus in the repository stays small.
  found="$(mktemp -d)"
  if ! cargo fuzz run --sanitizer none "$target" "$found" "fuzz/corpus/$target" -- -max_total_time="$share" \
    -max_len="$length" -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 >"$found.log" 2>&1; then
    tail -n 60 "$found.log"
    exit 1
  fi
  echo "$target: $(grep number_of_executed_units "$found.log")"
  rm -r "$found" "$found.log"
done
