#!/usr/bin/env bash
# The tests of what other programs read, with those programs: TensorBoard, Weights & Biases and
# MLflow, which take 300 MB and a minute and a half to install. Fails if one of them is skipped.
#   release/trackers.sh
set -euo pipefail
cd "$(dirname "$0")/.."
environment="$(mktemp -d)"
trap 'rm -rf "$environment"' EXIT
python3 -m venv "$environment"
"$environment/bin/pip" install --quiet ".[test,plot]" tensorboard wandb mlflow-skinny
output="$("$environment/bin/python" -m pytest -q -rs python/tests/test_trackers.py | tee /dev/stderr)"
! grep -q SKIPPED <<<"$output"
