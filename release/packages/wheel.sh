#!/usr/bin/env bash
# Builds the wheel for Linux: one for Python 3.10 and later (abi3), for glibc 2.17 and later, linked
# by zig, which brings the symbols of old versions of glibc.
#   release/packages/wheel.sh            x86-64
#   release/packages/wheel.sh aarch64    64-bit ARM: it is built and inspected, and not run here
. "$(dirname "$0")/lib.sh"
processor="${1:-x86_64}"
python_tools maturin ziglang auditwheel twine
rustup --quiet target add "$processor-unknown-linux-gnu" 2>/dev/null || true # a system's Rust has no rustup

step "the wheel for $processor"
maturin build --release --zig --compatibility manylinux2014 --target "$processor-unknown-linux-gnu" --out "$scratch"
wheel="$(ls "$scratch"/*.whl)"

step "what it is and needs"
twine check --strict "$wheel"
auditwheel show "$wheel"
cp "$wheel" "$out"
at_most 25 "$out/$(basename "$wheel")"
