#!/usr/bin/env bash
# FAB fine-tuning a BERT, four agents: seconds of a step with PyTorch, one thread an agent, as many agents at a time as there are cores.
#   benches/peers/text_steps.sh [STEPS]
# The model is the folder `bert` under FABNET_DATA.
set -euo pipefail
cd "$(dirname "$0")/../.."
steps="${1:-5}"
data="${FABNET_DATA:-$(cd .. && pwd)/shared/data}"
[ -f "$data/bert/model.safetensors" ] || { echo "no model in $data/bert: set FABNET_DATA to the folder of data" >&2; exit 1; }
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fabnet"
python="$cache/torch/bin/python"
if ! "$python" -c 'import torch, transformers' 2>/dev/null; then
  python3 -m venv "$cache/torch"
  "$python" -m pip install --quiet torch transformers
fi
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TRANSFORMERS_VERBOSITY=error HF_HUB_DISABLE_PROGRESS_BARS=1
echo "PyTorch"
"$python" benches/peers/torch_text/steps.py "$data/bert" "$steps"
