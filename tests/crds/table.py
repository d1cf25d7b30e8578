#!/usr/bin/env python3
"""table.py SERVER PKI MANIFESTS REFERENCE: the verdicts of a real apiserver beside those of `pstrain
validate`.

MANIFESTS is the output of dump_manifests. Each body is POSTed with fieldValidation=Strict and
dryRun=All. Verdicts must be the same, and where a rule refuses, field and message too. Whatever the
apiserver says must be in REFERENCE, as a rule's message or in the last column of the table of
refusals. Manifests that are no single YAML document are for `pstrain validate` alone.
"""

import json
import re
import sys

from apiserver import Apiserver, install
from updates import (check_order, check_policy_updates, check_security_updates,
                     check_status_updates, check_updates)

# What CEL cannot say within its budget, or not know: the apiserver takes these and the operator
# refuses them with a condition.
ONLY_THE_OPERATOR = {
    "bad-check-crossed-features-known.yaml",
    "bad-check-embedding-dimensions.yaml",
    "bad-check-templates-merge.yaml",
    "bad-check-tf-config-fits.yaml",
}
ONE_OF = "must have exactly one of "


def job_path(body):
    metadata = body.get("metadata")
    namespace = metadata.get("namespace", "default") if isinstance(metadata, dict) else "default"
    return f"/apis/pstrain.dev/v1alpha1/namespaces/{namespace}/pstrainingjobs"


def rule_of(message, rules):
    """The text of the rule behind a message of `pstrain validate`, or None."""
    if message in rules:
        return message
    if message.startswith(ONE_OF):
        return message.split(";")[0]
    return None


def says(cause, rule):
    """Whether a cause of the apiserver is that rule: a bound is one only where the keyword of the
    schema cannot say it, and the keyword has words of its own."""
    keyword = rule.replace("must be at least", "should be greater than or equal to")
    return rule in cause.get("message", "") or keyword in cause.get("message", "")


def documented(reference):
    """Patterns of what the reference says that an apiserver says."""
    with open(reference, encoding="utf-8") as file:
        text = file.read()
    refusals = text[text.index("## What a refusal says"):text.index("## Rules")]
    cells = [re.split(r"(?<!\\)\|", line)[3] for line in refusals.splitlines()
             if line.startswith("| ")][1:]
    cells += [re.split(r"(?<!\\)\|", line)[3] for line in text[text.index("## Rules"):].splitlines()
              if line.startswith("| `")]
    patterns = []
    for cell in cells:
        words = cell.strip().strip("`").replace("\\|", "|")
        # FIELD, VALUE, N and so on stand for anything.
        patterns.append(re.compile(re.sub(r"\b[A-Z]+\b", ".*", re.escape(words)), re.DOTALL))
    return patterns


def undocumented(answer, patterns):
    """What the apiserver says and the reference does not."""
    causes = answer.get("details", {}).get("causes") or [{"message": answer.get("message", "")}]
    return [cause["message"] for cause in causes
            if not any(pattern.search(cause["message"]) for pattern in patterns)]


def check(row, rules, patterns, apiserver):
    """What is wrong with one row, as a list of texts."""
    body, name = row["body"], row["name"]
    status, answer = apiserver.post(job_path(body), body)
    accepted = status in (200, 201)
    expect_accepted = not row["errors"] or name in ONLY_THE_OPERATOR
    if not accepted and not 400 <= status < 500:
        return [f"HTTP {status}: {answer.get('message')}"]
    if accepted != expect_accepted:
        return [f"apiserver: {status} {answer.get('message', 'accepted')}; validate: {row['errors']}"]
    wrong = []
    if not accepted:
        wrong = [f"not in the reference: {text}" for text in undocumented(answer, patterns)]
    causes = answer.get("details", {}).get("causes", [])
    for error in row["errors"]:
        rule = rule_of(error["message"], rules)
        if rule is None or accepted:
            continue
        if not any(c.get("field") == error["path"] and says(c, rule) for c in causes):
            wrong.append(f"no cause at {error['path']} with '{rule}' in {causes}")
    return wrong


def check_longest_names(apiserver):
    """The apiserver takes the Service and a pod of the longest job name (RFC 1035)."""
    job = "a" + "9" * 39
    host = f"{job}-evaluator-9999"
    container = {"name": "training", "image": "none"}
    core = "/api/v1/namespaces/default"
    wrong = []
    for path, kind, name, spec in (
        ("/services", "Service", job, {"clusterIP": "None", "ports": [{"port": 2222}]}),
        ("/pods", "Pod", f"{host}-99999",
         {"hostname": host, "subdomain": job, "containers": [container]}),
    ):
        status, answer = apiserver.post(
            core + path,
            {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec},
        )
        if status != 201:
            wrong.append(f"{kind} {name}: {status} {answer.get('message')}")
    return wrong


def main():
    server, pki, manifests, reference = sys.argv[1:]
    patterns = documented(reference)
    apiserver = Apiserver(server, pki)
    with open(manifests, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rules = {text for row in rows if "rules" in row for text in row["rules"]}
    install(next(row["crd"] for row in rows if "crd" in row), apiserver)
    rows = [row for row in rows if "name" in row or "fixed" in row]
    # No controller makes it in a cluster that is an apiserver alone; pods ask for it.
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    apiserver.post("/api/v1/namespaces/default/serviceaccounts", account, query="")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}
    apiserver.post("/api/v1/namespaces", namespace, query="")

    failed = 0
    posted = [row for row in rows if "name" in row and "body" in row]
    for row in posted:
        for text in check(row, rules, patterns, apiserver):
            print(f"{row['name']}: {text}")
            failed += 1
    fixed = next(row["fixed"] for row in rows if "fixed" in row)
    job = next(row["body"] for row in rows if row.get("name") == "good-tfrecord.yaml")
    for text in check_updates(apiserver, job_path(job), job, fixed):
        print(text)
        failed += 1
    lists = next(row["body"] for row in rows if row.get("name") == "good-tiny.yaml")
    for text in check_order(apiserver, job_path(lists), lists, fixed):
        print(text)
        failed += 1
    for text in check_security_updates(apiserver, job_path(job), job):
        print(text)
        failed += 1
    for text in check_policy_updates(apiserver, job_path(job)):
        print(text)
        failed += 1
    good = [(row["name"], row["body"]) for row in posted if row["name"].startswith("good")]
    for text in check_status_updates(apiserver, job_path, good):
        print(text)
        failed += 1
    for text in check_longest_names(apiserver):
        print(text)
        failed += 1
    seen = {row["name"] for row in posted}
    for name in ONLY_THE_OPERATOR - seen:
        print(f"{name} is not in the table")
        failed += 1
    by_rule = sum(1 for row in posted for e in row["errors"] if rule_of(e["message"], rules))
    print(f"{len(rows)} manifests, {len(posted)} posted, {len(rows) - len(posted)} are about YAML, "
          f"{len(ONLY_THE_OPERATOR)} only the operator refuses, {by_rule} messages of rules, "
          f"{failed} differences")
    return 1 if failed or len(posted) < 40 or by_rule < 15 else 0


sys.exit(main())
