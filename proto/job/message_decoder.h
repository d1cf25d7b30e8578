#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "proto/job/job_manifest.h"

namespace pstrain {

struct DecodeOptions {
  bool allow_test_only = false;
  /// Leaves out what is unknown or wrong instead of reporting it, and checks no rules.
  bool lenient = false;
};

/// Fills `message` from a tree by the message's descriptor: names in lowerCamelCase, enums by
/// name, exactly one member of each oneof, defaults, bounds and rules as psjob.proto's options say.
/// `null` is as good as absent. `path` is where the tree stands, for messages. Errors are appended;
/// after one, `message` holds what could be decoded. Pure; any thread.
void DecodeMessage(const Json& tree, const std::string& path, const DecodeOptions& options,
                   google::protobuf::Message& message, std::vector<ManifestError>& errors);

}  // namespace pstrain
