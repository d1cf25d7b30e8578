#include "runtime/model/training/bad_record_examples.h"

#include <algorithm>

#include "base/log.h"
#include "base/os/files.h"
#include "proto/contract/run_files.h"

namespace pstrain {

BadRecordExamples::BadRecordExamples(const RoleContext& context)
    : folder_((context.run_directory() / kRunBadRecordsFolder).string()),
      file_(JoinPath(folder_, "worker-" + std::to_string(context.index))) {}

void BadRecordExamples::Add(const std::string& what) {
  constexpr std::size_t kExamples = 3;
  const auto& known = examples_.items();
  const bool again = std::any_of(known.begin(), known.end(),
                                 [&what](const Json& one) { return *one.AsString() == what; });
  if (known.size() == kExamples || again) return;
  LogWarning("worker", "a bad record is left out", {{"record", what}});
  examples_.Append(Json::String(what));
  Status written = CreateDirectories(folder_);
  if (written.ok()) written = WriteFileAtomically(file_, WriteJson(examples_) + "\n");
  if (!written.ok()) LogWarning("worker", "it is in this log alone", {{"error", written}});
}

}  // namespace pstrain
