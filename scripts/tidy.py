#!/usr/bin/env python3
"""tidy.py FILE.cc...: clang-tidy over these sources by build/tidy/compile_commands.json; prints the
findings and fails on any. A source without a finding is not looked at again until it, a header of
it, its command, .clang-tidy or clang-tidy itself changes: what was looked at is kept as a hash in
the cache. Called by tidy.sh."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

TIDY = "clang-tidy-19"
BUILD = pathlib.Path("build/tidy")


def run(command, folder="."):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")


class Tidy:
    def __init__(self):
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        self.cache = pathlib.Path(home, "pstrain", "tidy")
        self.cache.mkdir(parents=True, exist_ok=True)
        self.common = run([TIDY, "--version"]).stdout + pathlib.Path(".clang-tidy").read_text()
        self.root = root = pathlib.Path.cwd()
        self.commands = {}
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            path = pathlib.Path(entry["directory"], entry["file"]).resolve()
            if path.is_relative_to(root):
                self.commands[str(path.relative_to(root))] = entry

    def seen(self, source):
        """The file whose presence says that this very text has no finding."""
        entry = self.commands[source]
        # Comments and macros too: NOLINT is one, and checks look at the other.
        command = shlex.split(entry["command"]) + ["-E", "-C", "-dD", "-o", "-"]
        text = run(command, entry["directory"])
        if text.returncode != 0:
            return None
        # The same in another checkout.
        whole = "\0".join([self.common, source, entry["command"], text.stdout]).replace(
            str(self.root), ".")
        return self.cache / hashlib.sha256(whole.encode(errors="replace")).hexdigest()

    def look(self, source):
        """(passed, what to print, whether the cache knew)"""
        if source not in self.commands:
            return False, f"{source}: no target of the build compiles it\n", False
        seen = self.seen(source)
        if seen and seen.exists():
            return True, "", True
        # Its stderr is the count of what it left out, unless it failed.
        result = run([TIDY, "-p", str(BUILD), "--quiet", source])
        if result.returncode != 0:
            return False, result.stdout + result.stderr, False
        if seen and not result.stdout:
            seen.touch()
        return True, result.stdout, False


def main(sources):
    tidy = Tidy()
    jobs = int(os.environ.get("JOBS") or os.cpu_count())
    failed = known = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for passed, text, cached in pool.map(tidy.look, sources):
            failed += not passed
            known += cached
            print(text, end="", flush=True)
    print(f"clang-tidy: {len(sources)} sources, {known} of them unchanged, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
