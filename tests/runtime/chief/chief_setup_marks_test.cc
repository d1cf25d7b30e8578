// How a chief of a program returns to a mark of the chiefs before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "proto/contract/exit_codes.h"
#include "proto/job/fixed_fields.h"
#include "runtime/checkpoint/program_mark.h"
#include "runtime/chief/chief_setup.h"
#include "tests/runtime/checkpoint/checkpoint_test_support.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A program of two shards, whose chiefs come one after the other.
class ReturnToMarkTest : public testing::Test {
 protected:
  ReturnToMarkTest() {
    Strategy* strategy = settings_.spec.mutable_strategy();
    strategy->set_shards(2);
    strategy->mutable_variable_partitioner()->mutable_fixed_shards()->set_num_shards(1);
    settings_.spec.mutable_replica_specs()->mutable_ps()->set_replicas(1);
    settings_.checkpoint_directory = dir_.path();
    settings_.peer_timeout = std::chrono::seconds(60);
  }

  Result<ChiefSetup> NextChief() {
    ChiefJob job;
    job.starts_over = true;
    job.open_work = [this](const ChiefJob::Place&) -> Result<ChiefJob::Work> {
      ChiefJob::Work work;
      work.input.batches_per_epoch = checkpoint_test::kBatches;
      work.returned = [this](const ProgramMark& mark) { told_.push_back(mark.mark()); };
      return work;
    };
    return PrepareChief(context_, job, [](std::chrono::nanoseconds) { return true; });
  }
  ChiefSetup Begin() {
    Result<ChiefSetup> setup = NextChief();
    EXPECT_TRUE(setup.ok()) << setup.status().ToString();
    return *std::move(setup);
  }
  std::string RunPath() const { return dir_.File("run"); }

  /// Two variables, as a program has declared them.
  static std::vector<VariableSpec> Declared() {
    std::vector<VariableSpec> variables = checkpoint_test::Variables(2);
    for (VariableSpec& variable : variables) variable.set_generation(1);
    return variables;
  }
  /// The checkpoint of a chief that has declared them.
  void Checkpoint(CheckpointId id) {
    const auto variables = checkpoint_test::Variables(2);
    const auto catalog = Catalog::Create(variables, 2, checkpoint_test::kBatches);
    ASSERT_TRUE(catalog.ok());
    const std::string folder = checkpoint_test::WriteCheckpointOf(
        RunPath(), id, variables,
        {checkpoint_test::State(**catalog, 0), checkpoint_test::State(**catalog, 1)}, "", "run");
    Result<CheckpointManifest> written = ReadManifest(folder);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    CheckpointManifest manifest = *std::move(written);
    manifest.set_generation(1);
    for (VariableSpec& variable : *manifest.mutable_variables()) variable.set_generation(1);
    manifest.set_examples_committed(200);
    *manifest.mutable_job() = FixedPart(settings_.spec);
    ASSERT_TRUE(WriteManifest(folder, manifest, nullptr).ok());
  }
  /// The same with a mark of that value.
  void Mark(CheckpointId id, std::int64_t value) {
    Checkpoint(id);
    ProgramMark mark;
    mark.set_run_id("run");
    mark.set_chief_term(id.chief_term);
    mark.set_number(id.number);
    mark.set_mark(value);
    mark.set_next_id(128);
    ASSERT_TRUE(WriteMark(CheckpointDirectory(RunPath(), id), mark).ok());
  }
  void Damage(CheckpointId id) const {
    ASSERT_TRUE(WriteFileSynced(JoinPath(CheckpointDirectory(RunPath(), id), "shard-1"), "?").ok());
  }

  TempDir dir_;
  JobSettings settings_;
  std::unique_ptr<StatsWriter> stats_ = StatsWriter::InMemory();
  RoleContext context_{.job = settings_,
                       .run_id = "run",
                       .scratch = dir_.File("scratch"),
                       .stats = *stats_,
                       .fail_points = FailPoints::None()};
  std::vector<std::int64_t> told_;
};

TEST_F(ReturnToMarkTest, WithoutAMark_EachChiefBeginsWithNothing) {
  Begin();
  Checkpoint({1, 1});
  const ChiefSetup setup = Begin();
  EXPECT_FALSE(setup.mark.has_value());
  EXPECT_FALSE(setup.checkpoint.has_value());
  EXPECT_THAT(setup.checkpoints, IsEmpty());
  EXPECT_EQ(setup.run.variables_size(), 0);
  EXPECT_EQ(setup.calls_lost, 200U);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ReturnToMarkTest, TheNewestMarkAndItsVariablesAreThere_AndNothingElse) {
  const ChiefSetup first = Begin();
  CatalogGeneration later;
  later.set_run_id("run");
  later.set_generation(1);
  *later.add_variables() = Declared()[0];
  later.mutable_variables(0)->set_name("of a history that is over");
  ASSERT_TRUE(first.directory.WriteGeneration(later).ok());
  Mark({1, 1}, 4);
  Mark({1, 2}, 5);
  Checkpoint({1, 3});
  const ChiefSetup setup = Begin();
  ASSERT_TRUE(setup.mark.has_value());
  EXPECT_EQ(setup.mark->mark(), 5);
  EXPECT_THAT(told_, ElementsAre(5));
  EXPECT_EQ(setup.checkpoint->id, (CheckpointId{1, 2}));
  EXPECT_THAT(setup.checkpoints, ElementsAre("1-2")) << "not one from after the mark";
  EXPECT_THAT(setup.marks, ElementsAre(CheckpointId{1, 2}, CheckpointId{1, 1}));
  EXPECT_EQ(setup.run.generation(), 1U);
  ASSERT_EQ(setup.run.variables_size(), 2);
  EXPECT_EQ(setup.run.variables(0).name(), "dense");
  EXPECT_EQ(setup.calls_lost, 72U) << "of the 200 of the newest checkpoint the mark has 128";
  EXPECT_FALSE(ExamplesExpected(setup).has_value());
}

TEST_F(ReturnToMarkTest, WhenTheNewestIsDamaged_TheOneBeforeCounts_AndStaysTheParent) {
  Begin();
  Mark({1, 1}, 4);
  Mark({1, 2}, 5);
  Damage({1, 2});
  ChiefSetup setup = Begin();
  EXPECT_EQ(setup.mark->mark(), 4);
  EXPECT_THAT(setup.marks, ElementsAre(CheckpointId{1, 1}));
  setup = Begin();
  EXPECT_EQ(setup.mark->mark(), 4);
}

TEST_F(ReturnToMarkTest, WhenNoneCanBeRead_EndsForGoodWithDataLoss) {
  Begin();
  Mark({1, 1}, 4);
  Damage({1, 1});
  const Status status = NextChief().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("checkpoint 1-1 is passed over"));
  EXPECT_EQ(EndOfSetup(context_, status).value(), kExitPermanent);
}

TEST_F(ReturnToMarkTest, AMarkOfAnotherJob_IsRefusedWithTheField) {
  Begin();
  Mark({1, 1}, 4);
  settings_.spec.mutable_strategy()->set_shards(3);
  const Status status = NextChief().status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("spec.strategy.shards"));
}

}  // namespace
}  // namespace pstrain
