#!/usr/bin/env python3
"""test_mirrors_unit_detects.py ROOT: test_mirrors_unit.py accepts a clean tree and refuses each kind
of violation."""
from detects import Trees
from test_mirrors_unit import WHOLE

CLEAN = {
    "base/os/files.cc": "",
    "base/clock.h": "",
    "proto/contract/control.proto": "",
    "tests/base/os/files_test.cc": "",
    "tests/base/os/files_when_full_test.cc": "",
    "tests/base/clock_test.cc": "",
    "tests/proto/contract/control_test.cc": "",
    "tests/base/fake_clock.cc": "",
    **{whole + "any_test.cc" if whole.endswith("/") else whole: "" for whole in WHOLE},
}

trees = Trees("test_mirrors_unit.py")
trees.accepts(CLEAN)
for path in ("tests/base/files_test.cc",        # another folder
             "tests/base/os/file_test.cc",      # the beginning of a word
             "tests/base/os_test.cc",           # a folder
             "tests/base/fake_clock_test.cc",   # a unit of the tests
             "tests/base/os/all_of_it_test.cc",
             "tests/e2e/clock_test.cc"):
    trees.refuses(f"{path}:", {**CLEAN, path: ""})
for whole in WHOLE:
    trees.refuses(f"{whole}: is in the list",
                  {path: text for path, text in CLEAN.items() if not path.startswith(whole)})
trees.refuses("0 tests", {"base/clock.h": ""})
trees.finish()
