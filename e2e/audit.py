#!/usr/bin/env python3
"""What the apiserver's audit log says of one user.

audit.py LOG USER table [CONDITION...]        calls by verb and resource, and their sum
audit.py LOG USER writes [CONDITION...]       calls that change something, one a line, Leases apart
audit.py LOG USER count [CONDITION...]        number of calls
audit.py LOG USER permissions ROLES REASONS   granted rules against used ones; fails when one is
                                              neither used nor named in REASONS

CONDITION: namespace=NAME, job=NAME (objects of that job: its name, or its name with - or . and
more), since=TIME, until=TIME (as `date -u +%FT%T.%6NZ` prints it). ROLES: `kubectl get -o json` of
roles. REASONS: lines `GROUP RESOURCE VERB REASON`, - for the core group."""

import collections
import json
import sys

WRITES = {"create", "update", "patch", "delete", "deletecollection"}


def events(log, user):
    """Each call once, in its last stage: a watch has two."""
    calls = {}
    with open(log, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            # Who showed a token that the apiserver refuses has no name.
            if event["user"].get("username") == user:
                calls[event["auditID"]] = event
    return calls.values()


def resource_of(event):
    ref = event.get("objectRef", {})
    names = [ref.get("resource", event["requestURI"]), ref.get("subresource")]
    return "/".join(name for name in names if name)


def belongs(event, job):
    name = event.get("objectRef", {}).get("name", "")
    return name == job or name.startswith((job + "-", job + "."))


def selected(log, user, conditions):
    wanted = dict(condition.split("=", 1) for condition in conditions)
    unknown = wanted.keys() - {"namespace", "job", "since", "until"}
    if unknown:
        sys.exit(f"audit.py: unknown condition: {', '.join(sorted(unknown))}")
    for event in events(log, user):
        at = event["requestReceivedTimestamp"]
        if not wanted.get("since", "") <= at < wanted.get("until", "9"):
            continue
        ref = event.get("objectRef", {})
        if "namespace" in wanted and ref.get("namespace") != wanted["namespace"]:
            continue
        if "job" in wanted and not belongs(event, wanted["job"]):
            continue
        yield event


def table(found):
    counts = collections.Counter((resource_of(event), event["verb"]) for event in found)
    for (resource, verb), count in sorted(counts.items()):
        print(f"{count:5}  {verb:7} {resource}")
    print(f"{sum(counts.values()):5}  in all")


def writes(found):
    for event in found:
        if event["verb"] in WRITES and resource_of(event) != "leases":
            print(event["requestReceivedTimestamp"], event["verb"], event["requestURI"])


def granted_by(roles):
    with open(roles, encoding="utf-8") as text:
        items = json.load(text)["items"]
    return {(group, resource, verb)
            for role in items for rule in role["rules"]
            for group in rule["apiGroups"] for resource in rule["resources"]
            for verb in rule["verbs"]}


def reasons_of(path):
    reasons = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            group, resource, verb, reason = line.split(None, 3)
            reasons["" if group == "-" else group, resource, verb] = reason.strip()
    return reasons


def permissions(found, roles, reasons):
    """True when every rule is used or has a reason, and nothing was used that no rule grants."""
    granted = granted_by(roles)
    reasons = reasons_of(reasons)
    used = collections.Counter(
        (event["objectRef"].get("apiGroup", ""), resource_of(event), event["verb"])
        for event in found if "objectRef" in event)
    fine = True
    for rule in sorted(granted | used.keys() | reasons.keys()):
        words = f"{rule[2]:7} {rule[1]}{'.' + rule[0] if rule[0] else ''}"
        if rule not in granted:
            fine = False
            print(f"NOT GRANTED  {words}: {reasons.get(rule, f'used {used[rule]} times')}")
        elif used[rule]:
            print(f"used {used[rule]:5}   {words}")
        else:
            fine = fine and rule in reasons
            print(f"{'reserve' if rule in reasons else 'NOT USED'}      {words}: "
                  f"{reasons.get(rule, 'no reason is given')}")
    return fine


def main():
    log, user, question, *rest = sys.argv[1:]
    if question == "permissions":
        sys.exit(not permissions(events(log, user), *rest))
    found = selected(log, user, rest)
    if question == "count":
        print(sum(1 for _ in found))
    else:
        {"table": table, "writes": writes}[question](found)


main()
