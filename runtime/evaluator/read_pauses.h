#pragma once

#include <chrono>
#include <string>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/status.h"

namespace pstrain {

/// When a checkpoint that could not be evaluated may be read again: after 0.5, 1, 2 .. 10 s. A
/// whole checkpoint is read each time, from a disk that may be the reason. Another checkpoint may
/// be read immediately. One thread at a time.
class ReadPauses {
 public:
  /// `clock` outlives it.
  explicit ReadPauses(const Clock& clock) : clock_(clock) {}

  /// False: its pause is not over.
  bool MayRead(const std::string& checkpoint) const {
    return checkpoint != checkpoint_ || clock_.Now() >= again_;
  }
  /// It could not be evaluated. True: for the first time, or for another reason than the last time.
  bool Failed(const std::string& checkpoint, const Status& reason) {
    if (checkpoint != checkpoint_) Evaluated();
    const bool news = checkpoint != checkpoint_ || reason.ToString() != reason_.ToString();
    checkpoint_ = checkpoint;
    reason_ = reason;
    again_ = clock_.Now() + pauses_.Next();
    return news;
  }
  /// One could be evaluated: what failed before counts no more.
  void Evaluated() {
    checkpoint_.clear();
    pauses_.Reset();
  }

 private:
  const Clock& clock_;
  /// Empty: none has failed.
  std::string checkpoint_;
  Status reason_;
  std::chrono::nanoseconds again_{0};
  Backoff pauses_{{.initial = std::chrono::milliseconds(500), .cap = std::chrono::seconds(10)}};
};

}  // namespace pstrain
