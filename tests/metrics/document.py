"""The tables of docs/metrics.md, for tests."""
import collections
import pathlib
import re

ROW = re.compile(r"^\| `(\w+)` \| (counter|gauge|histogram) \| (\w*) \| ([^|]*) \| ([^|]+) \|$")
SECTIONS = {"Operator": "operator", "Agent, of each replica": "agent", "Chief": "chief",
            "Ps": "ps", "Worker": "worker", "Evaluator": "evaluator"}
BUDGETS = {"the operator itself": "operator", "the operator, for each job": "job",
           "each replica": "replica"}

Family = collections.namedtuple("Family", "type labels help")


def read(root):
    """({source: {name: Family}}, {"operator"|"job"|"replica": most series})"""
    tables, budgets, source = collections.defaultdict(dict), {}, None
    text = (pathlib.Path(root) / "docs" / "metrics.md").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("## "):
            source = SECTIONS.get(line[3:])
        row = ROW.match(line)
        if row and source:
            name, kind, _, labels, text = row.groups()
            tables[source][name] = Family(kind, set(re.findall(r"\w+", labels)), text.strip())
        budget = re.match(r"^\| ([\w, ]+) \| (\d+) \|$", line)
        if budget and budget.group(1) in BUDGETS:
            budgets[BUDGETS[budget.group(1)]] = int(budget.group(2))
    return tables, budgets


def series_names(families):
    """Names of series, of a histogram those of its parts."""
    names = set()
    for name, family in families.items():
        parts = ("_bucket", "_sum", "_count") if family.type == "histogram" else ("",)
        names |= {name + part for part in parts}
    return names
