#!/usr/bin/env bash
# What a command without features says of what it does not have.
#   tests/system/plain.sh FABNET RESULTS      the command, and the results of a run with it
set -euo pipefail
cd "$(dirname "$0")/../.."
fabnet="$1"
# names FEATURE ARGUMENT…: the command fails with the exit code of wrong usage or 1, and names the
# feature.
names() {
  local said code=0
  said="$("$fabnet" "${@:2}" 2>&1)" || code=$?
  if [ "$code" = 0 ] || ! grep -q -- "--features $1" <<<"$said"; then
    echo "fabnet ${*:2} should name the feature $1, and ends with $code: $said" >&2
    exit 1
  fi
  echo "fabnet ${*:2}: names $1"
}
names learning data
names learning data import table.csv
names learning check experiments/cleaning.toml
names learning check experiments/tuning.toml
names text check experiments/paper/text-cleaning.toml
names pictures plot "$2" --format png
names pictures plot "$2" --format pdf
names net launch experiments/network.toml
