# To be sourced: `python` becomes a Python with PyTorch and transformers, installed into the user's
# cache if need be (some gigabytes).
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fabnet"
python="$cache/torch/bin/python"
if ! "$python" -c 'import torch, transformers' 2>/dev/null; then
  python3 -m venv "$cache/torch"
  "$python" -m pip install --quiet torch transformers
fi
