#include "runtime/chief/disk/warm_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "runtime/checkpoint/evaluations.h"
#include "runtime/shard/optimizer.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using checkpoint_test::WriteCheckpoint;
using testing::HasSubstr;

/// Run "run-a" has two checkpoints, and run "run-b" is to begin with one.
class WarmStartTest : public testing::Test {
 protected:
  WarmStartTest() {
    WriteCheckpoint(from_, {1, 1}, 2, 2, 100);
    WriteCheckpoint(from_, {1, 2}, 2, 2, 200);
    run_.set_run_id("run-b");
    run_.set_run_directory(dir_.File("run-b"));
    run_.set_shards(2);
    run_.set_batches_per_epoch(5);
    for (const VariableSpec& variable : checkpoint_test::Variables(2)) {
      *run_.add_variables() = variable;
    }
    term_ = *TakeChiefTerm(run_.run_directory());
  }

  Result<GoodCheckpoint> Begin(const std::string& checkpoint = "") {
    return BeginWith({from_, checkpoint}, run_, term_, {});
  }
  void ExpectRefused(const char* what) {
    const Status status = Begin().status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr("spec.training.restore.run: "));
    EXPECT_THAT(status.message(), HasSubstr(what));
    EXPECT_FALSE(FileExists(CheckpointDirectory(run_.run_directory(), {1, 0})));
  }
  Adagrad* AdagradOf(int variable) {
    return run_.mutable_variables(variable)->mutable_optimizer()->mutable_adagrad();
  }
  static ShardState Read(const std::string& directory, ShardId shard) {
    return *CheckpointChain::Open(directory)->Read(shard);
  }

  TempDir dir_;
  const std::string from_ = dir_.File("run-a");
  RunDescription run_;
  ChiefTerm term_;
};

TEST_F(WarmStartTest, HasTheValuesAndNothingApplied) {
  AdagradOf(0)->set_learning_rate(0.5);
  const Result<GoodCheckpoint> begun = Begin();
  ASSERT_TRUE(begun.ok()) << begun.status().ToString();
  EXPECT_EQ(begun->id, (CheckpointId{1, 0}));
  CheckpointExpectation expectation;
  expectation.run_id = "run-b";
  EXPECT_TRUE(NewestGoodCheckpoint(run_.run_directory(), expectation).ok());
  EXPECT_FALSE(begun->manifest.final());
  for (ShardId shard = 0; shard < 2; ++shard) {
    const ShardState was = Read(CheckpointDirectory(from_, {1, 2}), shard);
    const ShardState is = Read(begun->directory, shard);
    EXPECT_EQ(is.dense, was.dense);
    EXPECT_EQ(is.tables, was.tables);
    EXPECT_EQ(is.applied, AppliedSet(5));
    EXPECT_EQ(is.examples, 0);
    EXPECT_EQ(is.skipped, 0);
  }
}

TEST_F(WarmStartTest, TakesTheCheckpointThatIsNamedElseTheBest) {
  const auto first = [this] {
    return Read(CheckpointDirectory(run_.run_directory(), {1, 0}), 0).dense;
  };
  const auto of_from = [this](std::uint64_t number) {
    return Read(CheckpointDirectory(from_, {1, number}), 0).dense;
  };
  ASSERT_TRUE(Begin("1-1").ok());
  EXPECT_EQ(first(), of_from(1));
  // A chief that comes once more begins once more.
  ASSERT_TRUE(Begin("latest").ok());
  EXPECT_EQ(first(), of_from(2));
  RunEvaluations evaluations;
  evaluations.mutable_best()->set_checkpoint("1-1");
  ASSERT_TRUE(WriteEvaluations(from_, *TakeChiefTerm(from_), evaluations).ok());
  ASSERT_TRUE(Begin().ok());
  EXPECT_EQ(first(), of_from(1));
}

TEST_F(WarmStartTest, WhenTheOptimizerKeepsSomethingElse_ItBeginsAnew) {
  for (int i = 0; i < 2; ++i) {
    Adam* adam = run_.mutable_variables(i)->mutable_optimizer()->mutable_adam();
    adam->set_learning_rate(0.1);
    adam->set_beta_1(0.9);
    adam->set_beta_2(0.999);
    adam->set_epsilon(1e-7);
  }
  const Result<GoodCheckpoint> begun = Begin();
  ASSERT_TRUE(begun.ok()) << begun.status().ToString();
  const ShardState was = Read(CheckpointDirectory(from_, {1, 2}), 0);
  const ShardState is = Read(begun->directory, 0);
  ASSERT_FALSE(is.tables[0].keys.empty());
  EXPECT_EQ(is.tables[0].values, was.tables[0].values);
  const auto rule = OptimizerRule::Create(run_.variables(0).optimizer());
  ASSERT_TRUE(rule.ok()) << rule.status().ToString();
  EXPECT_EQ(is.tables[0].slots.size(), (*rule)->slots().size());
  EXPECT_EQ(is.dense[0].slots.size(), (*rule)->slots().size());
  EXPECT_EQ(is.dense[0].slots[0].of<float>()[0], 0.0f);
}

TEST_F(WarmStartTest, WhatDoesNotFit_IsRefusedByName) {
  const RunDescription fits = run_;
  run_.mutable_variables(1)->set_name("linear/city");
  ExpectRefused("it has variable table, where the job has linear/city");
  run_ = fits;
  run_.mutable_variables(1)->set_shape(0, 90);
  ExpectRefused("variable table: its shape is [90, 3], and was [100, 3] there");
  run_ = fits;
  run_.mutable_variables()->RemoveLast();
  ExpectRefused("it has variable table, where the job has none");
  run_ = fits;
  *run_.add_variables() = fits.variables(1);
  run_.mutable_variables(2)->set_name("deep");
  ExpectRefused("it has no variable deep");
  run_ = fits;
  run_.mutable_variables(0)->mutable_partitions(0)->set_shard(1);
  ExpectRefused("variable dense is divided in another way");
  run_ = fits;
  run_.set_shards(3);
  ExpectRefused("it has 2 shards, and the job 3 (spec.strategy.shards)");
}

TEST_F(WarmStartTest, WhenThereIsNoSuchCheckpoint_SaysSo) {
  EXPECT_THAT(Begin("1-7").status().message(), HasSubstr("there are: 1-1, 1-2"));
  EXPECT_EQ(Begin("best").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(BeginWith({dir_.File("none"), ""}, run_, term_, {}).status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace pstrain
