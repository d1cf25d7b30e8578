#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <string>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/model/export/export_directory.h"
#include "runtime/model/export/trained_model.h"

namespace pstrain {

/// What formats have in common that keep a graph and its variables in one protobuf message.

/// Before anything of the model is read. FAILED_PRECONDITION: its variables are more than 2 GiB,
/// which no protobuf message can be; the error names the largest, and the way out.
/// RESOURCE_EXHAUSTED: there is no room for them. `format` names the format in the error.
Status CheckFitsMessage(const TrainedModel& model, const std::string& format,
                        const ExportDirectory& directory);

/// Writes the message to a new file; equal messages give equal bytes. FAILED_PRECONDITION as above,
/// with what is beside the variables; otherwise errors of the file system.
Status WriteMessage(const TrainedModel& model, const std::string& format,
                    const google::protobuf::MessageLite& message, const std::string& path);

/// FAILED_PRECONDITION: such a graph would have no input.
Status NoInputError(const std::string& format);

/// The text that marks a missing value, beside the empty one, where the kind of input has such.
/// Pure; any thread.
std::string MissingMarkOf(const Input& input);

}  // namespace pstrain
