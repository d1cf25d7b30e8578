#!/usr/bin/env python3
"""arrived_alerts.py ARRIVED has NAME STATUS   exits 0 when the alert has arrived as firing or resolved
arrived_alerts.py ARRIVED once NAME...      exits 0 when these alerts and no others have arrived, each
                                            once as firing and then once as resolved, and the page behind
                                            its link is its runbook; else says what is wrong
ARRIVED is what alert_receiver.py has written."""

import collections
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def complaints(alerts, names):
    """Each series of an alert is one alert: of two jobs there are two."""
    statuses = collections.defaultdict(list)
    for alert in alerts:
        statuses[json.dumps(alert["labels"], sort_keys=True)].append(alert["status"])
        if alert["page"] != f"# {alert['name']}":
            yield f"{alert['name']}: the link opens {alert['page']!r}"
    found = {json.loads(labels)["alertname"] for labels in statuses}
    yield from (f"{name} has not arrived" for name in sorted(set(names) - found))
    yield from (f"{name} was not expected" for name in sorted(found - set(names)))
    for labels, arrived in statuses.items():
        if arrived != ["firing", "resolved"]:
            yield f"{labels} has arrived as {arrived}"


def main(path, question, *names):
    alerts = read(path)
    if question == "has":
        name, status = names
        return not any((alert["name"], alert["status"]) == (name, status) for alert in alerts)
    wrong = list(complaints(alerts, names))
    print("\n".join(wrong) or f"{len(names)} alerts have arrived and resolved, each once")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
