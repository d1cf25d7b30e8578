#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/os/unique_fd.h"
#include "base/status.h"

namespace pstrain {

/// What the training program writes to its standard error: passes it on to the agent's own, and
/// keeps the end of it, which often says why a program fails. A program that writes faster than
/// somebody reads waits, as it would without this. Owner: the main thread, which calls everything;
/// a thread of its own copies.
class ErrorOutput {
 public:
  /// Call it after Supervisor::Make, which blocks the signals for threads that come later.
  static Result<std::unique_ptr<ErrorOutput>> Make();
  /// Finishes if nobody has.
  ~ErrorOutput();
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;

  /// For the program to write to.
  int fd() const { return write_end_.get(); }

  /// Call it once the program and what it has left are gone. Passes on what they have written and
  /// returns the last kKept bytes of all; whoever does not read the agent's standard error is
  /// waited for no longer than 250 ms.
  std::string Finish();

  static constexpr std::size_t kKept = 8192;

 private:
  ErrorOutput(UniqueFd read_end, UniqueFd write_end, UniqueFd finish);

  void Copy();
  /// False when there is nothing to read.
  bool CopyChunk();
  void Keep(std::string_view chunk);
  void PassOn(std::string_view chunk);
  /// Waits until `fd` is ready for `events`; false once Finish was called and its time is over.
  bool WaitFor(int fd, short events);

  UniqueFd read_end_;
  UniqueFd write_end_;
  UniqueFd finish_;  // an eventfd, which Finish makes readable
  /// The three are the thread's until it has ended.
  std::string kept_;
  std::optional<SteadyTime> deadline_;
  std::size_t read_after_finish_ = 0;
  std::thread thread_;
};

}  // namespace pstrain
