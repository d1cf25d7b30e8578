#pragma once

#include <memory>

#include "proto/job/psjob.pb.h"
#include "runtime/input/record_source.h"

namespace pstrain {

/// TFRecord files (frame_reader.h) of tf.Example messages (example_decoder.h). A position is the
/// offset and the number of the record, from 1. A record that is no tf.Example or has values that
/// cannot be used is a bad record; a damaged file is an error. REQUIRES: input.tfRecord is given.
/// The source is as RecordSource says; any thread may make one.
std::unique_ptr<RecordSource> CreateTfRecordSource(const Input& input);

}  // namespace pstrain
