#!/usr/bin/env python3
"""retired_words_detects.py ROOT: retired_words.py accepts a clean tree and refuses identifiers and
phrases, wherever they are."""
from detects import Trees

LIST = ("# old -> new\n[identifiers]\nGrantBook -> WorkLedger\nkCut* -> kCheckpoint\n"
        "child_end* -> program_exit\n[phrases]\nof late -> recently\nso-manieth -> n-th\n")
CLEAN = {
    "tests/tree/retired_words.txt": LIST,
    "CHANGELOG.md": "GrantBook is gone of late\n",
    "tests/golden/a.txt": "GrantBook\n",
    "e2e/tools/go.sum": "GrantBook\n",
    "base/a.h": "int MyGrantBook; int grantbook; int Cut; // of later\n",
}

trees = Trees("retired_words.py")
trees.accepts(CLEAN)
trees.refuses("base/b.h:2:", {**CLEAN, "base/b.h": "\nclass GrantBook {};\n"})
trees.refuses("base/b.h:1:", {**CLEAN, "base/b.h": "int kCutAfter = 1;\n"})
trees.refuses("docs/b.md:1:", {**CLEAN, "docs/b.md": "What was done Of Late.\n"})
trees.refuses("base/b.h:1:", {**CLEAN, "base/b.h": "// What was done of\n// late.\n"})
trees.refuses("scripts/b.sh:1:", {**CLEAN, "scripts/b.sh": "# each so-manieth\n"})
trees.refuses("agent/child_end.h:1:", {**CLEAN, "agent/child_end.h": "int a;\n"})
trees.refuses("0 words", {"base/a.h": "int a;\n"})
trees.finish()
