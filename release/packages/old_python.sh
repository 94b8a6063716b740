#!/usr/bin/env bash
# Makes a file system of Debian 11 (glibc 2.31) with Python 3.11, on which wheels are tested. Its
# own Python is 3.9, older than fabnet supports, so that of Debian 12 is built from source there. It
# has neither pip nor the modules that Debian builds in its own way.
#   release/packages/old_python.sh
. "$(dirname "$0")/lib.sh"
packed="$cache/roots/bullseye-python.tar"
if [ -s "$packed" ]; then
  exit
fi
fresh_root bullseye
sed -n 's/^deb \(.*\) bullseye main$/deb-src \1 bookworm main/p' "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/source.list"
inside sh -euxc '
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends dpkg-dev gcc libc6-dev make zlib1g-dev libssl-dev libffi-dev >/dev/null
  cd /root && apt-get source -qq python3.11 && cd python3.11-*
  ./configure --quiet --prefix=/usr/local --with-ensurepip=no
  make -j"$(nproc)" >/dev/null 2>&1 && make install >/dev/null 2>&1
  rm -rf /root/python3.11* && apt-get clean
  python3.11 --version'
tar -cf "$packed.new" -C "$root" .
mv "$packed.new" "$packed"
