"""What is asked of a dashboard, as complaints. The rules of github.com/grafana/dashboard-linter v0.1.1
are here (its names are in the texts), as far as they fit: job and instance of a target are not
matched, since our series are told apart by labels of their own (namespace, job_name)."""
import re

import document
import promql

WIDTH = 24
LABELS = {"namespace", "pod", "job", "instance"}
LABELS_OF_ALERTS = LABELS | {"alertname", "alertstate", "severity", "job_name"}
COUNTER = re.compile(r"\w+_(?:total|bucket|count|sum)$")
TO_DASHBOARD = re.compile(r"/d/([\w-]+)\?(.*)")


class Metrics:
    """The tables of docs/metrics.md by name of a series."""

    def __init__(self, root):
        tables, _ = document.read(root)
        self.labels, self.sources = {"ALERTS": LABELS_OF_ALERTS}, {}
        for source, families in tables.items():
            for name, family in families.items():
                for series in document.series_names({name: family}):
                    self.labels[series] = self.labels.get(series, set()) | family.labels | LABELS
                    self.sources.setdefault(series, set()).add(
                        "OPERATOR" if source == "operator" else "REPLICAS")
                    if series.endswith("_bucket"):
                        self.labels[series].add("le")


def panels_of(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def targets_of(dashboard):
    return [(panel, target) for panel in panels_of(dashboard) for target in panel["targets"]]


def query_of(variable):
    """(series, label) of a variable."""
    return re.fullmatch(r"label_values\((.*), *(\w+)\)", variable["query"]["query"]).groups()


def queries_of(dashboard):
    """(where, expression) of everything that Prometheus is asked."""
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable {variable['name']}", query_of(variable)[0]
    for note in dashboard["annotations"]["list"]:
        yield f"annotation {note['name']}", note["expr"]
    for panel, target in targets_of(dashboard):
        yield panel["title"], target["expr"]


def unknown_names(dashboard, metrics):
    """Metrics and labels that no program has."""
    for where, expression in queries_of(dashboard):
        names = promql.names_in(expression)
        for selector in promql.selectors_in(expression):
            names |= selector.names
            for name in selector.names & metrics.labels.keys():
                for label in selector.labels - metrics.labels[name]:
                    yield f"{where}: {name} has no label {label}"
        for name in names - metrics.labels.keys():
            yield f"{where}: there is no metric {name}"
        known = set().union(*(metrics.labels.get(name, set()) for name in names))
        for label in promql.grouping_labels(expression) - known:
            yield f"{where}: none of {sorted(names)} has the label {label}"
        if not names:
            yield f"{where}: asks for no metric"
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            series, label = query_of(variable)
            names = promql.names_in(series)
            names |= {name for one in promql.selectors_in(series) for name in one.names}
            for name in names & metrics.labels.keys():
                if label not in metrics.labels[name]:
                    yield f"variable {variable['name']}: {name} has no label {label}"


def wrong_scrapes(dashboard, metrics, texts):
    """Panels that, without data, name the wrong scrape. `texts`: name of a scrape -> text."""
    for panel in panels_of(dashboard):
        names = set().union(*(promql.names_in(target["expr"]) for target in panel["targets"]))
        possible = [metrics.sources[name] for name in names if name in metrics.sources]
        sources = set.intersection(*possible) if possible else set()
        shown = panel["fieldConfig"]["defaults"].get("noValue")
        if names == {"ALERTS"} or not sources or all(" or vector(0)" in target["expr"]
                                                     for target in panel["targets"]):
            wanted = {texts["ALL"], texts["ALERTS"]}
        else:
            wanted = {texts[source] for source in sources}
        if shown not in wanted:
            yield f"{panel['title']}: without data it says {shown!r}, and not of {sorted(sources)}"


def lint(dashboard, bare_counters=frozenset()):
    """`bare_counters`: expressions whose counters are wanted as they are."""
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    if dashboard["editable"]:
        yield "uneditable-dashboard-rule"
    if variables.get("datasource", {}).get("type") != "datasource":
        yield "template-datasource-rule"
    for name, variable in variables.items():
        if variable["type"] == "query" and variable["refresh"] != 2:
            yield f"template-on-time-change-reload-rule: {name}"
    known = set(variables) | {"__rate_interval", "__range"}
    for where, expression in queries_of(dashboard):
        for name in set(re.findall(r"\$\{?(\w+)", expression)) - known:
            yield f"{where}: there is no variable {name}"
    for panel in panels_of(dashboard):
        yield from (f"{panel['title']}: {text}" for text in panel_lint(panel))
    for panel, target in targets_of(dashboard):
        for text in target_lint(target, bare_counters):
            yield f"{panel['title']}, {target['refId']}: {text}"


def panel_lint(panel):
    if not panel["title"] or not panel.get("description"):
        yield "panel-title-description-rule"
    if not panel["targets"]:
        yield "panel-no-targets-rule"
    if panel["datasource"]["uid"] != "${datasource}":
        yield "panel-datasource-rule"
    if "unit" not in panel["fieldConfig"]["defaults"]:
        yield "panel-units-rule"
    if "thresholds" not in panel["fieldConfig"]["defaults"]:
        yield "by default Grafana turns values from 80 on red"
    if not panel["fieldConfig"]["defaults"].get("noValue"):
        yield "says nothing where there is no data"


def target_lint(target, bare_counters):
    expression = target["expr"]
    if target["datasource"]["uid"] != "${datasource}":
        yield "panel-datasource-rule"
    for argument in promql.calls_in(expression, "rate"):
        if not argument.endswith("[$__rate_interval]"):
            yield "target-rate-interval-rule"
    counted = [argument for function in ("rate", "increase")
               for argument in promql.calls_in(expression, function)]
    for name in promql.names_in(expression):
        if COUNTER.search(name) and not any(name in argument for argument in counted) and \
                expression not in bare_counters:
            yield f"target-counter-agg-rule: {name}"
    shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
    for label in shown - promql.grouping_labels(expression):
        yield f"the legend's {label} is not in the result"
    if target["legendFormat"] == "__auto" and target.get("format") != "table":
        yield "it has no legend"


def layout(dashboard):
    taken, numbers = {}, set()
    for panel in dashboard["panels"]:
        if panel["id"] in numbers:
            yield f"{panel['title']}: id {panel['id']} is there twice"
        numbers.add(panel["id"])
        place = panel["gridPos"]
        if place["x"] + place["w"] > WIDTH:
            yield f"{panel['title']}: beyond the right edge"
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                other = taken.setdefault((x, y), panel["title"])
                if other != panel["title"]:
                    yield f"{panel['title']}: lies on {other}"
                    return


def dead_links(dashboard, dashboards, runbooks, base):
    """`dashboards`: all, by uid; `runbooks`: names of pages; `base`: what a link to one begins with."""
    for panel in panels_of(dashboard):
        for link in panel.get("links", []):
            name = link["url"].removeprefix(base + "/").removesuffix(".md")
            if link["url"] != f"{base}/{name}.md" or name not in runbooks:
                yield f"{panel['title']}: {link['url']} is no runbook"
        for link in panel["fieldConfig"]["defaults"].get("links", []):
            uid, query = TO_DASHBOARD.fullmatch(link["url"]).groups()
            if uid not in dashboards:
                yield f"{panel['title']}: there is no dashboard {uid}"
                continue
            names = {variable["name"] for variable in dashboards[uid]["templating"]["list"]}
            for name in set(re.findall(r"var-(\w+)=", query)) - names:
                yield f"{panel['title']}: {uid} has no variable {name}"
            yield from (f"{panel['title']}: the link's {label} is not in the result"
                        for label in missing_labels(panel, query))
    tags = {tag for link in dashboard["links"] if link["type"] == "dashboards"
            for tag in link["tags"]}
    for uid, other in dashboards.items():
        if not tags & set(other["tags"]):
            yield f"no link to {uid}"


def missing_labels(panel, query):
    """What a data link takes of a series, or of a row of the table, and is not there."""
    by = set.intersection(*(promql.grouping_labels(target["expr"]) for target in panel["targets"]))
    yield from set(re.findall(r"__field\.labels\.(\w+)", query)) - by
    columns = set()
    for step in panel.get("transformations", []):
        columns |= set(step["options"].get("renameByName", {}).values())
    yield from set(re.findall(r"__data\.fields\.(\w+)", query)) - columns
