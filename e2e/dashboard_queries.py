#!/usr/bin/env python3
"""dashboard_queries.py [NAME=VALUE...] DASHBOARD...: the PromQL of annotations, variables and panels,
one a line, with the dashboards' variables set as a viewer would. Annotations are first: what they
mark is past soon. Queries that may be right without data (metrics/dashboards) are left out. A
variable's label_values(SERIES, LABEL) becomes these series, as far as they have the label."""

import json
import pathlib
import re
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "metrics" / "dashboards"))
from boards import BOARDS  # noqa: E402

MAY_BE_EMPTY = {target.expr for board in BOARDS for row in board.rows for panel in row.panels
                for target in panel.targets if target.may_be_empty}


def panel_queries(panels):
    for panel in panels:
        yield from (target["expr"] for target in panel.get("targets", [])
                    if target["expr"] not in MAY_BE_EMPTY)
        yield from panel_queries(panel.get("panels", []))


def variable_queries(variables):
    for variable in variables:
        if variable["type"] != "query":
            continue
        expression, label = re.fullmatch(r"label_values\((.*), *(\w+)\)",
                                         variable["query"]["query"]).groups()
        has_label = f'{label}!=""'
        yield (f"{expression[:-1]}, {has_label}}}" if expression.endswith("}")
               else f"{expression}{{{has_label}}}")


values, dashboards = {}, []
for argument in sys.argv[1:]:
    if "=" in argument:
        values.update([argument.split("=", 1)])
    else:
        with open(argument, encoding="utf-8") as text:
            dashboards.append(json.load(text))
marks = [note["expr"] for dashboard in dashboards for note in dashboard["annotations"]["list"]]
others = [expression for dashboard in dashboards
          for expression in (*variable_queries(dashboard["templating"]["list"]),
                             *panel_queries(dashboard["panels"]))]
for expression in marks + others:
    expression = re.sub(r"\$(\w+)", lambda found: values.get(found[1], found[0]), expression)
    print(" ".join(expression.split()))
