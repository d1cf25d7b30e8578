"""What a dashboard of Grafana is made of, as far as ours need it: typed, so that a unit or a panel
that Grafana does not know fails here. `as_json` of a Dashboard is what Grafana reads (the classic
schema, version 39; https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model).
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
WIDTH = 24
NEWEST: Json = {"calcs": ["lastNotNull"], "fields": "", "values": False}
DATASOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
# Every dashboard has it; the links among them are made of it.
TAG = "pstrain"
# The chart puts metrics.prometheusRule.runbookBaseUrl here, or leaves the links to runbooks out.
RUNBOOKS = "<runbookBaseUrl>"


class Unit(enum.Enum):
    """Ids of @grafana/data's value formats."""

    NUMBER = "none"
    SHORT = "short"
    SECONDS = "s"
    TIME = "dateTimeAsIso"
    BYTES = "bytes"
    BYTES_PER_SECOND = "Bps"
    PER_SECOND = "ops"
    REQUESTS_PER_SECOND = "reqps"
    RATIO = "percentunit"


class Scrape(enum.Enum):
    """Where series come from; the text says what to do where there are none."""

    OPERATOR = ("No data from the operator. Prometheus has to scrape it: "
                "metrics.serviceMonitor of the chart.")
    REPLICAS = ("No data from training pods. Prometheus has to scrape them: "
                "metrics.podMonitor of the chart.")
    ALL = "No answer from Prometheus. Look at the data source."
    ALERTS = "No alert fires. Alerts are in Prometheus with metrics.prometheusRule of the chart."


@dataclasses.dataclass(frozen=True)
class Target:
    """A query. `may_be_empty` says why it is right that one has no series."""

    expr: str
    legend: str = ""
    instant: bool = False
    may_be_empty: str = ""
    # Why the bare value of a counter is wanted, and no rate of it.
    bare_counter: str = ""


@dataclasses.dataclass(frozen=True)
class Panel:
    """Text that is shown where there is no data is the scrape's."""

    title: str
    description: str
    scrape: Scrape
    unit: Unit
    targets: tuple[Target, ...]
    width: int
    height: int = 8
    # Names of alerts whose runbooks it links to.
    alerts: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    decimals: int | None = None
    # From this value on it is orange.
    warns_from: float | None = None
    # A link of each series, as (title, URL).
    data_link: tuple[str, str] | None = None

    TYPE = ""

    def defaults(self) -> Json:
        # Without thresholds of our own, Grafana turns values from 80 on red.
        steps: list[Json] = [{"color": "green", "value": None}]
        if self.warns_from is not None:
            steps.append({"color": "orange", "value": self.warns_from})
        json: Json = {"unit": self.unit.value, "noValue": self.scrape.value,
                      "color": {"mode": "thresholds"},
                      "thresholds": {"mode": "absolute", "steps": steps}}
        for name, value in (("min", self.minimum), ("max", self.maximum),
                            ("decimals", self.decimals)):
            if value is not None:
                json[name] = value
        if self.data_link is not None:
            title, url = self.data_link
            json["links"] = [{"title": title, "url": url}]
        return json

    def options(self) -> Json:
        return {}

    def target_json(self, index: int, target: Target) -> Json:
        json: Json = {"refId": chr(ord("A") + index), "datasource": DATASOURCE,
                      "expr": target.expr, "legendFormat": target.legend or "__auto"}
        if target.instant:
            json |= {"instant": True, "range": False}
        return json

    def as_json(self, number: int, x: int, y: int) -> Json:
        json: Json = {
            "id": number,
            "type": self.TYPE,
            "title": self.title,
            "description": self.description,
            "datasource": DATASOURCE,
            "gridPos": {"h": self.height, "w": self.width, "x": x, "y": y},
            "fieldConfig": {"defaults": self.defaults(), "overrides": []},
            "options": self.options(),
            "targets": [self.target_json(i, target) for i, target in enumerate(self.targets)],
        }
        if self.alerts:
            json["links"] = [{"title": f"Runbook of {alert}", "url": f"{RUNBOOKS}/{alert}.md",
                              "targetBlank": True} for alert in self.alerts]
        return json


@dataclasses.dataclass(frozen=True)
class TimeSeries(Panel):
    stacked: bool = False
    bars: bool = False

    TYPE = "timeseries"

    def defaults(self) -> Json:
        custom: Json = {"drawStyle": "bars" if self.bars else "line", "lineWidth": 1,
                        "fillOpacity": 60 if self.bars else 30 if self.stacked else 5,
                        "showPoints": "never", "spanNulls": False}
        if self.stacked:
            custom["stacking"] = {"mode": "normal", "group": "A"}
        if self.warns_from is not None:
            custom["thresholdsStyle"] = {"mode": "line"}
        return super().defaults() | {"custom": custom, "color": {"mode": "palette-classic"}}

    def options(self) -> Json:
        return {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True,
                           "calcs": []},
                "tooltip": {"mode": "multi", "sort": "desc"}}


@dataclasses.dataclass(frozen=True)
class Stat(Panel):
    # Shown in place of a value, as (value, text, color).
    texts: tuple[tuple[str, str, str], ...] = ()

    TYPE = "stat"

    def defaults(self) -> Json:
        json = super().defaults()
        if self.texts:
            json["mappings"] = [{"type": "value", "options": {
                value: {"text": text, "color": color, "index": index}
                for index, (value, text, color) in enumerate(self.texts)}}]
        return json

    def options(self) -> Json:
        return {"reduceOptions": NEWEST, "colorMode": "value", "graphMode": "none", "textMode": "auto",
                "justifyMode": "auto", "orientation": "auto"}


