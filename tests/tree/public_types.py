#!/usr/bin/env python3
"""public_types.py ROOT: each type that a header of include/pstrain defines for our users has a comment
right before it that says which symbol of TensorFlow it mirrors, or that TensorFlow has none, or whose
numbers or structs it has otherwise (gRPC's, DLPack's). What is in a namespace whose name ends in
_internal is nobody's; status.h is of base, which has nothing to do with TensorFlow."""
import re
import sys

from source_tree import files_of, text_of

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{$")
END = re.compile(r"^\}  // namespace ([\w:]+)$")
TYPE = re.compile(r"^(?:class|struct|enum class) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : [^;]*)? \{$")
STATUS = "include/pstrain/status.h"
BEFORE = re.compile(r"^(?:template\b|  requires\b)")
SOURCE = re.compile(r"\bMirrors \S*\w|\bTensorFlow\b|\bgRPC\b|\bDL[A-Z]\w+")


def comment_before(lines, index):
    while index > 0 and BEFORE.match(lines[index - 1]):
        index -= 1
    comment = []
    while index > 0 and lines[index - 1].startswith("///"):
        index -= 1
        comment.insert(0, lines[index].removeprefix("///").strip())
    return " ".join(comment)


def types_of(text):
    """(line, name, comment) of each type at the level of a namespace."""
    lines, namespaces = text.split("\n"), []
    for index, line in enumerate(lines):
        if opened := NAMESPACE.match(line):
            namespaces.append(opened[1])
        elif END.match(line):
            namespaces.pop()
        elif found := TYPE.match(line):
            if not any(name.endswith("_internal") for name in namespaces):
                yield index + 1, found[1], comment_before(lines, index)


def main(root):
    violations = types = 0
    for path in files_of(root):
        if not path.startswith("include/pstrain/") or not path.endswith(".h") or path == STATUS:
            continue
        for line, name, comment in types_of(text_of(root, path) or ""):
            types += 1
            if not SOURCE.search(comment):
                print(f"{path}:{line}: {name} has no comment that says what it mirrors of TensorFlow, "
                      "or that there is no such thing")
                violations += 1
    print(f"{types} types, {violations} violations")
    return 1 if violations or not types else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
