"""read_events.py DIR CURVE: the scalars that TensorBoard finds in the one run of DIR are those of the
CSV file of the same run: each value, its step, and the time between two of them."""
import csv
import os
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def scalars_of(folder):
    accumulator = EventAccumulator(folder, size_guidance={"scalars": 0})
    accumulator.Reload()
    return {tag: accumulator.Scalars(tag) for tag in accumulator.Tags()["scalars"]}


def main(folder, curve):
    (run,) = os.listdir(folder)
    scalars = scalars_of(os.path.join(folder, run))
    with open(curve, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    kinds = {"loss": "progress", "epoch": "progress", "auc": "evaluation", "accuracy": "evaluation",
             "log_loss": "evaluation", "calibration": "evaluation"}
    assert set(scalars) == set(kinds), sorted(scalars)
    for tag, kind in kinds.items():
        expected = [row for row in rows if row["kind"] == kind]
        found = scalars[tag]
        assert len(found) == len(expected) > 0, (tag, len(found), len(expected))
        for event, row in zip(found, expected):
            assert event.step == int(row["steps"]), (tag, event, row)
            assert abs(event.value - float(row[tag])) <= 1e-4 * max(1, abs(event.value)), (tag, event, row)
        passed = found[-1].wall_time - found[0].wall_time
        asked = float(expected[-1]["seconds"]) - float(expected[0]["seconds"])
        assert abs(passed - asked) < 1, (tag, passed, asked)
    print({tag: len(found) for tag, found in scalars.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
