#!/usr/bin/env bash
# What a command without features says of what it does not have.
#   tests/system/plain.sh FABNET RESULTS      the command, and the results of a run with it
set -euo pipefail
cd "$(dirname "$0")/../.."
fabnet="$1"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
install() { echo "cargo install --locked --path crates/cli --features $1"; }
# says TEXT CODE ARGUMENT…: the command ends with this exit code, and its last answer has this text.
says() {
  local code=0
  said="$("$fabnet" "${@:3}" 2>&1)" || code=$?
  if [ "$code" != "$2" ] || ! grep -qF -- "$1" <<<"$said"; then
    echo "fabnet ${*:3} should say \"$1\" and end with $2; it ends with $code: $said" >&2
    exit 1
  fi
}
# names FEATURE ARGUMENT…: the command is wrong usage; it says in one line how to get the feature,
# and nothing of what follows from its absence.
names() {
  says "$(install "$1")" 2 "${@:2}"
  [ "$(wc -l <<<"$said")" = 1 ] || { echo "fabnet ${*:2} says more than the cause: $said" >&2; exit 1; }
  echo "fabnet ${*:2}: names $1"
}
# proposes FEATURE TEMPLATE: `fabnet new` says how to get the feature before it proposes commands.
proposes() {
  says "$(install "$1")" 0 new "$scratch/$2" --from "$2"
  [[ "$said" == *"$(install "$1")"*"fabnet check"* ]] || { echo "too late: $said" >&2; exit 1; }
  echo "fabnet new --from $2: names $1"
}
names learning data
names learning data import table.csv
names learning check experiments/cleaning.toml
names learning check experiments/tuning.toml
names text check experiments/paper/text-cleaning.toml
names pictures plot "$2" --format png
names pictures plot "$2" --format pdf
names net launch experiments/network.toml
proposes learning cleaning
proposes learning tuning
proposes net network
says "is written. Next:" 0 new "$scratch/first"
says "runs/nowhere: there is no such folder; folders with results: " 2 watch runs/nowhere
