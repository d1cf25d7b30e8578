// A run that declares a variable while it trains. Whatever is killed, and whatever moves meanwhile,
// it ends in the closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint_reader.h"
#include "tests/runtime/chief/live_run.h"

namespace pstrain {
namespace {

using chief_test::LiveRunTest;
using chief_test::LiveStep;
using chief_test::LiveWorker;
using chief_test::MoveMoment;

constexpr std::uint64_t kRows = 40;

VariableSpec Variable(const std::string& name, VariableSpec::Kind kind,
                      const std::vector<std::int64_t>& shape) {
  VariableSpec variable;
  variable.set_name(name);
  variable.set_kind(kind);
  for (const std::int64_t size : shape) variable.add_shape(size);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  variable.mutable_optimizer()->mutable_sgd()->set_learning_rate(0.5);
  return variable;
}
VariableSpec Late() { return Variable("late", VariableSpec::DENSE, {4, 2}); }

/// An integer, so that sums are exact in any order.
float Gradient(WorkId work_id, char variable, std::size_t element) {
  const std::size_t mixed = work_id.epoch * 31 + work_id.batch * 7 +
                            static_cast<unsigned char>(variable) * 5 + element * 3;
  return static_cast<float>(mixed % 11) - 5.0F;
}
std::vector<float> Gradients(WorkId work_id, char variable, std::size_t count) {
  std::vector<float> gradients;
  for (std::size_t i = 0; i < count; ++i) gradients.push_back(Gradient(work_id, variable, i));
  return gradients;
}

class GrowingRunTest : public LiveRunTest {
 protected:
  // The second epoch, in which the variable that is declared later is touched, waits for the test.
  GrowingRunTest()
      : LiveRunTest({.variables = {Variable("a", VariableSpec::DENSE, {5}),
                                   Variable("b", VariableSpec::DENSE, {}),
                                   Variable("t", VariableSpec::EMBEDDING, {kRows, 2})}}) {
    *most_ = plan_.batches;
  }

  std::optional<LiveStep> StepOf(const LiveWorker& worker, WorkId work_id) override {
    const bool late = work_id.epoch > 0;
    if (late && worker.run.variables_size() < 4) {
      ADD_FAILURE() << "granted before the worker has heard of what it needs";
      return std::nullopt;
    }
    LiveStep step{.access = {{0, 1}, {{2, {work_id.batch % kRows}}}}, .updates = {}};
    step.updates.dense.push_back({0, Gradients(work_id, 'a', 5)});
    step.updates.dense.push_back({1, Gradients(work_id, 'b', 1)});
    step.updates.rows.push_back({0, Gradients(work_id, 't', 2)});
    if (late) {
      step.access.dense.push_back(3);
      step.updates.dense.push_back({3, Gradients(work_id, 'l', 8)});
    }
    return step;
  }

  /// Declares while the shards of ps 1, which is to go, are on their way to ps 0 and stand still.
  void DeclareWhileShardsMove(MoveMoment moment) {
    TrainTo(45);
    TurnUntil([this] { return !Checkpoints().empty(); });
    for (const auto& shard : workers_[0].membership.shards()) owners_.push_back(shard.ps());
    ps_[0]->HoldMoves(moment);
    *wanted_ps_ = 1;
    TurnUntil([this] { return ps_[0]->holds_move(); });
    ASSERT_EQ(chief().Declare({Late()}), OkStatus());
    *most_ = kNoLimit;
    for (int turn = 0; turn < 20; ++turn) Turn();
    ASSERT_TRUE(ps_[0]->holds_move());
  }
  /// A part of the variable lies in a shard that moved.
  bool LateHasMoved() {
    const auto& partitions = workers_[0].run.variables(3).partitions();
    return std::ranges::any_of(
        partitions, [this](const Partition& partition) { return owners_[partition.shard()] == 1; });
  }
  /// The owner of the first partition of the variable that was declared later.
  std::uint32_t OwnerOfLate() {
    const VariableSpec& late = workers_[0].run.variables(3);
    return workers_[0].membership.shards(static_cast<int>(late.partitions(0).shard())).ps();
  }
  void CheckWeights() override {
    ASSERT_FALSE(Checkpoints().empty());
    auto reader = CheckpointReader::Open(CheckpointDirectory(run_, Checkpoints().back()));
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    EXPECT_TRUE(reader->manifest().final());
    EXPECT_EQ(reader->manifest().generation(), 1U);
    std::map<std::string, std::vector<float>> expected = {{"a", std::vector<float>(5)},
                                                          {"b", {0}},
                                                          {"t", std::vector<float>(kRows * 2)},
                                                          {"late", std::vector<float>(8)}};
    const auto add = [](WorkId work_id, char variable, std::size_t first, std::size_t count,
                        std::vector<float>& to) {
      for (std::size_t i = 0; i < count; ++i)
        to[first + i] -= 0.5F * Gradient(work_id, variable, i);
    };
    for (std::uint32_t epoch = 0; epoch < plan_.epochs; ++epoch) {
      for (std::uint32_t batch = 0; batch < plan_.batches; ++batch) {
        add({epoch, batch}, 'a', 0, 5, expected["a"]);
        add({epoch, batch}, 'b', 0, 1, expected["b"]);
        add({epoch, batch}, 't', batch % kRows * 2, 2, expected["t"]);
        if (epoch > 0) add({epoch, batch}, 'l', 0, 8, expected["late"]);
      }
    }
    for (const char* name : {"a", "b", "late"}) EXPECT_EQ(*reader->Dense(name), expected[name]);
    std::vector<std::uint64_t> rows;
    for (std::uint64_t row = 0; row < kRows; ++row) rows.push_back(row);
    EXPECT_EQ(*reader->Rows("t", rows), expected["t"]);
  }

