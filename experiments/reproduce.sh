#!/usr/bin/env bash
# REPRODUCTION.md from the experiment files: runs those that were not run yet, draws their figures,
# reduces their summaries to the numbers that the page needs, and fills these into the template.
#   experiments/reproduce.sh [RUNS]
# takes about four hours on two cores, most of it for learning; results stay in RUNS, or in
# runs/reproduction if none is given.
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-runs/reproduction}"
# All features, for texts; data sets are looked for as `fabnet data path` says.
fabnet() { cargo run --release --locked --quiet --all-features --bin fabnet -- "$@"; }

for file in experiments/paper/*.toml experiments/bytes.toml experiments/clean-share.toml experiments/weights.toml; do
  name="$(basename "$file" .toml)"
  echo "-- $file"
  if [ -d "$runs/$name" ]; then
    fabnet run --resume "$runs/$name" # of one that is done, it says so
  else
    fabnet run "$file" --out "$runs/$name"
  fi
done

# figure RUN METRIC BY FILE: without a title, which the page has.
figure() { fabnet plot "$runs/$1" --metric "$2" --by "$3" --out "docs/figures/$4.svg"; }
mkdir -p docs/figures
figure sensitivity relative_error rounds sensitivity
figure noise relative_error rounds noise
figure connectivity relative_error bytes connectivity
figure comparison relative_error rounds comparison
figure comparison relative_error seconds comparison-seconds
figure comparison-tuned relative_error rounds comparison-tuned
figure hundred relative_error rounds hundred
figure thousand relative_error rounds thousand
figure minimum-weights relative_error rounds minimum-weights
figure bytes worst_error bytes bytes

# Only the numbers that the page needs, so that it can be made again, and checked, without the runs.
template=experiments/paper/REPRODUCTION.template.md
fabnet report "$template" --runs "$runs" --reduce experiments/paper/summaries
fabnet report "$template" --runs experiments/paper/summaries > REPRODUCTION.md.new
mv REPRODUCTION.md.new REPRODUCTION.md
