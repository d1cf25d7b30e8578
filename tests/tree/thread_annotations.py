#!/usr/bin/env python3
"""thread_annotations.py ROOT: what a Mutex guards is said by PSTRAIN_GUARDED_BY in the same file; a
Mutex that guards nothing says why in a comment on its line or right above. Looks at what ships."""
import re
import sys

from source_tree import code_of, line_of, sources_of, text_of

MUTEX = re.compile(r"^[ \t]*(?:mutable |static )*(?:pstrain::)?Mutex (\w+)(?:;|\{\})", re.MULTILINE)


def main(root):
    mutexes = violations = 0
    for path in sources_of(root):
        text = text_of(root, path) or ""
        code, lines = code_of(text), text.split("\n")
        for found in MUTEX.finditer(code):
            mutexes += 1
            name, line = found.group(1), line_of(code, found.start(1))
            if re.search(rf"GUARDED_BY\(\s*(?:\w+(?:\.|->))?{name}\s*\)", code):
                continue
            if "//" in lines[line - 1] or lines[line - 2].lstrip().startswith("//"):
                continue
            print(f"{path}:{line}: {name}: nothing is PSTRAIN_GUARDED_BY it, and no comment says why")
            violations += 1
    print(f"{mutexes} mutexes, {violations} violations")
    return 1 if violations or mutexes == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
