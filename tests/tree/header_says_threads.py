#!/usr/bin/env python3
"""header_says_threads.py ROOT: a header of what ships that declares a class or a function says in a
comment which threads may use it: the word thread, or threads, is in it. Plain data, constants,
enums and types need no such word; operators that are defaulted, and constructors, do not count."""
import re
import sys

from source_tree import code_of, sources_of, text_of

WORD = re.compile(r"\bthreads?\b", re.IGNORECASE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CLASS = re.compile(r"(?<!enum )\bclass\s+(?:\[\[\w+\]\]\s*|[A-Z]\w*\([^()]*\)\s*)?\w+[^;{}()]*\{")
# A type, blanks, a name and a parameter list; what templates and initializers hold is gone before.
FUNCTION = re.compile(r"[\w>&*\]]\s+[&*]*(?:operator\s*[^\s\w(]+|(?!operator\b)\w+)\s*\(")
NO_TYPE = re.compile(r"\b(?:return|else|new|throw|requires|explicit|if|while|for|switch|case)\s+\w+\s*\(")


def code_without_details(text):
    code = code_of(text, directives=False)
    while True:  # the arguments of templates, from the inside
        shorter = re.sub(r"<[^<>;{}]*>", "", code)
        if shorter == code:
            break
        code = shorter
    code = re.sub(r"[^;{}]*\boperator\b[^;{}]*=\s*default\s*;", ";", code)
    return NO_TYPE.sub(" ", code)


def declares(text):
    code = code_without_details(text)
    return CLASS.search(code) is not None or FUNCTION.search(code) is not None


def main(root):
    violations = declaring = 0
    headers = [path for path in sources_of(root) if path.endswith(".h")]
    for path in headers:
        text = text_of(root, path) or ""
        if not declares(text):
            continue
        declaring += 1
        if not any(WORD.search(comment) for comment in COMMENT.findall(text)):
            print(f"{path}: says nothing of threads")
            violations += 1
    print(f"{len(headers)} headers, {declaring} of them declare a class or a function, "
          f"{violations} violations")
    return 1 if violations or declaring == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
