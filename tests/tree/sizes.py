#!/usr/bin/env python3
"""sizes.py ROOT: of what ships, headers have at most 250 lines, sources and message files 400, the
bodies of functions 60, and folders 15 units; a unit is a header with its source, a lone one of them,
a message file, or a subfolder. Counts over code as clang-format writes it. What is generated (the
CRD, docs/reference) is not counted."""
import collections
import os
import re
import sys

from source_tree import SHIPPED, code_of, files_of, line_of, sources_of, text_of

HEADER_LINES, SOURCE_LINES, FUNCTION_LINES, UNITS = 250, 400, 60, 15
# The one description of a job, whose texts and rules stand beside the fields.
EXEMPT = ("proto/job/psjob.proto",)
# The headers of programs of our users, who name each of them by its path.
FLAT = ("include/pstrain",)
CONTAINER = re.compile(
    r'^(?:inline\s+)?namespace\b|^extern\s*$|^(?:template\s*<.*>\s*)?(?:class|struct|union)\b', re.DOTALL)


def functions_of(text):
    """(line, lines) of the body of each function at the level of a namespace or class: a brace after
    a blank, outside parentheses, behind a parameter list and not an initializer."""
    code = code_of(text, directives=False)
    functions, stack, parens, begin = [], [], 0, 0
    for offset, char in enumerate(code):
        if char == "(":
            parens += 1
        elif char == ")":
            parens -= 1
        elif char == "{":
            head = re.sub(r"^(?:public|private|protected):", "", code[begin:offset].strip()).strip()
            kind = "other"
            if parens == 0 and all(above == "container" for above, _ in stack):
                if CONTAINER.match(head) and not head.endswith(("=", ")", "const")):
                    kind = "container"
                elif code[offset - 1].isspace() and ")" in head and head[-1] not in "=,(":
                    kind = "function"
            stack.append((kind, offset))
            if kind != "other":
                begin = offset + 1
        elif char == "}" and stack:
            kind, start = stack.pop()
            if kind == "function":
                first = line_of(code, start)
                functions.append((first, line_of(code, offset) - first - 1))
            if kind != "other":  # an initializer's brace ends no statement
                begin = offset + 1
        elif char == ";" and parens == 0:
            begin = offset + 1
    return functions


def messages_of(root):
    return [path for path in files_of(root)
            if path.split("/")[0] in SHIPPED and path.endswith(".proto")]


def units_of(root):
    units = collections.defaultdict(set)
    for path in files_of(root):
        folders = path.split("/")
        stem, ending = os.path.splitext(folders.pop())
        if folders and folders[0] in SHIPPED and ending in (".h", ".cc", ".proto"):
            units["/".join(folders)].add(stem)
            for depth in range(1, len(folders)):
                units["/".join(folders[:depth])].add(folders[depth] + "/")
    return units


def main(root):
    violations = functions = 0

    def complain(text):
        nonlocal violations
        print(text)
        violations += 1

    sources = sources_of(root)
    for path in sources + messages_of(root):
        lines = (text_of(root, path) or "").count("\n")
        limit = HEADER_LINES if path.endswith(".h") else SOURCE_LINES
        if lines > limit and path not in EXEMPT:
            complain(f"{path}:{lines}: {lines} lines, {limit} are the limit")
    for path in sources:
        text = text_of(root, path) or ""
        for line, length in functions_of(text):
            functions += 1
            if length > FUNCTION_LINES:
                complain(f"{path}:{line}: a function of {length} lines, {FUNCTION_LINES} are the limit")
    for folder, units in sorted(units_of(root).items()):
        if len(units) > UNITS and folder not in FLAT:
            complain(f"{folder}: {len(units)} units, {UNITS} are the limit: {' '.join(sorted(units))}")
    print(f"{len(sources)} sources, {functions} functions, {violations} violations")
    return 1 if violations or functions == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