  /// By shard, before they moved.
  std::vector<std::uint32_t> owners_;
};

TEST_F(GrowingRunTest, WhenAVariableIsDeclaredAndAPsIsKilled_EndsInTheClosedForm) {
  TrainTo(30);
  // In the middle of work: what these workers were granted is not done yet.
  for (LiveWorker& worker : workers_) Poll(worker);
  ASSERT_EQ(chief().Declare({Late()}), OkStatus());
  EXPECT_EQ(chief().Declare({Late()}), OkStatus());
  VariableSpec other = Late();
  other.set_dtype(VariableSpec::FLOAT64);
  EXPECT_EQ(chief().Declare({other}).code(), StatusCode::kAlreadyExists);
  *most_ = kNoLimit;
  TrainTo(90);
  ReplacePs(OwnerOfLate());
  Finish();
}

// The newest checkpoint is of before the declaration: the killed ps' part of the variable begins
// with its initial values again, and so does the work that touches it.
TEST_F(GrowingRunTest, WhenTheCheckpointLacksTheVariable_EndsInTheClosedForm) {
  TrainTo(50);
  while (Checkpoints().empty()) Turn();
  ASSERT_EQ(chief().Declare({Late()}), OkStatus());
  *most_ = 72;  // the next checkpoint is due with the 81st, or later
  TrainTo(70);
  const auto newest = ReadManifest(CheckpointDirectory(run_, Checkpoints().back()));
  ASSERT_TRUE(newest.ok()) << newest.status().ToString();
  ASSERT_EQ(newest->generation(), 0U);
  ReplacePs(OwnerOfLate());
  Finish();
}

TEST_F(GrowingRunTest, WhenTheChiefIsReplacedToo_TheNextOneKnowsTheVariable) {
  TrainTo(40);
  ASSERT_EQ(chief().Declare({Late()}), OkStatus());
  *most_ = kNoLimit;
  TrainTo(75);
  ReplaceChief();
  EXPECT_EQ(chief().Declare({Late()}), OkStatus());
  TrainTo(95);
  ReplacePs(OwnerOfLate());
  Finish();
}

// The source has frozen its copies, without the variable, and serves again.
TEST_F(GrowingRunTest, WhenAVariableIsDeclaredWhileAShardMoves_EndsInTheClosedForm) {
  DeclareWhileShardsMove(MoveMoment::kAfterCopy);
  ReplacePs(0);
  Finish();
  EXPECT_TRUE(LateHasMoved());
}

// The target takes over copies that lack the variable.
TEST_F(GrowingRunTest, WhenTheMoveThenEnds_TheNewOwnersShardsHaveTheVariable) {
  DeclareWhileShardsMove(MoveMoment::kAfterCopy);
  ps_[0]->LetMovesGo();
  Finish();
  EXPECT_TRUE(LateHasMoved());
}

// The copies have the variable, of which the target has not heard.
TEST_F(GrowingRunTest, WhenTheSourceHearsOfTheVariableFirst_TheMoveIsTriedAgain) {
  DeclareWhileShardsMove(MoveMoment::kBeforeCopy);
  ps_[0]->LetMovesGo();
  Finish();
  EXPECT_TRUE(LateHasMoved());
}

}  // namespace
}  // namespace pstrain
