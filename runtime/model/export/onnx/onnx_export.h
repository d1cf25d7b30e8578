#pragma once

#include "base/status.h"
#include "runtime/model/export/export_directory.h"
#include "runtime/model/export/trained_model.h"

namespace pstrain {

/// ONNX (operator sets 13 and ai.onnx.ml 2): the file model.onnx with the graph of transforms,
/// model and variables, the latter as initializers. What is fed are numbers, texts of vocabularies,
/// and ids where ids come of a hash, which ONNX has not (OnnxFeatures); "predictions", [records] of
/// float32, is given. Source: onnx/onnx.proto3, docs/Operators.md and Operators-ml.md of ONNX.
///
/// FAILED_PRECONDITION: variables and vocabularies are more than 2 GiB, which no protobuf message
/// can be, or the model reads no feature; RESOURCE_EXHAUSTED: there is no room for them; otherwise
/// errors as TrainedModel::Read and of the file system. One thread for one model.
Status ExportOnnx(TrainedModel& model, const ExportDirectory& directory);

}  // namespace pstrain
