#!/usr/bin/env bash
# The metrics, and the scrape configuration, the alert rules and the dashboards of docs/prometheus,
# tried with a real Prometheus (Debian's package `prometheus`): it reads all nodes, every rule is
# evaluated, every query of a dashboard has series, and a node that is killed raises its alert.
#   tests/system/prometheus.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
fabnet="${CARGO_TARGET_DIR:-target}/release/fabnet"
out="$(mktemp -d)"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$out"' EXIT

promtool check config docs/prometheus/prometheus.yml >/dev/null
cp docs/prometheus/*.yml "$out"
# Quicker than for people: a test does not wait for half a minute.
sed -i 's/5s/1s/; s/for: 30s/for: 2s/' "$out"/*.yml
"$fabnet" launch experiments/checks/network.toml --nodes 3 --set rounds=3000 --out "$out/run" --quiet &
pids+=($!)
until [ "$(ls "$out"/run/nodes/*/node.toml 2>/dev/null | wc -l)" = 3 ]; do
  kill -0 "${pids[0]}" # ends the test if the nodes could not be started
  sleep 0.2
done
python3 - "$out" <<'END'
import glob, json, sys, tomllib

nodes = [tomllib.load(open(path, "rb"))["http"] for path in sorted(glob.glob(sys.argv[1] + "/run/nodes/*/node.toml"))]
json.dump([{"targets": nodes}], open(sys.argv[1] + "/nodes.json", "w"))
END
port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
prometheus --config.file="$out/prometheus.yml" --storage.tsdb.path="$out/data" --web.listen-address="127.0.0.1:$port" >"$out/prometheus.log" 2>&1 &
pids+=($!)

python3 - "$port" "$out" <<'END'
import json, subprocess, sys, time, urllib.parse, urllib.request

def ask(path, **query):
    url = f"http://127.0.0.1:{sys.argv[1]}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    try:
        return json.load(urllib.request.urlopen(url))["data"]
    except OSError:
        return None

def wait(what, condition, seconds=40):
    end = time.time() + seconds
    while time.time() < end:
        if condition():
            print(what)
            return
        time.sleep(0.5)
    sys.exit(f"not: {what}\n" + open(sys.argv[2] + "/prometheus.log").read()[-2000:])

def values(query):
    found = ask("query", query=query)
    return [float(series["value"][1]) for series in found["result"]] if found else []

wait("all 3 nodes are scraped", lambda: values("up") == [1, 1, 1])
wait("24 agents make rounds", lambda: len(v := values("fabnet_round")) == 24 and min(v) > 20)
for metric in ["fabnet_epoch", "fabnet_incarnation", "fabnet_mass_residual", "fabnet_messages_total", "fabnet_sent_bytes_total", "fabnet_round_seconds_bucket",
               "fabnet_pull_age_rounds", "fabnet_disagreement", "fabnet_checkpoint_age_seconds", "fabnet_refused_total",
               "fabnet_certificate_expiry_seconds"]:
    wait(f"{metric}: {len(values(metric))} series", lambda: values(metric))
rules = lambda: [rule for group in ask("rules")["groups"] for rule in group["rules"]]
wait("every rule is evaluated", lambda: len(rules()) == 8 and all(rule["health"] == "ok" for rule in rules()))
wait("rates of all 3 nodes have series", lambda: len(values("rate(fabnet_round_seconds_count[10s])")) == 3)
if subprocess.run(["tests/system/dashboards.py", f"http://127.0.0.1:{sys.argv[1]}"]).returncode:
    sys.exit("a dashboard is at fault")
assert not values("ALERTS"), ask("query", query="ALERTS")
subprocess.run(["pkill", "-9", "-f", sys.argv[2] + "/run/nodes/node-2/node.toml"], check=True)
wait("a node that is killed raises FabnetNodeGone", lambda: values('ALERTS{alertname="FabnetNodeGone",alertstate="firing"}'))
END
