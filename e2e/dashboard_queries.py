#!/usr/bin/env python3
"""dashboard_queries.py DASHBOARD...: the PromQL of panels and variables, one a line. A variable's
label_values(SERIES, LABEL) becomes these series, as far as they have the label."""

import json
import re
import sys


def panel_queries(panels):
    for panel in panels:
        yield from (target["expr"] for target in panel.get("targets", []))
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


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as text:
        dashboard = json.load(text)
    for expression in (*variable_queries(dashboard["templating"]["list"]),
                       *panel_queries(dashboard["panels"])):
        print(" ".join(expression.split()))
