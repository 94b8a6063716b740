#!/usr/bin/env bash
# Tests the wheel that wheel.sh has built, on a Debian 11 (glibc 2.31) with Python and nothing else.
# Needs root.
#   release/packages/wheel_test.sh
. "$(dirname "$0")/lib.sh"
wheel="$(ls "$out/fabnet-$version-"*x86_64.whl)"
"$packages/old_python.sh"
debian systemd-container

step "install beside nothing else"
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel"
"$scratch/venv/bin/pip" check

step "install on Debian 11"
root="$scratch/root"
mkdir "$root"
tar -xf "$cache/roots/bullseye-python.tar" -C "$root"
cp experiments/first.toml "$root/root"
# By the pip of this machine: that Python has none.
begun=$SECONDS
packages_of_root="$root$(inside python3.11 -c 'import site; print(site.getsitepackages()[0])')"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$packages_of_root" --python-version 3.11 \
  --only-binary :all: --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 "$wheel"
echo "$((SECONDS - begun)) s and $(du -sm "$packages_of_root" | cut -f1) MB with NumPy, on glibc $(inside ldd --version | awk 'NR == 1 { print $NF }')"

step "an experiment on it"
begun=$SECONDS
inside python3.11 - <<'END'
import fabnet

result = fabnet.run("/root/first.toml", out="/root/first")
print(f"fabnet {fabnet.__version__}: {len(result.records['round'])} records")
END
test -s "$root/root/first/figures/relative_error-by-rounds.png" || fail "the run has drawn no figure"
echo "$((SECONDS - begun)) s, $(ls "$root/root/first/figures" | wc -l) figures"
