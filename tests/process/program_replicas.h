#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "base/os/unique_fd.h"
#include "local/replicas/ports.h"
#include "tests/process/program.h"

namespace pstrain {

/// A job with spec.program whose replicas the test starts itself, without pstrain run and agents:
/// it kills and stops them where it wants, and chooses their addresses and environment. Nobody
/// starts a replica again but Start and the functions that say so.
class ProgramReplicas : public testing::Test {
 public:
  /// Its role and its index.
  using Task = std::pair<std::string, int>;

 protected:
  static constexpr std::chrono::seconds kLimit{300};
  static constexpr int kMostWorkers = 2;

  /// What of the job tests choose.
  struct Job {
    /// Program, and arguments that all roles get.
    std::vector<std::string> command;
    int workers = 2;
    int closures_per_worker = 2;
    /// 0: no checkpoints but marks and the final one.
    int every_seconds = 0;
    /// More members of spec.program, each with ", " before it.
    std::string program = "";
  };

  /// Claims ports, and writes the job.
  void Prepare(Job job);
  void StartAll();
  /// The next attempt of a task. The former one, if it lives, goes on without the test: it is
  /// killed at the end.
  Program& Start(const Task& task);
  /// The newest attempt of a task.
  Program& Replica(const Task& task);
  /// SIGKILL, and waits for the end.
  void Kill(const Task& task);
  /// Polls `condition`, and starts the next attempt of each task whose attempt was killed or is
  /// superseded (86). An attempt that ends otherwise than well ends this.
  testing::AssertionResult RunUntil(const std::function<bool()>& condition);
  /// The newest attempt has ended well, as RunUntil has seen.
  bool HasEnded(const Task& task) const { return attempts_.at(task).ended; }
  /// RunUntil the chief has ended well.
  testing::AssertionResult RunToTheEnd();
  /// The next attempt of the chief is not started by RunUntil.
  void LeaveTheChief() { leave_the_chief_ = true; }

  /// Where a task listens; who looks for the chief asks at ChiefName instead.
  virtual std::string AddressOf(const Task& task) const;
  virtual std::string ChiefName() const { return AddressOf({"chief", 0}); }
  int Port(const Task& task) const;
  /// That a ps can have instead of its own.
  int SparePort() const;
  /// NAME=VALUE of every attempt from now on.
  std::vector<std::string> environment_;
  /// The same of the next attempt alone.
  std::vector<std::string> environment_of_next_;

  std::string RunDirectory() const { return dir_.File("checkpoints/run"); }
  /// A member of result.json; -1: there is none.
  std::int64_t Counted(const std::string& name) const;
  /// What all attempts have written, for messages.
  std::string Logs() const;
  /// The same of one task's.
  std::string LogsOf(const Task& task) const;

  TempDir dir_;

 private:
  struct Attempts {
    int next = 0;
    std::unique_ptr<Program> newest;
    std::vector<std::unique_ptr<Program>> former;
    bool ended = false;
  };
  std::string TfConfig(const Task& task) const;

  Job job_;
  bool leave_the_chief_ = false;
  std::optional<local::ClaimedPorts> ports_;
  std::map<Task, Attempts> attempts_;
};

/// A file on which programs wait while the test holds it: each that comes to a moment of that name
/// says so, and goes on when the test lets it. Where there is no such file nobody waits. See
/// WaitAtGate in gate_of_test.h.
class Gate {
 public:
  /// Closed, for who comes to `moment`.
  Gate(std::string directory, std::string moment);
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { Open(); }

  /// `who` has come to it: empty when not yet, else what it says of itself.
  std::string Arrived(const std::string& who) const;
  void Open();

 private:
  std::string directory_;
  std::string moment_;
  UniqueFd file_;
};

}  // namespace pstrain
