# What the scripts of this folder share. They source it, and are then at the root of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

packages="$PWD/release/packages"
out="$PWD/target/packages" # what is built, and nothing else
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fabnet"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/packages}"
export PATH="$cache/tools/bin:$PATH"
export CARGO_TERM_COLOR=never
version="$("$packages/version.py")"
mkdir -p "$out" "$cache/roots"
scratch="$(mktemp -d)"
trap 'rm -rf --one-file-system "$scratch"' EXIT

# Debian's packages, where they are not there yet.
debian() { dpkg -s "$@" >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }; }
# A tool of cargo, where it is not there yet.
tool() { command -v "cargo-$1" >/dev/null || cargo install --locked --quiet --root "$cache/tools" "cargo-$1"; }
# An environment of Python with these packages, whose programs are then found first.
python_tools() {
  [ -d "$cache/packaging" ] || python3 -m venv "$cache/packaging"
  "$cache/packaging/bin/pip" install --quiet --disable-pip-version-check "$@"
  export PATH="$cache/packaging/bin:$PATH"
}

step() { printf '\n== %s\n' "$1"; }
fail() { echo "$(basename "$0"): $1" >&2; exit 1; }
megabytes() { awk -v bytes="$(stat -c %s "$1")" 'BEGIN { printf "%.1f", bytes / 1e6 }'; }
# at_most MEGABYTES FILE: prints the size of a file, and fails if it is larger.
at_most() {
  echo "$(basename "$2"): $(megabytes "$2") MB (at most $1)"
  awk -v size="$(megabytes "$2")" -v most="$1" 'BEGIN { exit size > most }' || fail "$2 is too large"
}
# The newest version of glibc that a program or library asks for.
glibc_of() { objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1 | sed 's/GLIBC_//'; }

# fresh_root SUITE: a Debian release with nothing but apt in the folder $root. It is made once and
# kept in the cache.
fresh_root() {
  debian mmdebstrap systemd-container
  [ "$(id -u)" = 0 ] || fail "making a file system of Debian needs root"
  local packed="$cache/roots/$1.tar"
  if [ ! -s "$packed" ]; then
    mmdebstrap --quiet --variant=apt "$1" "$scratch/$1.tar"
    mv "$scratch/$1.tar" "$packed"
  fi
  root="$scratch/$1"
  mkdir "$root"
  tar -xf "$packed" -C "$root" --exclude './dev/*'
}
# Runs a command in the file system $root, with the network of this machine and an empty /tmp.
inside() {
  systemd-nspawn --quiet --register=no --keep-unit --as-pid2 --pipe -D "$root" "$@" \
    2> >(grep -v 'Attempted to remove disk file system' >&2) # of hosts whose /run is on a disk
}
