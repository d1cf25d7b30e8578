#!/usr/bin/env python3
"""read_saved_model.py PROTO RECORDS (MODEL SCORES)...: TensorFlow loads each exported model, all of
them in one process, by its loader and by that of TensorFlow 1, and scores the records by the signature
as SCORES says. PROTO, our description of the format, has the field numbers of TensorFlow's."""
import csv
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
# pylint: disable=wrong-import-position
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import (attr_value_pb2, graph_pb2, node_def_pb2, tensor_pb2,
                                       tensor_shape_pb2, types_pb2, versions_pb2)
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2

import field_numbers

TOLERANCE = 5e-6
MESSAGES = {
    "TfSavedModel": saved_model_pb2.SavedModel,
    "TfMetaGraphDef": meta_graph_pb2.MetaGraphDef,
    "TfMetaInfoDef": meta_graph_pb2.MetaGraphDef.MetaInfoDef,
    "TfSignatureDef": meta_graph_pb2.SignatureDef,
    "TfTensorInfo": meta_graph_pb2.TensorInfo,
    "TfGraphDef": graph_pb2.GraphDef,
    "TfVersions": versions_pb2.VersionDef,
    "TfNodeDef": node_def_pb2.NodeDef,
    "TfAttrValue": attr_value_pb2.AttrValue,
    "ListValue": attr_value_pb2.AttrValue.ListValue,
    "TfTensorShape": tensor_shape_pb2.TensorShapeProto,
    "Dim": tensor_shape_pb2.TensorShapeProto.Dim,
    "TfTensor": tensor_pb2.TensorProto,
}


def feeds_of(records, specs):
    """A tensor for each column of the signature."""
    feeds = {}
    for column, spec in specs.items():
        texts = [record[column] for record in records]
        if spec.dtype == tf.string:
            feeds[column] = tf.constant(texts)
        else:
            assert spec.dtype == tf.float64, spec
            missing = ("", "?")
            feeds[column] = tf.constant(
                [float("nan") if text in missing else float(text) for text in texts], tf.float64)
    return feeds


def worst_of(name, found, wanted):
    found = np.asarray(found)
    assert found.dtype == np.float32 and found.shape == (len(wanted),), (name, found.dtype, found.shape)
    assert max(wanted) - min(wanted) > 0.5, f"{name}: the model says the same of all records"
    return float(np.max(np.abs(found - np.asarray(wanted))))


def by_tensorflow_1(model, feeds):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], model)
        signature = loaded.signature_def["serving_default"]
        return session.run(signature.outputs["predictions"].name,
                           {signature.inputs[column].name: tensor for column, tensor in feeds.items()})


def check(model, loaded, records, wanted):
    signature = loaded.signatures["serving_default"]
    feeds = feeds_of(records, signature.structured_input_signature[1])
    found = signature(**feeds)["predictions"].numpy()
    numbers = {column: tensor.numpy() for column, tensor in feeds.items()}
    worst = max(worst_of(model, found, wanted),
                worst_of(model, by_tensorflow_1(model, numbers), wanted))
    one = signature(**{column: tensor[:1] for column, tensor in feeds.items()})["predictions"]
    none = signature(**{column: tensor[:0] for column, tensor in feeds.items()})["predictions"]
    assert one.shape == (1,) and none.shape == (0,), (one.shape, none.shape)
    assert abs(float(one[0]) - wanted[0]) <= TOLERANCE
    print(f"{os.path.basename(model)}: {len(feeds)} columns, {len(records)} records, "
          f"scores differ by {worst:.2g} at the most")
    return worst


def main(proto, path, *models):
    field_numbers.check(proto, MESSAGES, {"TfDataType": types_pb2.DataType})
    pairs = list(zip(models[::2], models[1::2]))
    with open(os.path.join(pairs[0][0], "manifest.json"), encoding="utf-8") as file:
        columns = json.load(file)["input"]["csv"]["columns"]
    with open(path, encoding="utf-8", newline="") as file:
        records = [dict(zip(columns, fields)) for fields in csv.reader(file)]
    assert len(records) == 10000, len(records)
    loaded = [tf.saved_model.load(model) for model, _ in pairs]
    worst = []
    for (model, scores), one in zip(pairs, loaded):
        with open(scores, encoding="utf-8") as file:
            worst.append(check(model, one, records, [float(line) for line in file]))
    return 1 if not max(worst) <= TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
