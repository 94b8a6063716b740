# To be sourced: sets `python` to a Python with NumPy and SciPy, which it installs into the user's
# cache directory if they are missing.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fabnet"
python="$cache/venv/bin/python"
if ! "$python" -c 'import numpy, scipy' 2>/dev/null; then
  python3 -m venv "$cache/venv"
  "$python" -m pip install --quiet numpy scipy
fi
