#!/usr/bin/env python3
"""reaches.py FROM TO PORT: `yes` when the NetworkPolicies of the cluster let pod FROM connect to PORT
of pod TO, else `no`; pods are NAMESPACE/NAME. Judged by the selectors of the policies and the labels
of the live pods, as a network plugin would: that of the test cluster enforces none. Knows what our
policies use: podSelector, namespaceSelector, matchLabels, matchExpressions, TCP ports by number or
name (networking.k8s.io/v1)."""

import json
import subprocess
import sys


def objects(kind):
    text = subprocess.run(["kubectl", "get", kind, "--all-namespaces", "-o", "json"],
                          capture_output=True, check=True, text=True).stdout
    return json.loads(text)["items"]


def selects(selector, labels):
    """An empty selector selects everything."""
    for key, value in selector.get("matchLabels", {}).items():
        if labels.get(key) != value:
            return False
    for one in selector.get("matchExpressions", []):
        present, values = one["key"] in labels, one.get("values", [])
        holds = {
            "Exists": present,
            "DoesNotExist": not present,
            "In": present and labels.get(one["key"]) in values,
            "NotIn": labels.get(one["key"]) not in values,
        }[one["operator"]]
        if not holds:
            return False
    return True


def labels_of(thing):
    return thing["metadata"].get("labels", {})


def is_peer(peer, policy, source, namespaces):
    home = source["metadata"]["namespace"]
    if "namespaceSelector" in peer:
        if not selects(peer["namespaceSelector"], labels_of(namespaces[home])):
            return False
    elif home != policy["metadata"]["namespace"]:
        return False
    return "ipBlock" not in peer and selects(peer.get("podSelector", {}), labels_of(source))


def is_port(port, target, number):
    if port.get("protocol", "TCP") != "TCP":
        return False
    wanted = port.get("port", number)
    if isinstance(wanted, str):
        declared = {one.get("name"): one["containerPort"]
                    for container in target["spec"]["containers"]
                    for one in container.get("ports", [])}
        wanted = declared.get(wanted)
    return wanted == number


def reaches(source, target, number, policies, namespaces):
    chosen = [
        policy for policy in policies
        if policy["metadata"]["namespace"] == target["metadata"]["namespace"]
        and "Ingress" in policy["spec"]["policyTypes"]
        and selects(policy["spec"]["podSelector"], labels_of(target))
    ]
    for policy in chosen:
        for rule in policy["spec"].get("ingress", []):
            sources, ports = rule.get("from", []), rule.get("ports", [])
            if (not sources or any(is_peer(one, policy, source, namespaces) for one in sources)) and (
                    not ports or any(is_port(one, target, number) for one in ports)):
                return True
    return not chosen


def main():
    source, target, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    pods = {f"{one['metadata']['namespace']}/{one['metadata']['name']}": one
            for one in objects("pods")}
    namespaces = {one["metadata"]["name"]: one for one in objects("namespaces")}
    allowed = reaches(pods[source], pods[target], number, objects("networkpolicies"), namespaces)
    print("yes" if allowed else "no")


if __name__ == "__main__":
    main()
