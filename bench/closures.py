"""Empty functions without a result per second: our coordinator against TensorFlow's.

One worker, two ps, eight shards; the two take turns, each with the machine to itself. Without
--tensorflow only ours is measured. --kills N: instead, how many seconds pass from the SIGKILL of the
only worker to the next call that it runs.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import time

import both

CALLS = {"pstrain": 200_000, "tensorflow": 5_000}  # TensorFlow's rate does not depend on the number
QUICK = 2_000
ROUNDS = 5
PAUSE_S = 2  # calls run when the worker is killed


def last_json(text):
    lines = [line for line in text.splitlines() if line.startswith('{"closures"')]
    if not lines:
        sys.exit(f"closures.py: no numbers in:\n{text}")
    return json.loads(lines[-1])


def words_of(options, calls):
    return {"CALLS": calls, "STARTS": both.folder_of(options, "closures") / "starts"}


def ours(options, calls):
    return last_json(both.run_ours(options, "closures", words_of(options, calls)))


def starts_of(path, count):
    """The last process of the worker and when it ran its first call, once there are `count`."""
    deadline = time.monotonic() + both.LIMIT_S
    while time.monotonic() < deadline:
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        if len(lines) >= count and lines[-1].endswith("\n"):
            process, seconds = lines[-1].split()
            return int(process), float(seconds)
        time.sleep(0.01)
    sys.exit(f"closures.py: {path} does not have {count} lines")


def pause_by_kill(options):
    # More calls than it runs in the time.
    folder, run = both.start_ours(options, "closures", words_of(options, 1_000_000_000))
    try:
        process, _ = starts_of(folder / "starts", 1)
        time.sleep(PAUSE_S)
        killed = time.time()
        os.kill(process, signal.SIGKILL)
        return starts_of(folder / "starts", 2)[1] - killed
    finally:
        run.terminate()
        run.wait()


def kills(options):
    # Each in a run of its own: after the second crash of a replica its next attempt waits.
    pauses = [pause_by_kill(options) for _ in range(1 if options.quick else options.kills)]
    print(json.dumps({"bench": "closures", "variant": "killed_worker", "unit": "s",
                      "min": round(min(pauses), 3), "median": round(statistics.median(pauses), 3),
                      "max": round(max(pauses), 3)}))


def tensorflow(options, calls):
    return last_json(both.run_tensorflow(options, "closures_tensorflow.py", [calls]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--cpus", required=True, help="list for taskset")
    parser.add_argument("--scratch", required=True, help="folder for the runs")
    parser.add_argument("--tensorflow", help="a Python that has tensorflow 2.16")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--kills", type=int, help="runs in which the worker is killed")
    options = parser.parse_args()
    if options.kills:
        kills(options)
        return
    measures = {"pstrain": ours}
    if options.tensorflow:
        measures["tensorflow"] = tensorflow
    rates = {name: [] for name in measures}
    for _ in range(1 if options.quick else options.rounds):
        for name, measure in measures.items():
            measured = measure(options, QUICK if options.quick else CALLS[name])
            rates[name].append(measured["closures"] / measured["seconds"])
    for name, measured in rates.items():
        line = {"bench": "closures", "variant": name, "unit": "closures/s", "min": round(min(measured)),
                "median": round(statistics.median(measured)), "max": round(max(measured))}
        if name == "pstrain" and "tensorflow" in rates:
            ratios = [own / peer for own, peer in zip(measured, rates["tensorflow"])]
            line |= {"ratio_to": "tensorflow", "ratio": round(statistics.median(ratios), 1),
                     "ratios": [round(ratio, 1) for ratio in ratios]}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
