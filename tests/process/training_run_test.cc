// `pstrain run` of jobs with spec.training: real processes, real data, SIGKILL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "tests/process/program.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr const char* kPstrain = PSTRAIN_BIN_DIR "/pstrain";
constexpr const char* kAdult = PSTRAIN_SOURCE_DIR "/examples/adult";
constexpr std::chrono::seconds kRunLimit{240};
/// What an undisturbed run reaches, and how far a disturbed one may be off.
constexpr double kAuc = 0.9175;
constexpr double kAucTolerance = 0.005;

double Number(const Json& json, const char* key) {
  const Json* value = json.Find(key);
  return value == nullptr ? -1 : value->AsDouble().value_or(-1);
}

class TrainingRunTest : public testing::Test {
 protected:
  struct Ended {
    int code = -1;
    Json report;
    std::string errors;
  };

  /// Runs a job to its end; the report is the last line of standard output.
  Ended Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {kPstrain, "run"});
    arguments.push_back("--json");
    Program program(std::move(arguments), dir_.path());
    Ended ended;
    ended.code = program.Wait(kRunLimit);
    ended.errors = program.Stderr();
    std::string text = program.Stdout();
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const Result<Json> report = ParseJson(text.substr(text.rfind('\n') + 1));
    if (report.ok()) ended.report = *report;
    return ended;
  }

  Ended RunAdult(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {std::string(kAdult) + "/job.yaml", "--volume",
                                          "data=" + std::string(kAdult) + "/data"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(std::move(arguments));
  }

  static void ExpectAllAppliedOnce(const Ended& ended) {
    ASSERT_EQ(ended.code, 0) << ended.errors;
    const double expected = Number(ended.report, "examples_expected");
    EXPECT_GT(expected, 0);
    EXPECT_EQ(Number(ended.report, "examples_committed"), expected);
    EXPECT_EQ(Number(ended.report, "applied_min"), expected);
    EXPECT_EQ(Number(ended.report, "applied_max"), expected);
  }

  static void ExpectKills(const Ended& ended, std::size_t count) {
    const Json* kills = ended.report.Find("kills");
    ASSERT_NE(kills, nullptr);
    ASSERT_EQ(kills->items().size(), count);
    for (const Json& kill : kills->items()) {
      EXPECT_GE(Number(kill, "first_step_after_s"), 0) << WriteJson(kill);
    }
  }

  void ExpectAdultSurvives(const std::string& chaos, std::size_t kills) {
    const Ended ended = RunAdult({"--chaos", chaos});
    ExpectAllAppliedOnce(ended);
    ExpectKills(ended, kills);
    EXPECT_NEAR(Number(ended.report, "auc"), kAuc, kAucTolerance);
    std::cout << chaos << ": " << WriteJson(*ended.report.Find("kills")) << '\n';
  }

  TempDir dir_;
};

