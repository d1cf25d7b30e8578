"""The same program by pstrain and by TensorFlow, one worker, two ps, one call in flight, the same
tensors: the weights at its end, which may differ by 1e-6 at the most. Ours once more with a learning
rate that differs by 1 in 1000 has to be told apart. Exits 1 otherwise.
"""

import argparse
import array
import json
import sys

import both

STEPS, BATCH, FEATURES, ROWS, DIMENSION = 300, 64, 7, 41, 4
RATE, OTHER_RATE = 0.1, 0.1001
TOLERANCE = 1e-6


def mixed(number):
    """SplitMix64's finalizer: the same numbers each time."""
    mask = (1 << 64) - 1
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & mask
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & mask
    return number ^ (number >> 31)


def numbers(seed, count, scale):
    """From -scale to scale."""
    return array.array("f", (scale * ((mixed(seed * 1_000_003 + i) % 2001) / 1000 - 1) for i in range(count)))


def write_tensors(folder):
    records = STEPS * BATCH
    x = numbers(1, records * FEATURES, 1)
    # Few rows in many records, so that a batch has ids twice.
    ids = array.array("q", (mixed(i + 7) % ROWS for i in range(records)))
    label = array.array("f", (float(x[i * FEATURES] + x[i * FEATURES + 1] + ids[i] % 3 - 1 > 0)
                              for i in range(records)))
    first = {"linear": numbers(2, FEATURES, 0.5), "mix": numbers(3, DIMENSION, 0.5),
             "vectors": numbers(4, ROWS * DIMENSION, 0.5)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, values in {"x": x, "ids": ids, "label": label, **first}.items():
        (folder / name).write_bytes(values.tobytes())
    return ([("linear", value) for value in first["linear"]] + [("bias", 0.0)] +
            [("mix", value) for value in first["mix"]] + [("vectors", value) for value in first["vectors"]])


def weights_of(path):
    return [(name, float(value)) for name, value in (line.split() for line in path.read_text().splitlines())]


def difference(some, others):
    if [name for name, _ in some] != [name for name, _ in others]:
        sys.exit(f"weights.py: other weights: {len(some)} and {len(others)} numbers")
    return max(abs(a - b) for (_, a), (_, b) in zip(some, others))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--cpus", required=True, help="list for taskset")
    parser.add_argument("--scratch", required=True, help="folder for the runs")
    parser.add_argument("--tensorflow", required=True, help="a Python that has tensorflow")
    options = parser.parse_args()
    tensors = both.folder_of(options, "tensors")
    first = write_tensors(tensors)

    def ours(name, rate):
        result = tensors / name
        both.run_ours(options, "weights", {"TENSORS": tensors, "RESULT": result, "RATE": rate})
        return weights_of(result)

    found, other = ours("ours", RATE), ours("other", OTHER_RATE)
    version = both.run_tensorflow(options, "weights_tensorflow.py", [tensors, tensors / "theirs", RATE])
    wanted = weights_of(tensors / "theirs")
    line = {"bench": "weights", "tensorflow": version.split()[-1], "steps": STEPS, "weights": len(wanted),
            "moved": difference(first, wanted), "largest": max(abs(value) for _, value in wanted),
            "difference": difference(found, wanted),
            "difference_with_another_rate": difference(other, wanted)}
    print(json.dumps(line), flush=True)
    if not line["difference"] <= TOLERANCE:
        sys.exit(f"weights.py: the weights differ by more than {TOLERANCE}")
    if not (line["moved"] > 0.1 and line["difference_with_another_rate"] > 10 * TOLERANCE):
        sys.exit("weights.py: a program that trains otherwise would not be told apart")


if __name__ == "__main__":
    main()
