#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/os/unique_fd.h"
#include "local/replicas/agent_reading.h"

namespace pstrain::local {

/// Reads /progress of one agent on 127.0.0.1 again and again without ever blocking: the owner polls
/// fd() for events() and calls Advance. One thread.
///
///   state    | Begin       | Advance: ready | Advance: past deadline
///   idle     | connecting  | idle           | idle
///   sending  | -           | reading        | idle (failed)
///   reading  | -           | idle (reading) | idle (failed)
class AgentProbe {
 public:
  explicit AgentProbe(std::uint16_t port) : port_(port) {}
  AgentProbe(const AgentProbe&) = delete;
  AgentProbe& operator=(const AgentProbe&) = delete;

  bool busy() const { return socket_.valid(); }
  int fd() const { return socket_.get(); }
  /// What to poll fd() for.
  short events() const;
  /// When to begin the next request. REQUIRES: the owner calls Begin then.
  SteadyTime due() const { return due_; }
  void set_due(SteadyTime due) { due_ = due; }
  /// When a request under way is given up.
  SteadyTime deadline() const { return deadline_; }

  /// Starts a request; a failure shows as busy() == false.
  void Begin(SteadyTime now);
  /// Continues after poll(2). The reading, once it is complete.
  std::optional<AgentReading> Advance(SteadyTime now);

 private:
  void Close();
  bool Send();
  std::optional<AgentReading> Receive();

  std::uint16_t port_;
  UniqueFd socket_;
  bool sent_ = false;
  SteadyTime due_{};
  SteadyTime deadline_{};
  std::string response_;
};

}  // namespace pstrain::local
