#!/usr/bin/env bash
# Builds and tests every package, and lists them. Needs root and a Debian 12 with Rust. Most of the
# time goes into compiling Zenoh three times: for the command and for the wheels of two processors.
#   release/packages/all.sh              everything
#   release/packages/all.sh --release    the same, of a version that CHANGELOG.md has a section of
. "$(dirname "$0")/lib.sh"
"$packages/version.py" "$@"
rm -rf "${out:?}"/*
# run SCRIPT ARGUMENT…: runs a script of this folder and prints how long it took.
run() {
  local begun=$SECONDS
  "$packages/$1.sh" "${@:2}" || fail "$1 has failed"
  printf -- '-- %s: %d s\n' "$*" "$((SECONDS - begun))"
}

run crates
run command
run deb
run deb_test
run wheel
run wheel_test
run wheel aarch64
run image
run image_test
run sbom
ls -l "$out"
