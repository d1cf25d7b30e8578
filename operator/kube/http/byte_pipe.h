#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/status.h"

namespace pstrain::kube {

/// Carries a stream from a producer that must not block (a thread of an I/O pool) to a consumer
/// that may. Shared by the two; one of each.
///
///   state     | Put                          | Take                        | Leave     | Close
///   open      | kept; room or not            | waits                       | abandoned | closed
///   closed    | -                            | what is left, then the end  | abandoned | -
///   abandoned | dropped, always room         | -                           | -         | -
class BytePipe {
 public:
  /// More than `capacity` bytes wait only by the length of one Put.
  explicit BytePipe(std::size_t capacity) : capacity_(capacity) {}

  /// Producer. True: go on. False: `on_room` is called once when there is room again, from the
  /// consumer's thread and without a lock; the next Put comes after that.
  bool Put(std::string_view bytes, std::function<void()> on_room) PSTRAIN_EXCLUDES(mutex_);
  /// Producer: nothing more comes, by an error or at the end.
  void Close(Status end) PSTRAIN_EXCLUDES(mutex_);

  /// Consumer: everything there is, waiting for something; empty at the end. Else the error of
  /// Close, CANCELLED at `stop`, DEADLINE_EXCEEDED.
  Result<std::string> Take(std::chrono::steady_clock::time_point deadline,
                           const std::stop_token& stop) PSTRAIN_EXCLUDES(mutex_);
  /// Consumer: takes no more.
  void Leave() PSTRAIN_EXCLUDES(mutex_);

 private:
  const std::size_t capacity_;
  Mutex mutex_;
  CondVar changed_;
  std::string bytes_ PSTRAIN_GUARDED_BY(mutex_);
  std::function<void()> on_room_ PSTRAIN_GUARDED_BY(mutex_);
  bool closed_ PSTRAIN_GUARDED_BY(mutex_) = false;
  bool abandoned_ PSTRAIN_GUARDED_BY(mutex_) = false;
  Status end_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::kube
