#!/usr/bin/env python3
"""own_header_first_detects.py ROOT: own_header_first.py accepts a clean tree and refuses each kind of
violation."""
from detects import Trees

CLEAN = {
    "base/a.h": "",
    "base/a.cc": '// What a is.\n#include "base/a.h"\n\n#include <string>\n',
    "base/main.cc": "#include <string>\n",
    "tests/base/b.h": "",
    "tests/base/b.cc": "#include <string>\n",
}

trees = Trees("own_header_first.py")
trees.accepts(CLEAN)
for content in ('#include <string>\n#include "base/a.h"\n',
                '#include "a.h"\n',
                "int a = 1;\n"):
    trees.refuses("base/a.cc:", {**CLEAN, "base/a.cc": content})
trees.refuses("0 sources", {"base/main.cc": "int main() {}\n"})
trees.finish()
