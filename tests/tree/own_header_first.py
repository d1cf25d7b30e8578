#!/usr/bin/env python3
"""own_header_first.py ROOT: a source that ships includes the header of its name before all others.
So each compile proves that this header needs no other one before it; headers_selfcontained.cmake
compiles only those that have no source."""
import re
import sys

from source_tree import sources_of, text_of

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(\S+)', re.MULTILINE)


def main(root):
    violations = 0
    paths = sources_of(root)
    headers = {path for path in paths if path.endswith(".h")}
    sources = [path for path in paths if path.endswith(".cc") and path[:-3] + ".h" in headers]
    for path in sources:
        own = path[:-3] + ".h"
        first = _INCLUDE.search(text_of(root, path) or "")
        if first is None or first.group(1) != f'"{own}"':
            print(f'{path}: its first include is not "{own}"')
            violations += 1
    print(f"{len(sources)} sources with a header, {violations} violations")
    return 1 if violations or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
