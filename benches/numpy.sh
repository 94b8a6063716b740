# To be sourced: `python` becomes a Python with NumPy and SciPy, installed into the user's cache if need be.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fabnet"
python="$cache/venv/bin/python"
if ! "$python" -c 'import numpy, scipy' 2>/dev/null; then
  python3 -m venv "$cache/venv"
  "$python" -m pip install --quiet numpy scipy
fi
