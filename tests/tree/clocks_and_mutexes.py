#!/usr/bin/env python3
"""clocks_and_mutexes.py ROOT: the standard library's mutexes and condition variables are used in
base/mutex.h alone (which annotates them), and clocks are read in base/ alone, so that a test can
supply its own (base/clock.h). Tests keep to it too: one that waits for something real takes its time
from base/clock.h (SteadyNow), so that each reading of a clock is found in one place."""
import re
import sys

from source_tree import SHIPPED, code_of, files_of, line_of, text_of

MUTEX = re.compile(
    r"\bstd::(?:(?:recursive_|shared_)?(?:timed_)?mutex|condition_variable(?:_any)?|lock_guard|"
    r"unique_lock|scoped_lock|shared_lock|call_once|once_flag)\b"
    r"|#\s*include\s*<(?:mutex|shared_mutex|condition_variable)>"
    r"|\bpthread_(?:mutex|cond|rwlock|spin)_\w+")
CLOCK = re.compile(
    r"\b\w*[cC]lock::now\b|\busing\s+\w+\s*=\s*(?:std::chrono::|chrono::)?\w+_clock\s*;"
    r"|\b(?:clock_gettime|gettimeofday|timespec_get|ftime)\s*\("
    r"|(?<![\w.>])(?:std)?(?:::)?\btime\s*\(\s*(?:nullptr|NULL|0|&\w+)\s*\)")


# It stands in for the C library's clocks and mutexes, so that a simulation decides about them.
STAND_IN = "tests/runtime/simulation/posix_calls.cc"


def main(root):
    violations = 0
    sources = [path for path in files_of(root)
               if path.split("/")[0] in SHIPPED + ("tests",) and path.endswith((".h", ".cc"))]
    for path in sources:
        if path == STAND_IN:
            continue
        code = code_of(text_of(root, path) or "")
        rules = []
        if path != "base/mutex.h":
            rules.append((MUTEX, "use base/mutex.h"))
        if not path.startswith("base/"):
            rules.append((CLOCK, "use a Clock (base/clock.h)"))
        for pattern, advice in rules:
            for found in pattern.finditer(code):
                print(f"{path}:{line_of(code, found.start())}: {found.group().strip()}: {advice}")
                violations += 1
    print(f"{len(sources)} sources, {violations} violations")
    return 1 if violations or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
