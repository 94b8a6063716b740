#!/usr/bin/env bash
# Builds the Debian package: the command with real nodes, its unit, examples, and man pages and
# completions if the command writes them. Needs Debian 12 or a system like it.
#   release/packages/deb.sh
. "$(dirname "$0")/lib.sh"
debian debhelper dpkg-dev fakeroot binutils
tool auditable

step "the command with real nodes, data and pictures"
# It names the crates that it is made of, for scanners of advisories.
cargo auditable build --release --locked -p fabnet --features net,pictures
fabnet="$CARGO_TARGET_DIR/release/fabnet"

step "the files of the package"
build="$scratch/fabnet-$version"
files="$build/files"
mkdir -p "$build" "$files/usr/bin" "$files/docs" "$files/examples"
cp -r "$packages/debian" "$build/debian"
install -m 755 "$fabnet" "$files/usr/bin/fabnet"
strip "$files/usr/bin/fabnet"
objdump -h "$files/usr/bin/fabnet" | grep -q '\.dep-v0' || fail "the command does not name its crates"
cp README.md CHANGELOG.md docs/deploy.md "$files/docs"
cp -r "$packages/examples/join" experiments/first.toml "$files/examples"
"$packages/third_party.py" --features net,pictures | gzip -9n >"$files/docs/third-party-licences.txt.gz"
if "$fabnet" completions --help >/dev/null 2>&1; then
  mkdir -p "$files"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
  "$fabnet" completions bash >"$files/usr/share/bash-completion/completions/fabnet"
  "$fabnet" completions zsh >"$files/usr/share/zsh/vendor-completions/_fabnet"
  "$fabnet" completions fish >"$files/usr/share/fish/vendor_completions.d/fabnet.fish"
else
  echo "no completions: this command does not write them"
fi
if "$fabnet" man --help >/dev/null 2>&1; then
  "$fabnet" man "$scratch/man" >/dev/null
  install -D -m 644 -t "$files/usr/share/man/man1" "$scratch"/man/*.1
  gzip -9n "$files"/usr/share/man/man1/*.1
else
  echo "no man pages: this command does not write them"
fi

step "the package"
# Its date is that of the commit, so that equal sources make equal packages.
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
export SOURCE_DATE_EPOCH
cat >"$build/debian/changelog" <<END
fabnet ($version-1) unstable; urgency=medium

  * Version $version: see changelog.gz.

 -- The fabnet developers <fabnet@fabnet.invalid>  $(LC_ALL=C date -Rd "@$SOURCE_DATE_EPOCH")
END
(cd "$build" && fakeroot debian/rules binary) >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "no package"; }
package="fabnet_$version-1_amd64.deb"
cp "$scratch/$package" "$out"
dpkg-deb --field "$out/$package" Depends Installed-Size
at_most 20 "$out/$package"
