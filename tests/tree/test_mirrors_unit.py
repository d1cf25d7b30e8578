#!/usr/bin/env python3
"""test_mirrors_unit.py ROOT: tests mirror full paths: tests/FOLDER/UNIT_test.cc, or
UNIT_ASPECT_test.cc, tests FOLDER/UNIT.h, .cc or .proto of what ships. What tests more than one unit
is in the list below, a folder or a file each, with what it tests."""
import os
import sys

from source_tree import SHIPPED, files_of

WHOLE = {
    "tests/process/": "real processes of all programs",
    "tests/runtime/chief/mixed_updates_run_test.cc": "chief, ps and a worker's way to them together",
    "tests/runtime/chief/protocol/simulation_test.cc": "all of runtime/chief/protocol",
    "tests/library/local_program_test.cc": "whole programs, by the public headers alone",
    "tests/runtime/model/adult_training_test.cc": "data, model and metrics of the example together",
    "tests/runtime/rpc/grpc/connection_bounds_test.cc": "server, gate and service together",
    "tests/runtime/simulation/": "whole jobs on simulated time, network and disk",
}


def mirrors(path, units):
    words = path[len("tests/"):-len("_test.cc")]
    folder, name = os.path.split(words)
    parts = name.split("_")
    return any(os.path.join(folder, "_".join(parts[:count])) in units
               for count in range(1, len(parts) + 1))


def main(root):
    paths = files_of(root)
    units = {os.path.splitext(path)[0] for path in paths
             if path.split("/")[0] in SHIPPED and path.endswith((".h", ".cc", ".proto"))}
    tests = [path for path in paths if path.startswith("tests/") and path.endswith("_test.cc")]
    violations = 0
    for path in tests:
        if not path.startswith(tuple(WHOLE)) and not mirrors(path, units):
            print(f"{path}: there is no such unit in {os.path.dirname(path)[len('tests/'):]}")
            violations += 1
    for whole in WHOLE:
        if not any(path.startswith(whole) for path in tests):
            print(f"{whole}: is in the list, and is not there")
            violations += 1
    print(f"{len(tests)} tests, {violations} violations")
    return 1 if violations or not tests else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
