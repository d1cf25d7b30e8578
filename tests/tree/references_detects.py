#!/usr/bin/env python3
"""references_detects.py ROOT: references.py accepts a clean tree and refuses each kind of dangling
reference."""
from detects import Trees

ARCHITECTURE = """# Architecture
## The life of a job
| step | where |
|---|---|
| 1 | `agent/agent.cc` `RunAgent` |
## Kills at exact moments
"""
CLEAN = {
    "ARCHITECTURE.md": ARCHITECTURE,
    "README.md": "See [the rules](docs/rules.md#top), https://example.org/a.h, `agent/*.cc`, "
                 "`build/dev/a.txt`, `agent/agent` and `<dir>/x.h`, `and/or`.\n"
                 "```\nagent/nothing.cc `agent/nothing.cc`\n```\n",
    "docs/rules.md": "[back](../README.md) to `agent/`\n",
    "agent/agent.h": "/// As told (ARCHITECTURE.md, Kills at exact\n/// moments).\n",
    "agent/agent.cc": "int RunAgent() { return 0; }\n",
}


def added(path, text):
    return {**CLEAN, path: CLEAN.get(path, "") + text}


trees = Trees("references.py")
trees.accepts(CLEAN)
trees.refuses("agent/b.h:2:", added("agent/b.h", "\n// ARCHITECTURE.md, Restart rules.\n"))
trees.refuses("agent/b.h:1:", added("agent/b.h", "/// (ARCHITECTURE.md, Kills at exact\n/// times)\n"))
trees.refuses("scripts/a.sh:1:", added("scripts/a.sh", "# ARCHITECTURE.md, The life\n"))
trees.refuses("ARCHITECTURE.md:7:", added("ARCHITECTURE.md", "`agent/gone.cc`\n"))
trees.refuses("ARCHITECTURE.md:7:", added("ARCHITECTURE.md", "the folder `agent/gone/`\n"))
trees.refuses("ARCHITECTURE.md:7:", added("ARCHITECTURE.md", "`vanished/core.cc`\n"))
trees.refuses("ARCHITECTURE.md:7:", added("ARCHITECTURE.md", "| 2 | `agent/agent.cc` `RunNobody` |\n"))
trees.refuses("ARCHITECTURE.md:7:",
              added("ARCHITECTURE.md", "| 2 | `agent/agent.cc` `Agent::RunAgent` |\n"))
trees.refuses("ARCHITECTURE.md:7:", added("ARCHITECTURE.md", "| 2 | `agent/agent.h` |\n"))
trees.refuses("docs/rules.md:2:", added("docs/rules.md", "`agent/gone.h:3`, `agent/gone.h`\n"))
trees.refuses("docs/rules.md:2:", added("docs/rules.md", "[gone](gone.md)\n"))
trees.refuses("0 references", {"base/a.cc": "int a;\n"})
trees.finish()
