#!/usr/bin/env bash
# Builds a container image that holds the command of the Debian package, the libraries that it is
# linked with, and no base: no shell, no package manager. It is an OCI archive.
#   release/packages/image.sh
. "$(dirname "$0")/lib.sh"
package="$out/fabnet_$version-1_amd64.deb"
[ -s "$package" ] || fail "build the package first: release/packages/deb.sh"
debian buildah
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot

step "the files of the image"
files="$scratch/files"
dpkg-deb --extract "$package" "$scratch/package"
mkdir -p "$files"/{dev,etc,proc,sys,tmp,usr/bin,usr/share/fabnet,work}
cp "$scratch/package/usr/bin/fabnet" "$files/usr/bin"
cp -rL "$scratch/package/usr/share/doc/fabnet/." "$files/usr/share/fabnet"
# The loader and the libraries are those of Debian 12, for which the package is built, each where
# the command looks for it.
ldd "$files/usr/bin/fabnet" | grep -o '/[^ ]*' | while read -r library; do
  install -D "$(readlink -f "$library")" "$files$library"
done
echo 'fabnet:x:10001:10001:fabnet:/work:/nonexistent' >"$files/etc/passwd"
echo 'fabnet:x:10001:' >"$files/etc/group"
echo 'hosts: files dns' >"$files/etc/nsswitch.conf"
chown -R 0:0 "$files"
chown 10001:10001 "$files/work"

step "the image"
container="$(buildah from scratch)"
buildah copy --quiet "$container" "$files" / >/dev/null
buildah config --user 10001:10001 --workingdir /work --volume /work --entrypoint '["/usr/bin/fabnet"]' --cmd '' \
  --label org.opencontainers.image.title=fabnet --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.licenses=MIT OR Apache-2.0" "$container"
image="$out/fabnet-$version-oci.tar"
rm -f "$image"
buildah commit --quiet --rm --disable-compression=false --timestamp "$(git log -1 --format=%ct)" "$container" "oci-archive:$image:fabnet:$version" >/dev/null
at_most 20 "$image"
