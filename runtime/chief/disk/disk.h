#pragma once

#include <functional>

namespace pstrain {

/// Where the chief's parts have their work on the run's directory done: without the chief's lock,
/// because a disk may take half a minute for a call (a network file system whose server restarts),
/// and polls and heartbeats are answered meanwhile. One work at a time, in the order in which they
/// came. The parts call Post under the chief's lock, from whatever thread has it; the work runs on
/// one thread of its own. An interface, so that tests do the work themselves.
class Disk {
 public:
  /// Runs under the chief's lock, after the work.
  using Then = std::function<void()>;
  /// Touches files and nothing that the chief's lock guards; returns what follows from the outcome.
  using Work = std::function<Then()>;

  Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  virtual ~Disk() = default;

  /// `what`, a literal, names the work in logs: "write the manifest".
  virtual void Post(const char* what, Work work) = 0;
};

}  // namespace pstrain
