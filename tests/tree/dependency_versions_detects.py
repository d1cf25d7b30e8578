#!/usr/bin/env python3
"""dependency_versions_detects.py ROOT: dependency_versions.py accepts a table that fits what is
installed, by a dpkg-query of its own, and refuses rows that do not fit, lack or are unknown."""
import os
import tempfile

from dependency_versions import LIBRARIES
from detects import Trees

HEAD = "# Security\n\n## What we depend on\n\n| library | version | for | in |\n|---|---|---|---|\n"
INSTALLED = "1:1.2.3-4+deb12u1+b2"


def tree(rows, packages="cmake libgrpc++-dev\n  libgtest-dev zlib1g-dev"):
    table = "".join(f"| {names} | {versions} | x | y |\n" for names, versions in rows.items())
    return {"SECURITY.md": HEAD + table + "\n## Else\n\n| Odd | 9 | | |\n",
            "scripts/install-deps.sh": f"packages=(\n  {packages}\n)\n"}


ROWS = {name: "1.2.3-4" for name in LIBRARIES if name not in ("c-ares", "RE2")}
ROWS["c-ares, RE2"] = "1.2.9-1+deb12u7, 1.2-4~deb12u1"

with tempfile.TemporaryDirectory() as folder:
    query = os.path.join(folder, "dpkg-query")
    with open(query, "w", encoding="utf-8") as script:
        script.write(f"#!/bin/sh\necho 'installed {INSTALLED}'\n")
    os.chmod(query, 0o755)
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    trees = Trees("dependency_versions.py")
    trees.accepts(tree(ROWS))
    trees.refuses("zlib: 1.3.3 is written", tree({**ROWS, "zlib": "1.3.3"}))
    trees.refuses("zlib: 2.2.3-4 is written", tree({**ROWS, "zlib": "2.2.3-4"}))
    trees.refuses("RE2:  is written", tree({**ROWS, "c-ares, RE2": "1.2.3-4"}))
    trees.refuses("no row for zlib", tree({name: ROWS[name] for name in ROWS if name != "zlib"}))
    trees.refuses("Snappy: this check knows no package", tree({**ROWS, "Snappy": "1"}))
    trees.refuses("install-deps.sh: libsnappy-dev", tree(ROWS, "cmake libsnappy-dev"))
    trees.finish()