@dataclasses.dataclass(frozen=True)
class Gauge(Panel):
    TYPE = "gauge"

    def options(self) -> Json:
        return {"reduceOptions": NEWEST, "showThresholdMarkers": True}


@dataclasses.dataclass(frozen=True)
class BarGauge(Panel):
    TYPE = "bargauge"

    def options(self) -> Json:
        return {"reduceOptions": NEWEST, "displayMode": "basic", "orientation": "horizontal",
                "showUnfilled": True}


@dataclasses.dataclass(frozen=True)
class StateTimeline(Panel):
    """Of series whose value is 1 while what their legend says holds, else 0."""

    TYPE = "state-timeline"

    def defaults(self) -> Json:
        return super().defaults() | {"custom": {"lineWidth": 0, "fillOpacity": 70}, "mappings": [
            {"type": "value", "options": {"0": {"text": "", "color": "transparent", "index": 0},
                                          "1": {"text": "yes", "color": "blue", "index": 1}}}]}

    def options(self) -> Json:
        return {"showValue": "never", "mergeValues": True, "alignValue": "left",
                "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False},
                "tooltip": {"mode": "single", "sort": "none"}}


@dataclasses.dataclass(frozen=True)
class Table(Panel):
    """Instant queries, a row for each series and a column for each label in `columns`."""

    # In the order of the columns, as (label, title).
    columns: tuple[tuple[str, str], ...] = ()

    TYPE = "table"

    def options(self) -> Json:
        return {"showHeader": True, "cellHeight": "sm"}

    def target_json(self, index: int, target: Target) -> Json:
        return super().target_json(index, target) | {"format": "table"}

    def as_json(self, number: int, x: int, y: int) -> Json:
        labels = [label for label, _ in self.columns]
        json = super().as_json(number, x, y)
        json["transformations"] = [
            {"id": "filterFieldsByName", "options": {"include": {"names": labels}}},
            {"id": "organize", "options": {
                "indexByName": {label: place for place, label in enumerate(labels)},
                "renameByName": dict(self.columns), "excludeByName": {}}}]
        return json


@dataclasses.dataclass(frozen=True)
class Row:
    """A title and what is below it, from left to right."""

    title: str
    panels: tuple[Panel, ...]


@dataclasses.dataclass(frozen=True)
class Variable:
    """What a viewer chooses: the values of a label of series. With `many` more than one, or all."""

    name: str
    title: str
    series: str
    label: str
    many: bool = False

    def as_json(self) -> Json:
        json: Json = {
            "name": self.name, "type": "query", "label": self.title, "datasource": DATASOURCE,
            "query": {"query": f"label_values({self.series}, {self.label})", "refId": self.name},
            # When the time range changes, too: a job may have ended.
            "refresh": 2, "sort": 1, "hide": 0,
        }
        if self.many:
            json |= {"multi": True, "includeAll": True,
                     "current": {"text": ["All"], "value": ["$__all"]}}
        return json


@dataclasses.dataclass(frozen=True)
class Annotation:
    """A mark at each time at which the query has a value, over `step` seconds."""

    name: str
    expr: str
    title: str
    color: str
    step: int = 60

    def as_json(self) -> Json:
        return {"name": self.name, "datasource": DATASOURCE, "enable": True, "hide": False,
                "iconColor": self.color, "expr": self.expr, "step": f"{self.step}s",
                "titleFormat": self.title, "useValueForTime": False}


@dataclasses.dataclass(frozen=True)
class Dashboard:
    uid: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    annotations: tuple[Annotation, ...]
    rows: tuple[Row, ...]

    def as_json(self) -> Json:
        datasource = {"name": "datasource", "type": "datasource", "query": "prometheus",
                      "label": "Data source", "current": {}, "hide": 0}
        return {
            "title": self.title, "uid": self.uid, "description": self.description, "tags": [TAG],
            "schemaVersion": 39, "version": 1, "editable": False, "graphTooltip": 1,
            "refresh": "30s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
            "annotations": {"list": [note.as_json() for note in self.annotations]},
            "links": [{"type": "dashboards", "title": "pstrain", "tags": [TAG], "asDropdown": True,
                       "includeVars": True, "keepTime": True, "targetBlank": False,
                       "icon": "external link", "tooltip": "The other dashboards", "url": ""}],
            "templating": {"list": [datasource, *(v.as_json() for v in self.variables)]},
            "panels": list(self._panels()),
        }

    def _panels(self) -> Iterator[Json]:
        number = y = 0
        for row in self.rows:
            number += 1
            yield {"id": number, "type": "row", "title": row.title, "collapsed": False,
                   "gridPos": {"h": 1, "w": WIDTH, "x": 0, "y": y}, "panels": []}
            x, y, height = 0, y + 1, 0
            for panel in row.panels:
                number += 1
                if x + panel.width > WIDTH:
                    x, y, height = 0, y + height, 0
                yield panel.as_json(number, x, y)
                x, height = x + panel.width, max(height, panel.height)
            y += height
