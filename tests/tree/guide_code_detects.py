#!/usr/bin/env python3
"""guide_code_detects.py ROOT: guide_code.py accepts a clean tree and refuses code that is in no
source."""
from detects import Trees

CLEAN = {
    "examples/own/own.cc": "int a = 1;\n  int b = 2;\nint main() {}\n",
    "docs/guide/own.md": "# Guide\n```cpp\n  int b = 2;\nint main() {}\n```\n```\nnot C++\n```\n",
}

trees = Trees("guide_code.py")
trees.accepts(CLEAN)
for code in ["int b = 2;", "  int b = 3;", "int a = 1;\nint main() {}", "int b"]:
    trees.refuses("docs/guide/own.md:2:",
                  {**CLEAN, "docs/guide/own.md": f"# Guide\n```cpp\n{code}\n```\n"})
trees.refuses("0 blocks", {**CLEAN, "docs/guide/own.md": "# Guide\n"})
trees.finish()
