"""Compares the training of two builds: CPU time per example and examples/s of each arrangement.

In each round each arrangement is run by our build and then by theirs, so that what else the machine
does meets both. A round's ratio is ours over theirs; the last line of an arrangement has the medians
over the rounds, of the ratios too (that is not the ratio of the medians). Each build trains the
bench's job of its own checkout, because the manifest's schema may have changed in between.
"""

import argparse
import pathlib
import re
import statistics
import sys

from arrangements import ARRANGEMENTS, JOB, QUICK_RECORDS, RECORDS, Build

ROUNDS = 7
SECONDS = 12  # what a run with one ps and one worker should take, from its first commit to its last
MEASURES = {"cpu_us_per_example": ("CPU us/example", 2), "examples_per_s": ("examples/s", 0)}


def job_of(build):
    """The bench's job in the checkout to which the build's folder belongs; else ours."""
    job = build.resolve().parent.parent / "bench" / "criteo.yaml"
    return job if job.exists() else JOB


def build_type(build):
    """As CMake was told; None where the folder does not say."""
    try:
        found = re.search(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", (build / "CMakeCache.txt").read_text(),
                          re.MULTILINE)
    except OSError:
        return None
    return (found.group(1) or "none") if found else None


def print_row(arrangement, name, values):
    """`values`: per round one of ours and one of theirs, in the order of MEASURES."""
    cells = [f"{arrangement:<12}", f"{name:>6}"]
    for (ours, theirs, ratio), (_, digits) in zip(values, MEASURES.values()):
        cells.append(f"{ours:>12.{digits}f}{theirs:>12.{digits}f}{ratio:>8.3f}")
    print("  ".join(cells), flush=True)


def print_head(builds):
    for name, build in builds.items():
        print(f"{name:<7} {build.bin.parent} trains {build.job}")
    cells = [f"{'':<12}", f"{'':>6}"] + [f"{title:>32}" for title, _ in MEASURES.values()]
    print("\n" + "  ".join(cells))
    cells = [f"{'arrangement':<12}", f"{'round':>6}"]
    cells += [f"{'ours':>12}{'theirs':>12}{'ratio':>8}"] * len(MEASURES)
    print("  ".join(cells), flush=True)


def compare(outcomes):
    """Per measure: ours, theirs, ours over theirs."""
    return [(ours, theirs, ours / theirs) for ours, theirs in
            ((outcomes["ours"][key], outcomes["theirs"][key]) for key in MEASURES)]


def medians(rounds):
    return [tuple(statistics.median(column) for column in zip(*of_measure))
            for of_measure in zip(*rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True, type=pathlib.Path, help="folder of a build")
    parser.add_argument("--theirs", required=True, type=pathlib.Path, help="folder of another")
    parser.add_argument("--cpus", required=True, help="list for taskset")
    parser.add_argument("--scratch", required=True, type=pathlib.Path,
                        help="empty folder for data and runs")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    types = {build_type(options.ours), build_type(options.theirs)} - {None}
    if len(types) > 1:
        sys.exit(f"bench: the builds have different build types: {' and '.join(sorted(types))}")
    builds = {name: Build(folder / "bin", options.scratch / name, options.cpus, job_of(folder))
              for name, folder in (("ours", options.ours), ("theirs", options.theirs))}
    data = options.scratch / "data"
    builds["ours"].make_data(data, QUICK_RECORDS if options.quick else RECORDS)
    count, epochs = 1, 1
    if not options.quick:
        count = options.rounds
        # Later epochs are faster, because the rows exist: the second of two tells.
        rate = builds["ours"].run("1ps_1worker", data, 2)["examples_per_s"]
        epochs = max(2, round(SECONDS * rate / RECORDS))
    print_head(builds)
    rounds = {arrangement: [] for arrangement in ARRANGEMENTS
              if all(build.has(arrangement) for build in builds.values())}
    for number in range(1, count + 1):
        for arrangement, compared in rounds.items():
            outcomes = {name: build.run(arrangement, data, epochs)
                        for name, build in builds.items()}
            compared.append(compare(outcomes))
            print_row(arrangement, str(number), compared[-1])
    for arrangement, compared in rounds.items():
        print_row(arrangement, "median", medians(compared))


if __name__ == "__main__":
    main()
