#!/usr/bin/env bash
# REPRODUCTION.md from the experiment files: runs those that were not run yet, draws their figures and fills the numbers of their summaries into the template.
#   experiments/reproduce.sh [RUNS]      (about four hours on two cores, most of it for learning; results stay in RUNS, runs/reproduction if not given)
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-runs/reproduction}"
# All features, for texts; data sets are looked for as `fabnet data path` says.
fabnet() { cargo run --release --locked --quiet --all-features --bin fabnet -- "$@"; }

for file in experiments/paper/*.toml experiments/bytes.toml experiments/clean-share.toml experiments/weights.toml; do
  name="$(basename "$file" .toml)"
  if [ ! -s "$runs/$name/summary.json" ]; then
    echo "-- $file"
    fabnet run "$file" --out "$runs/$name"
  fi
done

figure() { cp "$runs/$1/figures/$2.svg" "docs/figures/$3.svg"; }
mkdir -p docs/figures
figure sensitivity relative_error-by-rounds sensitivity
figure noise relative_error-by-rounds noise
figure connectivity relative_error-by-bytes connectivity
figure comparison relative_error-by-rounds comparison
figure comparison relative_error-by-seconds comparison-seconds
figure comparison-tuned relative_error-by-rounds comparison-tuned
figure hundred relative_error-by-rounds hundred
figure thousand relative_error-by-rounds thousand
figure minimum-weights relative_error-by-rounds minimum-weights
figure bytes worst_error-by-bytes bytes

fabnet report experiments/paper/REPRODUCTION.template.md --runs "$runs" > REPRODUCTION.md.new
mv REPRODUCTION.md.new REPRODUCTION.md
