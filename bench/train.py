"""Examples per second of training as processes, against the same engine in one process.

Each round runs every arrangement once, one after the other, so that what else the machine does meets
all of them; a ratio is the median over the rounds of the ratio within a round. What a rate and a CPU
time are is in arrangements.py.
"""

import argparse
import json
import pathlib
import statistics

from arrangements import ARRANGEMENTS, QUICK_RECORDS, RECORDS, Build

ROUNDS = 5
SECONDS = 22  # what the fastest arrangement should take at least
BASELINE = "one_process"


def print_line(arrangement, outcomes, ratios):
    rates = [outcome["examples_per_s"] for outcome in outcomes]
    line = {"bench": "train", "variant": arrangement, "unit": "examples/s",
            "min": round(min(rates)), "median": round(statistics.median(rates)),
            "max": round(max(rates)), "runs": [round(rate) for rate in rates],
            "seconds": [round(outcome["seconds"], 1) for outcome in outcomes],
            "cpu_us_per_example": round(statistics.median(
                outcome["cpu_us_per_example"] for outcome in outcomes), 1)}
    if ratios:
        line["ratio_to"] = BASELINE
        line["ratio"] = round(statistics.median(ratios), 3)
        line["ratios"] = [round(ratio, 3) for ratio in ratios]
    middle = sorted(outcomes, key=lambda outcome: outcome["examples_per_s"])[len(outcomes) // 2]
    line["time_of_median_run"] = rounded(middle["replicas"])
    print(json.dumps(line), flush=True)


def rounded(tree):
    if isinstance(tree, dict):
        return {key: rounded(value) for key, value in tree.items()}
    return round(tree, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--cpus", required=True, help="list for taskset")
    parser.add_argument("--scratch", required=True, help="empty folder for data and runs")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    build = Build(options.bin, options.scratch, options.cpus)
    data = pathlib.Path(options.scratch) / "data"
    build.make_data(data, QUICK_RECORDS if options.quick else RECORDS)
    rounds, epochs = 1, 1
    if not options.quick:
        rounds = options.rounds
        # Later epochs are faster, because the rows exist: the second of two tells.
        rate = build.run(BASELINE, data, 2)["examples_per_s"]
        epochs = max(2, round(1.25 * SECONDS * rate / RECORDS))
    outcomes = {arrangement: [] for arrangement in ARRANGEMENTS}
    for _ in range(rounds):
        for arrangement, measured in outcomes.items():
            measured.append(build.run(arrangement, data, epochs))
    for arrangement, measured in outcomes.items():
        ratios = [] if arrangement == BASELINE else [
            outcome["examples_per_s"] / base["examples_per_s"]
            for outcome, base in zip(measured, outcomes[BASELINE])]
        print_line(arrangement, measured, ratios)


if __name__ == "__main__":
    main()
