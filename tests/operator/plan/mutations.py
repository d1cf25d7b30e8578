"""Plants each fault of mutations.txt into its policy; the plan's tests must fail with every one.

usage: mutations.py ROOT BUILD [FILE.cc]
       mutations.py ROOT --lines: looks only whether each mutation's line is there

A faulty file is compiled with the command that the build has for the original and linked in front of
the plan's library, so that one mutation costs one compile and one link. The tree and the build stay
as they are. A policy named in operator/plan/policies.h without a mutation is an error, and so is a
mutation whose line is gone.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

def read_mutations(path):
    """Yields (file, line, replacement)."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    for name, old, new in zip(lines[0::3], lines[1::3], lines[2::3], strict=True):
        if old[0] != "-" or new[0] != "+":
            sys.exit(f"{path}: the block of {name} with {old!r} is not FILE, -LINE, +LINE")
        yield name, old[1:], new[1:]


def mutate(source, old, new):
    lines = source.read_text().split("\n")
    if lines.count(old) != 1:
        sys.exit(f"{source}: {old.strip()!r} occurs {lines.count(old)} times, not once; "
                 "update tests/operator/plan/mutations.txt")
    lines[lines.index(old)] = new
    return "\n".join(lines)


def compile_command(build, source, target, output):
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if entry["file"] == str(source):
            words = shlex.split(entry["command"])
            if pathlib.Path(words[0]).name == "ccache":
                del words[0]
            words[words.index("-o") + 1] = str(output)
            words[words.index(str(source))] = str(target)
            return [*words, "-w"]  # a fault may leave a variable unused
    sys.exit(f"{source} is not in {build}/compile_commands.json")


def link_command(build, mutant, output):
    commands = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "tests/plan_test"],
                              check=True, capture_output=True, text=True).stdout.splitlines()
    words = [word for word in shlex.split(commands[-1]) if word not in (":", "&&")]
    words[words.index("-o") + 1] = str(output)
    words.insert(words.index("-o"), str(mutant))
    return words


def run(words, build):
    done = subprocess.run(words, cwd=build, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}\n{done.stdout}{done.stderr}")


def notices(build, source, old, new, scratch):
    """What the tests said first, or None if they passed."""
    faulty, mutant, test = scratch / source.name, scratch / "mutant.o", scratch / "plan_test"
    faulty.write_text(mutate(source, old, new))
    run(compile_command(build, source, faulty, mutant), build)
    run(link_command(build, mutant, test), build)
    # The replaced policies of property_test.cc are caught with or without a fault.
    done = subprocess.run([str(test), "--gtest_filter=-*PlanMutant*", "--gtest_fail_fast"],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return None
    failure = re.search(r"^\[  FAILED  \] (\S+)", done.stdout, re.MULTILINE)
    return failure.group(1) if failure else f"exit status {done.returncode}"


def main():
    root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    only = sys.argv[3] if len(sys.argv) > 3 else None
    lines_only = sys.argv[2] == "--lines"
    folder = root / "operator" / "plan"
    mutations = list(read_mutations(root / "tests" / "operator" / "plan" / "mutations.txt"))

    policies = set(re.findall(r"^/// (\w+\.cc)\.", (folder / "policies.h").read_text(), re.MULTILINE))
    without = sorted(policies - {name for name, _, _ in mutations})
    if not policies or without:
        sys.exit(f"policies without a mutation in tests/operator/plan/mutations.txt: {without}")

    # All of them first: trying them takes minutes.
    for name, old, new in mutations:
        mutate(folder / name, old, new)
    if lines_only:
        print(f"{len(mutations)} mutations of {len(policies)} policies, each line is there")
        return False

    tried = survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, old, new in mutations:
            if only not in (None, name):
                continue
            seen = notices(build, folder / name, old, new, pathlib.Path(scratch))
            tried += 1
            survivors += seen is None
            print(f"{name}: {new.strip()}  ->  {seen or 'NOT NOTICED'}", flush=True)
    print(f"{tried} mutations of {len(policies)} policies, {survivors} not noticed")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
