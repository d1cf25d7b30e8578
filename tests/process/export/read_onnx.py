#!/usr/bin/env python3
"""read_onnx.py PROTO HASHES RECORDS (MODEL SCORES)...: the package onnx finds each exported model in
order, and onnxruntime scores the records by it as SCORES says. PROTO, our description of the format,
has the field numbers of onnx's; HASHES are results of TensorFlow's."""
import csv
import json
import os
import sys

import numpy as np
import onnx
import onnxruntime

import field_numbers
import hashes

TOLERANCE = 5e-6
MESSAGES = {
    "OnnxModel": onnx.ModelProto,
    "OnnxOperatorSet": onnx.OperatorSetIdProto,
    "OnnxGraph": onnx.GraphProto,
    "OnnxNode": onnx.NodeProto,
    "OnnxAttribute": onnx.AttributeProto,
    "OnnxTensor": onnx.TensorProto,
    "OnnxValueInfo": onnx.ValueInfoProto,
    "OnnxTypeOf": onnx.TypeProto,
    "OnnxTensorType": onnx.TypeProto.Tensor,
    "OnnxShape": onnx.TensorShapeProto,
    "OnnxDimension": onnx.TensorShapeProto.Dimension,
}
ENUMS = {
    "OnnxAttribute.Type": onnx.AttributeProto.AttributeType,
    "OnnxTensor.Type": onnx.TensorProto.DataType,
}


class Ids:
    """Ids of features as the job describes them, None where a record has none."""

    def __init__(self, features):
        self._features = {feature["name"]: feature for feature in features}

    def of(self, name, record):
        feature = self._features[name]
        if "crossed" in feature:
            return self._crossed(feature["crossed"], record)
        text = record[feature.get("column") or name]
        if "numeric" in feature:
            numeric = feature["numeric"]
            number = float(text) if text else numeric.get("defaultValue", 0)
            boundaries = np.float32(numeric["transform"]["bucketize"]["boundaries"])
            return int(np.searchsorted(boundaries, np.float32(number), side="right"))
        if not text:
            return None
        hashed = hashes.fingerprint(text.encode())
        if "hashed" in feature:
            return hashed % int(feature["hashed"]["buckets"])
        values, beyond = feature["vocabulary"]["values"], feature["vocabulary"].get("oovBuckets", 0)
        if text in values:
            return values.index(text)
        return len(values) + hashed % beyond if beyond else None

    def _crossed(self, crossed, record):
        parts = []
        for name in crossed["features"]:
            part = self.of(name, record)
            if part is None:
                return None
            feature = self._features[name]
            if "hashed" in feature:
                part = hashes.fingerprint(record[feature.get("column") or name].encode())
            parts.append(part)
        return hashes.cross(parts) % int(crossed["buckets"])


def feeds_of(session, manifest, records):
    """An array for each input."""
    missing = manifest["input"]["csv"]["missing"]
    plain = [{name: "" if text == missing else text for name, text in record.items()}
             for record in records]
    ids, feeds = Ids(manifest["features"]), {}
    for given in session.get_inputs():
        if given.type == "tensor(double)":
            feeds[given.name] = np.array(
                [float(record[given.name] or "nan") for record in plain], np.float64)
        elif given.type == "tensor(string)":
            # With the marks: the graph knows them.
            column = given.name.removesuffix("/text")
            feeds[given.name] = np.array([record[column] for record in records], object)
        else:
            assert given.type == "tensor(int64)", given
            found = [ids.of(given.name.removesuffix("/id"), record) for record in plain]
            feeds[given.name] = np.array([-1 if one is None else one for one in found], np.int64)
    return feeds


def check(model, scores, rows):
    path = os.path.join(model, "model.onnx")
    onnx.checker.check_model(onnx.load(path), full_check=True)
    with open(os.path.join(model, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    records = [dict(zip(manifest["input"]["csv"]["columns"], fields)) for fields in rows]
    with open(scores, encoding="utf-8") as file:
        wanted = np.array([float(line) for line in file])
    assert len(records) == len(wanted) == 10000, (len(records), len(wanted))
    assert wanted.max() - wanted.min() > 0.5, f"{model}: the model says the same of all records"
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = feeds_of(session, manifest, records)
    kinds = {given.type for given in session.get_inputs()}
    assert kinds == {"tensor(double)", "tensor(string)", "tensor(int64)"}, kinds

    def score(first, end):
        part = {name: values[first:end] for name, values in feeds.items()}
        return session.run(["predictions"], part)[0]

    found = score(0, len(records))
    assert found.dtype == np.float32 and found.shape == (len(records),), (found.dtype, found.shape)
    assert score(0, 1).shape == (1,) and score(0, 0).shape == (0,)
    worst = float(np.max(np.abs(found - wanted)))
    print(f"{os.path.basename(model)}: {len(feeds)} inputs, {len(records)} records, "
          f"scores differ by {worst:.2g} at the most")
    return worst


def main(proto, golden, path, *models):
    field_numbers.check(proto, MESSAGES, ENUMS)
    hashes.check(golden)
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    worst = [check(model, scores, rows) for model, scores in zip(models[::2], models[1::2])]
    return 1 if not max(worst) <= TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
