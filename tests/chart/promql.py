"""What a PromQL expression names, for tests: as much of the language as rules and dashboards use."""
import collections
import re

# What Prometheus and its discovery add to the series of the programs.
LABELS_OF_PROMETHEUS = frozenset({"namespace", "pod", "job", "instance", "le"})
NAME = re.compile(r"\b(?:\w+:)*(?:pstrain|process|workqueue|rest_client|controller_runtime|"
                  r"leader_election)_[\w:]+|\bALERTS\b")
STRING = re.compile(r'"[^"]*"')
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
GROUPING = re.compile(r"\b(?:by|on|ignoring|without)\s*\(([^)]*)\)")

Selector = collections.namedtuple("Selector", "names labels")


def names_in(expression):
    return set(NAME.findall(STRING.sub('""', expression)))


def grouping_labels(expression):
    return {label for group in GROUPING.findall(STRING.sub('""', expression))
            for label in re.findall(r"\w+", group)}


def labels_in(expression):
    return grouping_labels(expression) | {label for label, _ in MATCHER.findall(expression)
                                          if label != "__name__"}


def selectors_in(expression):
    """Each NAME{MATCHERS}, and {MATCHERS} whose __name__ lists the names."""
    found = []
    for match in re.finditer(r'([\w:]*)\{((?:[^"}]|"[^"]*")*)\}', expression):
        name, inside = match.groups()
        matchers = dict(MATCHER.findall(inside))
        listed = matchers.pop("__name__", "")
        found.append(Selector({name} if name else set(listed.split("|")), set(matchers)))
    return found


def calls_in(expression, function):
    """The argument of each call, without the parentheses."""
    for match in re.finditer(rf"\b{function}\s*\(", expression):
        depth, start = 1, match.end()
        for end in range(start, len(expression)):
            depth += {"(": 1, ")": -1}.get(expression[end], 0)
            if depth == 0:
                yield expression[start:end]
                break
