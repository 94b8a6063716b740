#!/usr/bin/env bash
# Tests the image that image.sh has built: an experiment in a container, by a user without rights,
# with a root that cannot be written to. Needs root.
#   release/packages/image_test.sh
. "$(dirname "$0")/lib.sh"
image="$out/fabnet-$version-oci.tar"
[ -s "$image" ] || fail "build it first: release/packages/image.sh"
debian podman runc
mkdir "$scratch/work"
cp experiments/first.toml "$scratch/work"
chown -R 10001:10001 "$scratch/work"
# runc, because crun refuses machines with both versions of cgroups; limits of its own, because the
# usual ones exceed those of small machines.
podman=(podman --runtime runc --cgroup-manager cgroupfs --storage-driver vfs --root "$scratch/store" --runroot "$scratch/run")
run() {
  "${podman[@]}" run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --read-only \
    --cap-drop all --security-opt no-new-privileges -v "$scratch/work:/work" "localhost/fabnet:$version" "$@"
}

step "load the image"
"${podman[@]}" load --quiet --input "$image"
run --version

step "an experiment"
begun=$SECONDS
run run first.toml --out first --quiet
test -s "$scratch/work/first/figures/relative_error-by-rounds.png" || fail "the run has drawn no figure"
echo "$((SECONDS - begun)) s, by the user $(stat -c %u "$scratch/work/first")"
[ "$(stat -c %u "$scratch/work/first")" = 10001 ] || fail "another user has run it"

step "the root is read-only"
if run run first.toml --out /elsewhere --quiet 2>"$scratch/refusal"; then
  fail "results could be written into the image"
fi
cat "$scratch/refusal"
grep -q 'Read-only file system' "$scratch/refusal" || fail "it was refused for another reason"
