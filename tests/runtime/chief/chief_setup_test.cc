#include "runtime/chief/chief_setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/os/file_faults.h"
#include "base/os/files.h"
#include "proto/contract/exit_codes.h"
#include "runtime/model/training/training_jobs.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PrepareChiefTest : public testing::Test {
 protected:
  PrepareChiefTest() {
    WriteTestFile(dir_.File("data.csv"), "30,cook,yes\n31,clerk,no\n");
    JobSpec& spec = *job_.mutable_spec();
    spec.mutable_replica_specs()->mutable_ps()->set_replicas(1);
    spec.mutable_strategy()->set_shards(2);
    Training& training = *spec.mutable_training();
    training = SmallTraining(dir_.File("data.csv"));
    training.mutable_features(0)->set_deep(true);
    training.mutable_model()->mutable_wide_and_deep()->add_hidden_units(2);
    training.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
    training.mutable_checkpoint()->set_directory(dir_.File("checkpoints"));
    training.set_peer_timeout_seconds(60);
    settings_ = SettingsOf(job_);
  }

  Result<ChiefSetup> Prepare() {
    return PrepareChief(context_, ChiefJobOf(job_), [this](nanoseconds pause) {
      pauses_.push_back(pause);
      return true;
    });
  }
  /// A start of a chief during which that call on files below the run fails so many times.
  Result<ChiefSetup> PrepareWhileFailing(const std::string& call, int error, int times) {
    const ScopedFileFaults faults([&](std::string_view made, const std::string& path) {
      const bool fails = made == call && path.find("checkpoints/run/") != std::string::npos;
      return fails && times-- > 0 ? error : 0;
    });
    return Prepare();
  }

  TempDir dir_;
  PSTrainingJob job_;
  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  RoleContext context_{.job = settings_,
                       .run_id = "run",
                       .scratch = dir_.File("scratch"),
                       .stats = *stats_,
                       .fail_points = FailPoints::None()};
  std::vector<nanoseconds> pauses_;
};

TEST_F(PrepareChiefTest, WhenTheDiskOfAStartedRunRefusesForAWhile_ItIsWaitedFor) {
  const Result<ChiefSetup> first = Prepare();
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  std::uint64_t term = first->directory.chief_term();
  struct Refusal {
    const char* call;
    int error;
  };
  for (const auto& [call, error] :
       {Refusal{"write", ENOSPC}, Refusal{"write", EDQUOT}, Refusal{"open", EACCES},
        Refusal{"open", EROFS}, Refusal{"list", EACCES}, Refusal{"read", EIO},
        Refusal{"stat", EACCES}, Refusal{"stat", EIO}, Refusal{"stat", ESTALE}}) {
    pauses_.clear();
    const Result<ChiefSetup> setup = PrepareWhileFailing(call, error, 3);
    ASSERT_TRUE(setup.ok()) << call << error << setup.status().ToString();
    EXPECT_GT(setup->directory.chief_term(), term);
    term = setup->directory.chief_term();
    EXPECT_THAT(pauses_, ElementsAre(milliseconds(100), milliseconds(200), milliseconds(400)))
        << call << error;
  }
}

TEST_F(PrepareChiefTest, WhenTheDiskOfAStartedRunStaysFull_EndsAfterThePatienceOfTheJob) {
  ASSERT_TRUE(Prepare().ok());
  pauses_.clear();
  const Result<ChiefSetup> setup = PrepareWhileFailing("write", ENOSPC, 1000);
  EXPECT_EQ(setup.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(setup.status().message(), HasSubstr("must be writable and have room"));
  nanoseconds waited{0};
  for (const nanoseconds pause : pauses_) waited += pause;
  EXPECT_GE(waited, seconds(60));
  EXPECT_LT(waited, seconds(71));
}

// The run may exist: no attempt after this one would go on with it.
TEST_F(PrepareChiefTest, WhenItStaysUnseenWhetherTheRunWasStarted_DoesNotEndForGood) {
  ASSERT_TRUE(Prepare().ok());
  for (const int error : {EACCES, EIO, ESTALE, ENOMEM}) {
    pauses_.clear();
    const Result<ChiefSetup> setup = PrepareWhileFailing("stat", error, 1000);
    EXPECT_EQ(setup.status().code(), ErrnoError(error, "").code());
    EXPECT_THAT(setup.status().message(), HasSubstr("must be writable and have room"));
    EXPECT_GT(pauses_.size(), 5u);
    const ScopedFileFaults faults(
        [error](std::string_view call, const std::string&) { return call == "stat" ? error : 0; });
    EXPECT_EQ(EndOfSetup(context_, setup.status()).status(), setup.status());
  }
}

TEST_F(PrepareChiefTest, WhereTheDiskRefuses_OnlyARunThatWasNotStartedEndsForGood) {
  const Status refused = PrepareWhileFailing("mkdir", EACCES, 1000).status();
  const Result<int> end = EndOfSetup(context_, refused);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, kExitPermanent);
  ASSERT_TRUE(Prepare().ok());
  EXPECT_EQ(EndOfSetup(context_, refused).status(), refused);
}

TEST_F(PrepareChiefTest, WhenTheDiskIsFullFromTheStart_EndsImmediately) {
  EXPECT_EQ(PrepareWhileFailing("mkdir", EACCES, 1000).status().code(),
            StatusCode::kPermissionDenied);
  EXPECT_EQ(PrepareWhileFailing("write", ENOSPC, 1000).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_THAT(pauses_, IsEmpty());
}

TEST_F(PrepareChiefTest, WhenTheRunStartsOver_WhatWasDeclaredIsGone) {
  const Result<ChiefSetup> first = Prepare();
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  CatalogGeneration declared;
  declared.set_generation(1);
  declared.set_run_id(first->run.run_id());
  VariableSpec& late = *declared.add_variables();
  late = first->run.variables(0);
  late.set_id(static_cast<std::uint32_t>(first->run.variables_size()));
  late.set_name("late");
  late.clear_pack();
  late.set_generation(1);
  ASSERT_TRUE(first->directory.WriteGeneration(declared).ok());
  const Result<ChiefSetup> second = Prepare();
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_EQ(second->run.generation(), 1u);
  ChiefJob job = ChiefJobOf(job_);
  job.starts_over = true;
  const Result<ChiefSetup> over = PrepareChief(context_, job, [](nanoseconds) { return true; });
  ASSERT_TRUE(over.ok()) << over.status().ToString();
  EXPECT_EQ(over->run.generation(), 0u);
  EXPECT_FALSE(over->checkpoint.has_value());
  const Result<ChiefSetup> next = Prepare();
  ASSERT_TRUE(next.ok()) << next.status().ToString();
  EXPECT_EQ(next->run.generation(), 0u);
}

}  // namespace
}  // namespace pstrain
