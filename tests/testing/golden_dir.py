#!/usr/bin/env python3
"""golden_dir.py ROOT PROGRAM=FILTER...: tests of golden vectors read those below PSTRAIN_GOLDEN_DIR
where it is set: a copy of ours passes, and files that have no vectors do not."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile


def passes(program, chosen, folder):
    done = subprocess.run([program, f"--gtest_filter={chosen}", "--gtest_brief=1"],
                          env={**os.environ, "PSTRAIN_GOLDEN_DIR": folder},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    return done.returncode == 0


def main(root, programs):
    violations = 0
    with tempfile.TemporaryDirectory() as scratch:
        copy, empty = os.path.join(scratch, "copy"), os.path.join(scratch, "empty")
        shutil.copytree(os.path.join(root, "tests/golden"), copy)
        os.mkdir(empty)
        for path in glob.glob(os.path.join(copy, "*.json")):
            with open(os.path.join(empty, os.path.basename(path)), "w", encoding="utf-8") as file:
                file.write("{}")
        for program, chosen in (one.split("=", 1) for one in programs):
            if not passes(program, chosen, copy):
                print(f"{program} {chosen}: does not pass with a copy of our vectors")
                violations += 1
            if passes(program, chosen, empty):
                print(f"{program} {chosen}: passes with files that have no vectors")
                violations += 1
    print(f"{len(programs)} programs, {violations} violations")
    return 1 if violations or not programs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
