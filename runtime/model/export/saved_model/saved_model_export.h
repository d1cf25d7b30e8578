#pragma once

#include "base/status.h"
#include "runtime/model/export/export_directory.h"
#include "runtime/model/export/trained_model.h"

namespace pstrain {

/// TensorFlow's SavedModel (schema version 1, tag "serve"): the file saved_model.pb with the graph
/// of transforms, model and variables, the latter as constants. The signature "serving_default"
/// takes the columns that the features read, [records] each (FeatureNodes), and gives
/// "predictions", [records] of float32. Source: tensorflow/core/protobuf/saved_model.proto, and
/// tensorflow/python/saved_model/constants.py for the names.
///
/// FAILED_PRECONDITION: variables and vocabularies are more than 2 GiB, which no protobuf message
/// can be, or the model reads no feature; RESOURCE_EXHAUSTED: there is no room for them; otherwise
/// errors as TrainedModel::Read and of the file system. One thread for one model.
Status ExportSavedModel(TrainedModel& model, const ExportDirectory& directory);

}  // namespace pstrain