TEST_F(TrainingRunTest, Adult_Undisturbed_IsTrainedWellAndTwiceIsTwoRuns) {
  const Ended ended = RunAdult();
  ExpectAllAppliedOnce(ended);
  EXPECT_EQ(*ended.report.Find("state")->AsString(), "Succeeded");
  EXPECT_NEAR(Number(ended.report, "auc"), kAuc, kAucTolerance);
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
  EXPECT_LE(highest, sum);  // two ps: at most twice the mean
  const Ended second = RunAdult();
  ExpectAllAppliedOnce(second);
  EXPECT_NE(*second.report.Find("run_id")->AsString(), *ended.report.Find("run_id")->AsString());
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

TEST_F(TrainingRunTest, Adult_WhenTwoReplicasAreToldToStop_LosesNothing) {
  ExpectAdultSurvives("worker@30:term,ps@50:term", 2);
}

TEST_F(TrainingRunTest, Adult_WhenStopped_ResumesOnMorePsFromTheSameState) {
  const Ended stopped = RunAdult({"--stop-at", "50"});
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  EXPECT_EQ(*stopped.report.Find("state")->AsString(), "Stopped");
  EXPECT_THAT(stopped.errors, HasSubstr("--resume"));
  const double eval_loss = Number(stopped.report, "eval_loss");
  EXPECT_GT(eval_loss, 0);
  const Ended resumed = RunAdult({"--resume", "--set", "spec.replicaSpecs.ps.replicas=3"});
  ExpectAllAppliedOnce(resumed);
  EXPECT_NEAR(Number(resumed.report, "restored_eval_loss"), eval_loss, 1e-6);
  EXPECT_EQ(resumed.report.Find("ps")->items().size(), 3u);
  EXPECT_NEAR(Number(resumed.report, "auc"), kAuc, kAucTolerance);
}

/// A small job whose gradients are integers that do not depend on the parameters.
class ExactRunTest : public TrainingRunTest {
 protected:
  void SetUp() override {
    WriteData(20000);
    const std::string job =
        "apiVersion: pstrain.dev/v1alpha1\n"
        "kind: PSTrainingJob\n"
        "metadata: {name: exact}\n"
        "spec:\n"
        "  replicaSpecs:\n"
        "    ps: {replicas: 2}\n"
        "    worker: {replicas: 2}\n"
        "  training:\n"
        "    model: {constantGradient: {}}\n"
        "    input: {csv: {files: [data.csv], columns: [label, key], labelColumn: label}}\n"
        "    optimizer: {sgd: {learningRate: 0.5}}\n"
        "    batchSize: 16\n"
        "    epochs: 3\n"
        "    rejoinTimeoutSeconds: 3\n"
        "    checkpoint: {directory: cuts, everySteps: 200}\n";
    ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), job).ok());
  }

  void WriteData(int records) {
    std::string data;
    for (int i = 0; i < records; ++i) {
      data += std::to_string(i % 2) + "," + std::to_string((i * 7919) % 10007) + "\n";
    }
    ASSERT_TRUE(WriteFileAtomically(dir_.File("data.csv"), data).ok());
  }

  /// What `pstrain inspect` says of the cuts of the run that was made last, oldest first.
  std::vector<Json> InspectCuts() {
    const std::string cuts = dir_.File("cuts/" + run_id_ + "/cuts");
    std::vector<std::pair<std::pair<int, int>, std::string>> ordered;
    const Result<std::vector<std::string>> names = ListDirectory(cuts);
    EXPECT_TRUE(names.ok()) << names.status().ToString();
    for (const std::string& name : *names) {
      ordered.push_back({{std::stoi(name), std::stoi(name.substr(name.find('-') + 1))}, name});
    }
    std::sort(ordered.begin(), ordered.end());
    std::vector<Json> reports;
    for (const auto& [id, name] : ordered) {
      Program inspect({kPstrain, "inspect", JoinPath(cuts, name), "--digest", "--json"},
                      dir_.path());
      EXPECT_EQ(inspect.Wait(), 0) << inspect.Stderr();
      const Result<Json> json = ParseJson(inspect.Stdout());
      EXPECT_TRUE(json.ok()) << inspect.Stdout();
      if (json.ok()) reports.push_back(*json);
    }
    return reports;
  }

  /// Digests of the values and slots in the final cut of a run of job.yaml.
  std::string FinalDigest(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"job.yaml", "--allow-test-only"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = Run(std::move(arguments));
    ExpectAllAppliedOnce(ended);
    run_id_ = *ended.report.Find("run_id")->AsString();
    report_ = ended.report;
    const std::vector<Json> cuts = InspectCuts();
    return cuts.empty() ? "no cut" : WriteJson(*cuts.back().Find("digests"));
  }

  std::string run_id_;
  Json report_;
};

