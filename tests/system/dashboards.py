#!/usr/bin/env python3
"""Asks a Prometheus every query of the dashboards for Grafana in docs/prometheus.

    tests/system/dashboards.py http://127.0.0.1:9090

Fails where a query is in error or has no series, where a panel lacks a title, a description or a
unit, where panels overlap, and where a metric of the nodes is on no dashboard. Only the metrics of
`MAY_BE_EMPTY` may have no series. Grafana itself is not asked: its variables are replaced here.
"""

import json
import pathlib
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "prometheus"
DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
MAY_BE_EMPTY = {
    "fabnet_parked_mass": "there is no edge without an answer in a run without failures",
    "ALERTS": "no alert fires in a run without failures",
}
# What Grafana would choose for a panel that shows the last minute.
GRAFANAS_OWN = {"__rate_interval": "10s", "__range": "1m"}
METRIC = re.compile(r"\b(?:fabnet_\w+|ALERTS)\b")


class Prometheus:
    """The HTTP interface of one Prometheus."""

    def __init__(self, address):
        self.address = address

    def ask(self, path, **query):
        """Return the data of an answer; an error of Prometheus is a ValueError."""
        url = f"{self.address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]) from None

    def label_values(self, query):
        """Return what a query of the form `label_values(series, label)` of Grafana returns."""
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
        return self.ask(f"label/{label}/values", **{"match[]": series})


def filled_in(query, values):
    """Replace the variables of Grafana; one that the dashboard does not have is a KeyError."""
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda name: values[name[1] or name[2]], query)


def variables(dashboard, prometheus):
    """Return a value for each variable: the first that Prometheus has, or all if they may be."""
    values = dict(GRAFANAS_OWN)
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found = prometheus.label_values(filled_in(variable["definition"], values))
            if not found:
                raise ValueError(f"the variable {variable['name']} has no values")
            values[variable["name"]] = variable.get("allValue", found[0])
    return values


def queries(dashboard):
    """List the queries of annotations and panels, each with where it stands."""
    for annotation in dashboard["annotations"]["list"]:
        yield f"annotation {annotation['name']}", annotation["expr"]
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield f"panel {panel['title']}, query {target['refId']}", target["expr"]


def wrong_query(query, values, prometheus):
    """Say what is wrong with a query, if anything is."""
    try:
        result = prometheus.ask("query", query=filled_in(query, values))["result"]
    except KeyError as unknown:
        return f"there is no variable {unknown}"
    except ValueError as error:
        return error
    may_be_empty = any(metric in MAY_BE_EMPTY for metric in METRIC.findall(query))
    return None if result or may_be_empty else "no series"


def wrong_panels(panels):
    """List panels that lack something, or that lie on others."""
    taken = {}
    for panel in panels:
        name, place = panel.get("title", f"panel {panel['id']}"), panel["gridPos"]
        unit = panel["fieldConfig"]["defaults"].get("unit")
        if not (panel.get("title") and panel.get("description") and unit):
            yield f"{name}: title, description or unit is missing"
        if any(part["datasource"] != DATA_SOURCE for part in [panel, *panel["targets"]]):
            yield f"{name}: the data source is not the variable"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if x > 23 or taken.setdefault((x, y), name) != name:
                    yield f"{name}: lies on {taken.get((x, y), 'the border')}"
                    return
    if len({panel["id"] for panel in panels}) < len(panels):
        yield "two panels have the same id"


def faults_of(dashboard, prometheus):
    """List what is wrong with a dashboard, after it was seen with the series of a Prometheus."""
    if dashboard["schemaVersion"] < 38:
        yield "the schema is older than that of Grafana 10"
    yield from wrong_panels(dashboard["panels"])
    values = variables(dashboard, prometheus)
    for place, query in queries(dashboard):
        fault = wrong_query(query, values, prometheus)
        if fault is not None:
            yield f"{place}: {fault}: {query}"


def main():
    prometheus = Prometheus(sys.argv[1])
    faults, shown, asked = [], set(), 0
    for path in sorted(FOLDER.glob("grafana-*.json")):
        dashboard = json.loads(path.read_text())
        faults += [f"{path.name}: {fault}" for fault in faults_of(dashboard, prometheus)]
        asked += len(list(queries(dashboard)))
        shown.update(METRIC.findall(" ".join(query for _, query in queries(dashboard))))
    exported = prometheus.ask("label/__name__/values", **{"match[]": '{__name__=~"fabnet_.*"}'})
    faults += [f"{metric} is on no dashboard" for metric in exported if metric not in shown]
    if not shown or not exported:
        faults.append("no dashboard was found, or Prometheus has no metric of a node")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"dashboards: {asked} queries, {len(exported)} metrics, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
