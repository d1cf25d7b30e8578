#pragma once

#include <string>

#include "base/text/json.h"
#include "runtime/cluster/role_context.h"

namespace pstrain {

/// Keeps the first bad records that a worker leaves out, in its log and in the run's directory
/// (kRunBadRecordsFolder of proto/contract/run_files.h), where who reads the result finds them.
/// Thread-compatible.
class BadRecordExamples {
 public:
  explicit BadRecordExamples(const RoleContext& context);

  /// `what`: file, place and reason. One that is kept already, or more than a few, is not kept.
  /// When the directory cannot be written, it is in the log alone.
  void Add(const std::string& what);

 private:
  const std::string folder_;
  const std::string file_;
  Json examples_ = Json::Array();
};

}  // namespace pstrain
