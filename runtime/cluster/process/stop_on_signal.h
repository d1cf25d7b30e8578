#pragma once

#include <stop_token>
#include <thread>

namespace pstrain {

/// Blocks SIGTERM and SIGINT in the calling thread and in those that it starts from then on. To be
/// called before the process has other threads: one that has them unblocked dies by them.
void BlockStopSignals();

/// Turns SIGTERM and SIGINT, which every thread has blocked, into a stop request. Owner: main; any
/// thread may ask for the token.
class StopOnSignal {
 public:
  StopOnSignal() : thread_([this](const std::stop_token& end) { Run(end); }) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  void Run(const std::stop_token& end);

  std::stop_source source_;
  std::jthread thread_;
};

}  // namespace pstrain
