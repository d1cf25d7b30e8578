#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "local/replicas/agent_reading.h"
#include "tests/process/program.h"

namespace pstrain {

/// A number of a report; -1 when it is absent or none.
double Number(const Json& json, const char* key);

/// Runs jobs with spec.training by `pstrain run` in a directory of its own.
class TrainingRunTest : public testing::Test {
 protected:
  struct Ended {
    int code = -1;
    Json report;
    std::string output;
    std::string errors;
  };

  /// `pstrain run ARGUMENTS --json` to its end; the report is the last line of standard output.
  /// `environment`: NAME=VALUE.
  Ended Run(std::vector<std::string> arguments, std::vector<std::string> environment = {});
  /// The same with the Adult example.
  Ended RunAdult(const std::vector<std::string>& more = {},
                 std::vector<std::string> environment = {});

  /// `pstrain run` of the Adult example with more arguments, without running it.
  static std::vector<std::string> AdultCommand(const std::vector<std::string>& more);

  /// A `pstrain run --json`'s end.
  static Ended WaitFor(Program& program);

  static void ExpectAllAppliedOnce(const Ended& ended);
  /// The next attempt of a replica that was killed, or told to stop.
  enum class NextAttempt {
    kWorks,
    kMayComeTooLate,  // who is told to stop works on meanwhile, so that the job may be done before
  };
  /// Each kill fired, and what came after it has worked.
  static void ExpectKills(const Ended& ended, std::size_t count,
                          NextAttempt next = NextAttempt::kWorks);
  /// RunAdult with these kills: nothing is lost and the model is as good. Prints the kills.
  void ExpectAdultSurvives(const std::string& chaos, std::size_t kills);
  static void ExpectAdultAuc(const Ended& ended);

  /// What the chief's agent says now; nothing when there is none.
  std::optional<local::AgentReading> ReadChief(const std::string& job) const {
    return ReadReplica(job, "chief");
  }
  /// The same of the agent of the first replica of a role.
  std::optional<local::AgentReading> ReadReplica(const std::string& job,
                                                 const std::string& role) const;

  TempDir dir_;

 private:
  Ended RunCommand(std::vector<std::string> command, std::vector<std::string> environment);
};

}  // namespace pstrain
