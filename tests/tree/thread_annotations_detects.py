#!/usr/bin/env python3
"""thread_annotations_detects.py ROOT: thread_annotations.py accepts a clean tree and refuses each
kind of violation."""
from detects import Trees

CLEAN = {
    "base/a.h": "class A {\n  mutable Mutex mutex_;\n  int a_ PSTRAIN_GUARDED_BY(mutex_) = 0;\n};\n",
    "base/b.h": "class B {\n  Mutex append_;  // one appender at a time\n};\n",
    "base/c.h": "class C {\n  // Guards the library, which is not thread-safe.\n  Mutex mutex_;\n};\n",
    "base/d.h": "void Wait(Mutex& mutex);\n",
}

trees = Trees("thread_annotations.py")
trees.accepts(CLEAN)
trees.refuses("agent/a.h:2:", {**CLEAN, "agent/a.h": "class A {\n  Mutex mutex_;\n  int a_;\n};\n"})
trees.refuses("agent/a.h:3:", {
    **CLEAN, "agent/a.h": "struct A {\n  int a PSTRAIN_GUARDED_BY(other);\n  mutable Mutex mutex;\n};\n"})
trees.refuses("runtime/a.cc:1:", {**CLEAN, "runtime/a.cc": "static Mutex mutex;\n"})
trees.finish()