TEST_F(ExactRunTest, Weights_WhateverIsKilled_AreThoseOfTheUndisturbedRun) {
  const std::string undisturbed = FinalDigest({});
  EXPECT_EQ(FinalDigest({"--chaos", "worker@20,ps@40,chief@60"}), undisturbed);
  EXPECT_EQ(FinalDigest({"--chaos", "chief@25,ps:1@45,worker:1@70"}), undisturbed);
  EXPECT_EQ(FinalDigest({"--chaos", "ps@30,ps:1@60:agent,worker@80"}), undisturbed);
  EXPECT_EQ(FinalDigest({"--set", "spec.replicaSpecs.ps.replicas=1"}), undisturbed);
}

TEST_F(ExactRunTest, Weights_WithIncrementalCuts_AreThoseOfTheRunWithWholeOnes) {
  const std::vector<std::string> large = {"--set",
                                          "spec.training.model.constantGradient.tableRows=20000",
                                          "--set", "spec.training.checkpoint.everySteps=100"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), large.begin(), large.end());
    return more;
  };
  const std::string whole = FinalDigest(with({"--set", "spec.training.checkpoint.fullEvery=1"}));
  for (const Json& cut : InspectCuts()) EXPECT_TRUE(cut.Find("base")->is_null());
  EXPECT_EQ(FinalDigest(with({})), whole);
  // Without kills an increment follows each whole cut, and two cuts before the final one are kept.
  const std::vector<Json> cuts = InspectCuts();
  EXPECT_TRUE(std::any_of(cuts.begin(), cuts.end(),
                          [](const Json& cut) { return !cut.Find("base")->is_null(); }));
  EXPECT_TRUE(cuts.back().Find("base")->is_null()) << "the final cut stands alone";
  EXPECT_EQ(FinalDigest(with({"--chaos", "ps@35,ps:1@65"})), whole);
  const Ended stopped = Run(with({"job.yaml", "--allow-test-only", "--stop-at", "50"}));
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  EXPECT_EQ(FinalDigest(with({"--resume", "--set", "spec.replicaSpecs.ps.replicas=3"})), whole);
}

TEST_F(ExactRunTest, Weights_WhenAPsIsToldToStop_AreTheSameAndNoCutIsNeeded) {
  const std::vector<std::string> no_cuts = {"--set", "spec.training.checkpoint.everySteps=0",
                                            "--set", "spec.training.checkpoint.everySeconds=0"};
  const std::string undisturbed = FinalDigest(no_cuts);
  std::vector<std::string> told = no_cuts;
  told.insert(told.end(), {"--chaos", "ps:1@40:term"});
  EXPECT_EQ(FinalDigest(told), undisturbed);
  EXPECT_EQ(Number(report_, "cuts"), 1) << "only the final one";
  // The next attempt has got shards back and has applied to them.
  ExpectKills({0, report_, ""}, 1);
  EXPECT_GT(Number(report_.Find("ps")->items()[1], "shards"), 0);
  EXPECT_GT(Number(report_.Find("ps")->items()[1], "bytes_received"), 0);
  std::cout << WriteJson(*report_.Find("kills")) << '\n';
}

TEST_F(ExactRunTest, Resume_WhenTheInputHasChanged_IsRefusedByName) {
  const std::vector<std::string> job = {"job.yaml", "--allow-test-only"};
  const Ended stopped = Run({"job.yaml", "--allow-test-only", "--stop-at", "40"});
  ASSERT_EQ(stopped.code, 0) << stopped.errors;
  WriteData(20001);
  const Ended resumed =
      Run({"job.yaml", "--allow-test-only", "--resume", "--set", "spec.runPolicy.backoffLimit=0"});
  EXPECT_EQ(resumed.code, 1) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("data.csv"));
}

TEST_F(ExactRunTest, Job_WhenTheInputIsMissing_FailsAndNamesIt) {
  const Ended ended =
      Run({"job.yaml", "--allow-test-only", "--set", "spec.training.input.csv.files[0]=absent.csv",
           "--set", "spec.runPolicy.backoffLimit=0"});
  EXPECT_EQ(ended.code, 1) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("absent.csv"));
}

}  // namespace
}  // namespace pstrain
