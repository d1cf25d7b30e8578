#include "tests/process/training_fixture.h"

#include <poll.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <utility>

#include "base/clock.h"
#include "local/replicas/agent_probe.h"
#include "tests/process/program.h"

namespace pstrain {
namespace {

constexpr const char* kPstrain = PSTRAIN_BIN_DIR "/pstrain";
constexpr const char* kAdult = PSTRAIN_SOURCE_DIR "/examples/adult";
constexpr std::chrono::seconds kRunLimit{240};
/// What a run reaches, and how far one may be off: of 40 undisturbed ones on a busy machine 39 had
/// 0.9157 to 0.9173 and one 0.9148. Weights of asynchronous steps vary, most where a worker was off
/// the processor with a gradient in its hands, hence more with kills: of 112 such runs one had
/// 0.9116. Whether each batch was applied once is not seen here, but in the counts and in the
/// closed forms.
constexpr double kAuc = 0.9170;
constexpr double kAucTolerance = 0.005;
constexpr double kAucToleranceWithKills = 0.01;

std::optional<local::AgentReading> Probe(std::uint16_t port) {
  local::AgentProbe probe(port);
  probe.Begin(SteadyNow());
  std::optional<local::AgentReading> reading;
  while (probe.busy() && !reading) {
    pollfd wait{probe.fd(), probe.events(), 0};
    poll(&wait, 1, 100);
    reading = probe.Advance(SteadyNow());
  }
  return reading;
}

}  // namespace

double Number(const Json& json, const char* key) {
  const Json* value = json.Find(key);
  return value == nullptr ? -1 : value->AsDouble().value_or(-1);
}

TrainingRunTest::Ended TrainingRunTest::Run(std::vector<std::string> arguments,
                                            std::vector<std::string> environment) {
  arguments.insert(arguments.begin(), {kPstrain, "run"});
  arguments.push_back("--json");
  return RunCommand(std::move(arguments), std::move(environment));
}

std::vector<std::string> TrainingRunTest::AdultCommand(const std::vector<std::string>& more) {
  std::vector<std::string> command = {
      kPstrain, "run",      std::string(kAdult) + "/job.yaml",
      "--json", "--volume", "data=" + std::string(kAdult) + "/data"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

TrainingRunTest::Ended TrainingRunTest::RunAdult(const std::vector<std::string>& more,
                                                 std::vector<std::string> environment) {
  return RunCommand(AdultCommand(more), std::move(environment));
}

TrainingRunTest::Ended TrainingRunTest::RunCommand(std::vector<std::string> command,
                                                   std::vector<std::string> environment) {
  Program program(std::move(command), dir_.path(), std::move(environment));
  return WaitFor(program);
}

TrainingRunTest::Ended TrainingRunTest::WaitFor(Program& program) {
  Ended ended;
  ended.code = program.Wait(kRunLimit);
  ended.errors = program.Stderr();
  ended.output = program.Stdout();
  std::string text = ended.output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const Result<Json> report = ParseJson(text.substr(text.rfind('\n') + 1));
  if (report.ok()) ended.report = *report;
  return ended;
}

std::optional<local::AgentReading> TrainingRunTest::ReadReplica(const std::string& job,
                                                                const std::string& role) const {
  const Result<std::string> text = ReadFile(dir_.File(".pstrain/" + job + "/endpoints.json"));
  const Result<Json> endpoints = text.ok() ? ParseJson(*text) : Result<Json>(text.status());
  if (!endpoints.ok()) return std::nullopt;
  for (const Json& replica : endpoints->Find("replicas")->items()) {
    if (*replica.Find("role")->AsString() != role) continue;
    const std::string& url = *replica.Find("metrics")->AsString();
    std::uint16_t port = 0;
    std::from_chars(url.data() + url.rfind(':') + 1, url.data() + url.size(), port);
    return Probe(port);
  }
  return std::nullopt;
}

void TrainingRunTest::ExpectAllAppliedOnce(const Ended& ended) {
  ASSERT_EQ(ended.code, 0) << ended.errors;
  const double expected = Number(ended.report, "examples_expected");
  EXPECT_GT(expected, 0);
  EXPECT_EQ(Number(ended.report, "examples_committed"), expected);
  EXPECT_EQ(Number(ended.report, "applied_min"), expected);
  EXPECT_EQ(Number(ended.report, "applied_max"), expected);
}

void TrainingRunTest::ExpectKills(const Ended& ended, std::size_t count, NextAttempt next) {
  const Json* kills = ended.report.Find("kills");
  ASSERT_NE(kills, nullptr);
  ASSERT_EQ(kills->items().size(), count);
  for (const Json& kill : kills->items()) {
    const Json* first_step = kill.Find("first_step_after_s");
    ASSERT_NE(first_step, nullptr) << WriteJson(kill);
    if (next == NextAttempt::kMayComeTooLate && first_step->is_null()) continue;
    EXPECT_GE(Number(kill, "first_step_after_s"), 0) << WriteJson(kill);
  }
}

void TrainingRunTest::ExpectAdultAuc(const Ended& ended) {
  EXPECT_NEAR(Number(ended.report, "auc"), kAuc, kAucTolerance);
}

void TrainingRunTest::ExpectAdultSurvives(const std::string& chaos, std::size_t kills) {
  const Ended ended = RunAdult({"--chaos", chaos});
  ExpectAllAppliedOnce(ended);
  const bool told = chaos.find(":term") != std::string::npos;
  ExpectKills(ended, kills, told ? NextAttempt::kMayComeTooLate : NextAttempt::kWorks);
  EXPECT_NEAR(Number(ended.report, "auc"), kAuc, kAucToleranceWithKills);
  const Json* fired = ended.report.Find("kills");
  std::cout << chaos << ": " << (fired == nullptr ? "no report" : WriteJson(*fired)) << std::endl;
}

}  // namespace pstrain
