#!/usr/bin/env python3
"""tensorflow_map.py ROOT: every row of docs/tensorflow-map.md holds. Its state is one of four. A row
that is pinned, deviates or is none names, in backquotes, tests that exist as Suite.Name in a
GoogleTest source; pinned and deviates name a symbol that a header of include/pstrain declares,
deviates and none say why; next names nothing. No row is there twice, and each behaviour of TensorFlow
from 1 to 193 is in one row, which begins with its number."""
import re
import sys

from source_tree import code_of, files_of, line_of, text_of

MAP = "docs/tensorflow-map.md"
STATES = ("pinned", "deviates", "none", "next")
ROW = re.compile(r"^\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|[ \t]*$", re.MULTILINE)
TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")
SPAN = re.compile(r"`([^`]+)`")
NUMBERS = re.compile(r"(?:^|, )(\d+)(?:-(\d+))?(?= |$)")
BEHAVIOURS = set(range(1, 194))


def tests_of(root):
    return {f"{suite}.{name}"
            for path in files_of(root) if path.startswith("tests/") and path.endswith("_test.cc")
            for suite, name in TEST.findall(code_of(text_of(root, path) or ""))}


def words_of(root):
    return {word
            for path in files_of(root) if path.startswith("include/pstrain/") and path.endswith(".h")
            for word in re.findall(r"\w+", code_of(text_of(root, path) or "", directives=False))}


def faults_of(state, ours, tests, known_tests, known_words):
    """What is wrong with a row."""
    symbols, named = SPAN.findall(ours), SPAN.findall(tests)
    if state not in STATES:
        return [f'"{state}" is no state']
    if state == "next":
        return ["what is next has no symbol and no test yet"] if ours or tests else []
    faults = [f"there is no test {test}" for test in named if test not in known_tests]
    if not named:
        faults.append("it names no test")
    if state != "none" and not symbols:
        faults.append("it names no symbol")
    for symbol in symbols:
        faults += [f"no header of include/pstrain declares {word}"
                   for word in re.findall(r"\w+", symbol) if word not in known_words]
    if state in ("deviates", "none") and not re.search(r"\w+ \w+", SPAN.sub("", ours)):
        faults.append("it says no reason")
    return faults


def behaviours_of(name):
    """By the row's name; of a row of ours, as 91a, none."""
    if not re.match(r"\d+(?![\da-z])", name):
        return []
    return [number for first, last in NUMBERS.findall(name)
            for number in range(int(first), int(last or first) + 1)]


def main(root):
    text = text_of(root, MAP) or ""
    known_tests, known_words = tests_of(root), words_of(root)
    seen, numbers = set(), []
    rows = violations = 0
    for row in ROW.finditer(text):
        name, state, ours, tests = (cell.strip() for cell in row.groups())
        if name == "TensorFlow" or set(name) <= set("-"):
            continue
        rows += 1
        faults = faults_of(state, ours, tests, known_tests, known_words)
        if name in seen:
            faults.append("it is there twice")
        seen.add(name)
        behaviours = behaviours_of(name)
        faults += [f"behaviour {number} is in a row already" for number in behaviours
                   if number in numbers]
        numbers += behaviours
        for fault in faults:
            print(f"{MAP}:{line_of(text, row.start())}: {name}: {fault}")
            violations += 1
    for number in sorted(BEHAVIOURS ^ set(numbers)) if rows else ():
        print(f"{MAP}: behaviour {number} is " +
              ("in no row" if number in BEHAVIOURS else "one that nobody has described"))
        violations += 1
    print(f"{rows} rows, {violations} violations")
    return 1 if violations or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
