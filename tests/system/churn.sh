#!/usr/bin/env bash
# Real nodes that lose a third of all messages and are killed at random: the run goes on, no unit of
# mass is missing, and the answer is right.
#   tests/system/churn.sh                 144 seconds, 108 of them with a kill every 5 (CI)
#   tests/system/churn.sh 27000 10s 40    13 minutes, ten of them with kills; at least 40
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds="${1:-4800}" every="${2:-5s}" kills="${3:-8}"
fabnet="${CARGO_TARGET_DIR:-target}/release/fabnet"
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
"$fabnet" launch experiments/checks/network.toml --set rounds="$rounds" --kill-every "$every" --loss 0.3 --out "$out/run" --timeout 20min || {
  tail -n 5 "$out"/run/nodes/*/log
  exit 1
}
python3 - "$out/run/summary.json" "$kills" <<'END'
import json, sys

run = json.load(open(sys.argv[1]))["runs"][0]
error, kills, residual = run["final"]["relative_error"], run["kills"], run["max_mass_residual"]
print(f"{kills} kills, {run['dropped']} messages dropped, error {error:.2e} (at most 1e-4), mass residual {residual} (0)")
sys.exit(not (error < 1e-4 and residual == 0 and kills >= int(sys.argv[2])))
END
