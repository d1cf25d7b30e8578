#!/usr/bin/env python3
"""read_safetensors.py MODEL RECORDS SCORES: the tensors of an exported model are those that its
manifest names, and the records score by both as SCORES says: Wide & Deep in numpy."""
import csv
import json
import math
import os
import sys

import numpy as np
from safetensors.numpy import load_file

TOLERANCE = 5e-6


def check_tensors(tensors, manifest):
    named = {tensor["name"]: tensor for tensor in manifest["tensors"]}
    assert set(tensors) == set(named), (sorted(tensors), sorted(named))
    for name, values in tensors.items():
        assert list(values.shape) == named[name]["shape"], name
        assert values.dtype == np.float32 and named[name]["dtype"] == "float32", name
        assert np.isfinite(values).all(), name
    held = [tensor for tensor in named.values() if tensor["kind"] == "embedding"]
    assert held and all(0 < tensor["rowsHeld"] <= tensor["shape"][0] for tensor in held)


def transform(feature, text):
    """The number of a numeric feature, the id of a categorical one, None without one."""
    if "vocabulary" in feature:
        values = feature["vocabulary"]["values"]
        return values.index(text) if text in values else None
    numeric = feature["numeric"]
    number = float(text) if text else numeric.get("defaultValue", 0)
    how = numeric.get("transform", {})
    if "standardize" in how:
        return (number - how["standardize"]["mean"]) / how["standardize"]["stddev"]
    if "log" in how:
        return math.copysign(math.log1p(abs(number)), number)
    if "bucketize" in how:
        return int(np.searchsorted(np.float32(how["bucketize"]["boundaries"]), np.float32(number),
                                   side="right"))
    return number


def score(tensors, manifest, record):
    logit = float(tensors["linear/bias"][0])
    deep, wide_numbers = [], []
    for feature in manifest["features"]:
        name, value = feature["name"], transform(feature, record[feature.get("column") or feature["name"]])
        categorical = "vocabulary" in feature or "bucketize" in feature["numeric"].get("transform", {})
        if not categorical:
            wide_numbers.append(value)
            deep.append([value])
            continue
        if value is not None:
            logit += float(tensors[f"linear/{name}"][value, 0])
        if feature["embeddingDimension"] > 0:
            rows = tensors[f"embedding/{name}"]
            deep.append(rows[value] if value is not None else np.zeros(rows.shape[1]))
    logit += float(np.dot(tensors["linear/numeric"], np.float32(wide_numbers)))
    layer = np.float32(np.concatenate(deep))
    for i in range(len(manifest["model"]["wideAndDeep"]["hiddenUnits"])):
        layer = np.maximum(layer @ tensors[f"dense_{i}/kernel"] + tensors[f"dense_{i}/bias"], 0)
    logit += float((layer @ tensors["logits/kernel"] + tensors["logits/bias"])[0])
    return 1 / (1 + math.exp(-logit))


def main(model, records, scores):
    tensors = load_file(os.path.join(model, "model.safetensors"))
    with open(os.path.join(model, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    check_tensors(tensors, manifest)
    columns, missing = manifest["input"]["csv"]["columns"], manifest["input"]["csv"]["missing"]
    with open(scores, encoding="utf-8") as file:
        wanted = [float(line) for line in file]
    with open(records, encoding="utf-8", newline="") as file:
        found = [score(tensors, manifest, {column: "" if text == missing else text
                                           for column, text in zip(columns, fields)})
                 for fields in csv.reader(file)]
    assert len(found) == len(wanted) > 1000, (len(found), len(wanted))
    assert max(wanted) - min(wanted) > 0.5, "the model says the same of all records"
    worst = max(abs(a - b) for a, b in zip(found, wanted))
    print(f"{len(tensors)} tensors, {len(found)} records, scores differ by {worst:.2g} at the most")
    return 1 if not worst <= TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
