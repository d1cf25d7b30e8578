#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text/json.h"
#include "cli/manifest/tf_job.h"

namespace pstrain {

/// Collects what becomes of fields while a TFJob is converted. Used by one thread.
class ConversionNotes {
 public:
  /// `at`: where the field is written.
  void Add(const Json& at, std::string path, Conversion kind, std::string text) {
    notes_.push_back({at.line(), std::move(path), kind, std::move(text)});
  }
  std::vector<ConversionNote>& all() { return notes_; }

 private:
  std::vector<ConversionNote> notes_;
};

}  // namespace pstrain
