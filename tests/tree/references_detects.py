#!/usr/bin/env python3
"""references_detects.py ROOT: references.py accepts a clean tree and refuses each kind of dangling
reference."""
from detects import Trees

ARCHITECTURE = """# Architecture
| program | source |
|---|---|
| agent | `agent/agent.cc` |
## Kills at exact moments
## The life of a job
| step | where |
|---|---|
| 1 | `agent/agent.cc` `RunAgent` |
"""
CLEAN = {
    "ARCHITECTURE.md": ARCHITECTURE,
    "README.md": "See [the rules](docs/rules.md#top), https://example.org/a.h, `agent/*.cc`, "
                 "`build/dev/a.txt`, `agent/agent` and `<dir>/x.h`, `and/or`, `agent.cc`, "
                 "`result.json`, `FILE_test.cc`.\n"
                 "```\nbuild/dev/bin/run job.json agent/agent.cc:7 \"agent.h\"\n```\n",
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
trees.refuses("ARCHITECTURE.md:10:", added("ARCHITECTURE.md", "`agent/gone.cc`\n"))
trees.refuses("ARCHITECTURE.md:10:", added("ARCHITECTURE.md", "the folder `agent/gone/`\n"))
trees.refuses("ARCHITECTURE.md:10:", added("ARCHITECTURE.md", "`vanished/core.cc`\n"))
trees.refuses("ARCHITECTURE.md:10:", added("ARCHITECTURE.md", "| 2 | `agent/agent.cc` `RunNobody` |\n"))
trees.refuses("ARCHITECTURE.md:10:",
              added("ARCHITECTURE.md", "| 2 | `agent/agent.cc` `Agent::RunAgent` |\n"))
trees.refuses("ARCHITECTURE.md:10:", added("ARCHITECTURE.md", "| 2 | `agent/agent.h` |\n"))
trees.refuses("ARCHITECTURE.md:10:", added("ARCHITECTURE.md", "| act | `agent/agent.h` |\n"))
trees.refuses("docs/rules.md:2:", added("docs/rules.md", "`agent/agent.h:3`, `agent/gone.h:3`\n"))
trees.refuses("docs/rules.md:2:", added("docs/rules.md", "`gone.cc`\n"))
trees.refuses("docs/rules.md:4:", added("docs/rules.md", "```\nls\nsh agent/gone.sh # why\n```\n"))
trees.refuses("docs/rules.md:4:", added("docs/rules.md", "- do:\n  ```\n  gone.py --all\n  ```\n"))
for document in ("SECURITY.md", "bench/README.md", "examples/a/README.md"):
    trees.refuses(f"{document}:1:", added(document, "`agent/gone.cc`\n"))
trees.refuses("docs/rules.md:2:", added("docs/rules.md", "[gone](gone.md)\n"))
trees.refuses("0 references", {"base/a.cc": "int a;\n"})
trees.finish()
