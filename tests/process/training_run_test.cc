// `pstrain run` of jobs with spec.training: real processes, real data, SIGKILL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/os/child_processes.h"
#include "base/text/json.h"
#include "proto/contract/run_files.h"
#include "tests/process/exact_fixture.h"
#include "tests/process/program.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

TEST_F(TrainingRunTest, Adult_Undisturbed_IsTrainedWellAndTwiceIsTwoRuns) {
  const Ended ended = RunAdult();
  ExpectAllAppliedOnce(ended);
  EXPECT_EQ(*ended.report.Find("state")->AsString(), "Succeeded");
  ExpectAdultAuc(ended);
  EXPECT_GE(Number(ended.report, "accuracy"), 0.845);
  for (const Json& worker : ended.report.Find("workers")->items()) {
    EXPECT_GT(Number(worker, "examples"), 0);
  }
  double sum = 0;
  double highest = 0;
  for (const Json& ps : ended.report.Find("ps")->items()) {
    sum += Number(ps, "bytes_received");
    highest = std::max(highest, Number(ps, "bytes_received"));
  }
  EXPECT_LE(highest, 1.5 * sum / 2);  // of two ps: at most half more than the mean
  const Ended second = RunAdult();
  ExpectAllAppliedOnce(second);
  EXPECT_NE(*second.report.Find("run_id")->AsString(), *ended.report.Find("run_id")->AsString());
  EXPECT_GT(Number(second.report, "steps"), 0);
  ExpectAdultAuc(second);
}

class OrderOfKills : public TrainingRunTest, public testing::WithParamInterface<const char*> {};

TEST_P(OrderOfKills, Adult_WhenEachRoleIsKilledOnce_LosesNothing) {
  ExpectAdultSurvives(GetParam(), 3);
}

INSTANTIATE_TEST_SUITE_P(Kill, OrderOfKills,
                         testing::Values("worker@20,ps@40,chief@60", "worker@20,chief@40,ps@60",
                                         "ps@20,worker@40,chief@60", "ps@20,chief@40,worker@60",
                                         "chief@20,worker@40,ps@60", "chief@20,ps@40,worker@60"));
INSTANTIATE_TEST_SUITE_P(Agent, OrderOfKills,
                         testing::Values("worker:1@20:agent,ps:1@40:agent,chief@60:agent"));

TEST_F(TrainingRunTest, Adult_WhenPsAndChiefAreKilledTogether_LosesNothing) {
  ExpectAdultSurvives("ps@40,chief@40", 2);
}

TEST_F(TrainingRunTest, Adult_WhenEachRoleIsToldToStop_LosesNothing) {
  ExpectAdultSurvives("worker@30:term,ps@50:term,chief@70:term", 3);
}

/// Runs whose CLI gets no CPU for longer than the job takes.
class FrozenCliTest : public TrainingRunTest {
 protected:
  static constexpr double kBatch = 128;
  static constexpr std::chrono::seconds kLimit{120};

  /// Those that are in the directory of the run.
  std::vector<std::string> GrantBarrierFiles(const Ended& ended) const {
    const Result<std::vector<std::string>> names = ListDirectory(dir_.File(
        ".pstrain/adult/volumes/checkpoints/adult/" + *ended.report.Find("run_id")->AsString()));
    EXPECT_TRUE(names.ok()) << names.status().ToString();
    std::vector<std::string> files = names.ok() ? *names : std::vector<std::string>();
    std::erase_if(files,
                  [](const std::string& name) { return !name.starts_with(kRunBarrierPrefix); });
    return files;
  }

  /// SIGSTOPs the process that watches the job, not its guard.
  static pid_t Freeze(const Program& program) {
    const std::vector<pid_t> inner = ChildProcesses(program.pid());
    EXPECT_EQ(inner.size(), 1u);
    if (inner.size() != 1) return -1;
    kill(inner.front(), SIGSTOP);
    return inner.front();
  }

  /// The chief has committed what it may at one of these percentages and less than a batch more.
  static bool StandsAt(const local::AgentReading& chief, std::initializer_list<double> percents) {
    const double committed = chief.Value("examples_committed");
    const double expected = chief.Value("examples_expected");
    return std::ranges::any_of(percents, [&](double percent) {
      const double beyond = committed - expected * percent / 100;
      return expected > 0 && beyond >= 0 && beyond < kBatch;
    });
  }
};

TEST_F(FrozenCliTest, Adult_WhenItsCliIsFrozen_WaitsForTheKills) {
  // Neither kill keeps the others from training on, whenever the freezing comes.
  Program program(AdultCommand({"--chaos", "worker@20,evaluator@85"}), dir_.path());
  ASSERT_TRUE(Eventually([&] { return ReadChief("adult").has_value(); }, kLimit))
      << program.Stderr();
  const pid_t frozen = Freeze(program);
  ASSERT_GT(frozen, 0);
  std::optional<local::AgentReading> chief;
  const auto stands = [&] {
    chief = ReadChief("adult");
    return chief && StandsAt(*chief, {30, 95});
  };
  EXPECT_TRUE(Eventually(stands, kLimit)) << program.Stderr();
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(stands() || !chief) << chief->Value("examples_committed");
  }
  kill(frozen, SIGCONT);
  const Ended ended = WaitFor(program);
  ExpectAllAppliedOnce(ended);
  ExpectKills(ended, 2);
  EXPECT_TRUE(GrantBarrierFiles(ended).empty());
}

TEST_F(ExactRunTest, Weights_WhateverIsKilled_AreThoseOfTheClosedForm) {
  const std::vector<std::vector<std::string>> runs = {{},
                                                      {"--chaos", "worker@20,ps@40,chief@60"},
                                                      {"--chaos", "chief@25,ps:1@45,worker:1@70"},
                                                      {"--chaos", "ps@30,ps:1@60:agent,worker@80"},
                                                      {"--set", "spec.replicaSpecs.ps.replicas=1"}};
  for (const std::vector<std::string>& more : runs) {
    const Ended ended = RunExact(more);
    ExpectAllAppliedOnce(ended);
    ExpectClosedForm(ended);
  }
}

TEST_F(ExactRunTest, Job_WhenTheInputIsMissing_FailsAndNamesIt) {
  const Ended ended = RunExact({"--set", "spec.training.input.csv.files[0]=absent.csv", "--set",
                                "spec.runPolicy.backoffLimit=0"});
  EXPECT_EQ(ended.code, 2) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("absent.csv"));
}

}  // namespace
}  // namespace pstrain
