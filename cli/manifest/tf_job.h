#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"

namespace pstrain {

/// A TFJob of Kubeflow's training operator (kubeflow.org/v1, release 1.9) as a PSTrainingJob. Pure;
/// any thread.

/// What became of a field that is not taken over as it is.
enum class Conversion : std::uint8_t {
  kDropped,  // it means nothing here
  kChanged,  // it has another value or meaning here
  kToDo,     // something that only a person can do
  kRefused,  // no PSTrainingJob can do the same
};

struct ConversionNote {
  int line = 0;
  /// Of the TFJob, e.g. "spec.runPolicy.schedulingPolicy"; of a field that `pstrain validate` would
  /// refuse, that of the PSTrainingJob.
  std::string path;
  Conversion kind = Conversion::kDropped;
  std::string text;

  /// "job.yaml:7: spec.x: dropped: ...".
  std::string Format(std::string_view file_name) const;
};

struct ConvertedTfJob {
  /// The PSTrainingJob, also of a job that is refused.
  Json manifest;
  /// In the order of the TFJob's fields.
  std::vector<ConversionNote> notes;

  /// Nothing is refused.
  bool ok() const;
};

/// Converts the tree of a TFJob. What comes of it is checked as `pstrain validate` does.
ConvertedTfJob ConvertTfJob(const Json& tree);

}  // namespace pstrain
