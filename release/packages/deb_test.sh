#!/usr/bin/env bash
# Tests the package that deb.sh has built, in a Debian 12 that has nothing else: lintian, an
# experiment, the unit under a real systemd, a node that is killed, and what was written. It needs
# root.
#   release/packages/deb_test.sh
. "$(dirname "$0")/lib.sh"
package="$out/fabnet_$version-1_amd64.deb"
[ -s "$package" ] || fail "build it first: release/packages/deb.sh"
debian lintian systemd
nodes="alpha beta gamma"

step "lintian"
lintian --fail-on error "$package"

step "install in Debian 12"
fresh_root bookworm
cp "$package" "$root/root"
inside apt-get update -qq
begun=$SECONDS before="$(du -sm "$root" | cut -f1)"
inside apt-get install -qq -y --no-install-recommends "/root/$(basename "$package")" >"$scratch/log" 2>&1 ||
  { tail -n 5 "$scratch/log"; fail "it cannot be installed"; }
echo "$((SECONDS - begun)) s, and $(($(du -sm "$root" | cut -f1) - before)) MB with its dependencies"
echo "glibc: asks for $(glibc_of "$root/usr/bin/fabnet"), there is $(inside ldd --version | awk 'NR == 1 { print $NF }')"

step "an experiment in it"
begun=$SECONDS
inside fabnet run /usr/share/doc/fabnet/examples/first.toml --out /root/first --quiet
test -s "$root/root/first/figures/relative_error-by-rounds.png" || fail "the run has drawn no figure"
echo "$((SECONDS - begun)) s, $(ls "$root/root/first/figures" | wc -l) figures"

step "the unit: its form and how exposed it is"
inside systemd-analyze verify fabnet@alpha.service
inside systemd-analyze security --offline=true --threshold=20 --no-pager fabnet@alpha.service | tail -1

step "a run of three nodes, one of them killed"
# The example of the package, with addresses of this machine.
inside fabnet pki init /root/pki >/dev/null
port=17450
for node in $nodes; do
  inside fabnet pki issue /root/pki "$node" >/dev/null
  folder="$root/etc/fabnet/$node"
  mkdir -m 750 "$folder"
  cp "$root/usr/share/doc/fabnet/examples/join/"*.toml "$root/root/pki/ca.pem" "$root/root/pki/$node".* "$folder"
  sed -i "s/^node = .*/node = \"$node\"/; s/alpha\.\(pem\|key\)/$node.\1/; s,^state = .*,state = \"/var/lib/fabnet/$node\"," \
    "$folder/node.toml"
  sed -i "s/192.0.2.1:7447/127.0.0.1:17447/; s/192.0.2.2:7447/127.0.0.1:17448/; s/192.0.2.3:7447/127.0.0.1:17449/" \
    "$folder/node.toml"
  sed -i "s/9464/$port/" "$folder/node.toml"
  port=$((port + 1))
  inside chown -R root:fabnet "/etc/fabnet/$node"
  inside chmod -R g+rX,o= "/etc/fabnet/$node"
done
inside touch /root/before-the-run
systemd-nspawn --quiet --register=no --keep-unit --boot -D "$root" >"$scratch/boot.log" 2>&1 </dev/null &
container=$!
trap 'kill $container 2>/dev/null; wait $container; rm -rf --one-file-system "$scratch"' EXIT
# Runs a command beside the systemd of the container.
beside() { nsenter --all --target "$(pgrep -P "$container" | head -1)" -- "$@"; }
waited=0
until beside systemctl is-active --quiet multi-user.target 2>/dev/null; do
  sleep 1
  waited=$((waited + 1))
  [ $waited -lt 120 ] || { tail "$scratch/boot.log"; fail "systemd does not start in a container here"; }
done
state() { beside systemctl show --property "$1" --value "fabnet@$2"; }
logs() { for node in $nodes; do beside journalctl --no-pager -n 8 -u "fabnet@$node"; done; }
for node in $nodes; do beside systemctl start "fabnet@$node"; done
sleep 20
pid="$(state MainPID beta)"
[ "$pid" != 0 ] || { logs; fail "the node beta is not running"; }
echo "beta runs as $(beside stat -c %U "/proc/$pid")"
beside systemctl kill --signal=KILL fabnet@beta
sleep 5
echo "after kill -9, 5 s later: beta is $(state ActiveState beta), started again $(state NRestarts beta) times"
[ "$(state NRestarts beta)" = 1 ] && [ "$(state MainPID beta)" != "$pid" ] || { logs; fail "beta was not started again"; }
begun=$SECONDS
# A unit that has ended well is inactive, and one that has not stays failed.
while [ -n "$(for node in $nodes; do state ActiveState "$node"; done | grep '^activ')" ]; do
  sleep 2
  [ $((SECONDS - begun)) -lt 300 ] || { logs; fail "the run does not end"; }
done
for node in $nodes; do
  [ "$(state ActiveState "$node")" = inactive ] || { logs; fail "$node has failed"; }
  beside journalctl --no-pager -u "fabnet@$node" --grep ' done ' --output cat | cut -d ' ' -f 3- | sed "s/^/$node: /"
done
beside fabnet collect /etc/fabnet/alpha/experiment.toml /var/lib/fabnet/alpha /var/lib/fabnet/beta \
  /var/lib/fabnet/gamma --out /root/collected

step "what the nodes have written"
# Processes of the user fabnet can write only what they own or what everybody may write to.
beside find / \( -path /proc -o -path /sys \) -prune -o -user fabnet -newer /root/before-the-run -print >"$scratch/written"
grep -v '^/var/lib/fabnet/\(alpha\|beta\|gamma\)\(/\|$\)' "$scratch/written" && fail "files outside of the state"
echo "$(wc -l <"$scratch/written") files, all of them in /var/lib/fabnet"

step "remove"
beside apt-get purge -qq -y fabnet >/dev/null 2>&1
[ ! -e "$root/usr/bin/fabnet" ] || fail "the command is still there"
echo "removed; /etc/fabnet and /var/lib/fabnet are left: $(ls "$root/var/lib/fabnet" | xargs)"
