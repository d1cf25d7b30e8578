#!/usr/bin/env python3
"""guide_code.py ROOT: code in the guides is compiled: each block of C++ in docs/guide/*.md is a run of
whole lines of a source in examples/, which the build makes."""
import re
import sys

from source_tree import files_of, text_of

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(root):
    paths = files_of(root)
    guides = [path for path in paths if path.startswith("docs/guide/") and path.endswith(".md")]
    sources = ["\n" + (text_of(root, path) or "") for path in paths
               if path.startswith("examples/") and path.endswith((".cc", ".h"))]
    blocks = violations = 0
    for guide in guides:
        text = text_of(root, guide) or ""
        for found in BLOCK.finditer(text):
            blocks += 1
            if any("\n" + found.group(1) in source for source in sources):
                continue
            line = text.count("\n", 0, found.start()) + 1
            print(f"{guide}:{line}: this code is in no source of examples/, so nobody compiles it")
            violations += 1
    print(f"{blocks} blocks in {len(guides)} guides, {violations} violations")
    return 1 if violations or not blocks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
