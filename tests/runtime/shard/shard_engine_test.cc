#include "runtime/shard/shard_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "tests/runtime/shard/every_optimizer.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

using ps_test::Assign;
using ps_test::AssignAll;
using ps_test::Config;
using ps_test::KeysOf;
using ps_test::Pull;
using ps_test::Push;
using ps_test::Statuses;

constexpr ShardTerm kTerm{1, 1};

std::vector<ShardState> SnapshotAll(ShardEngine& engine, std::uint32_t shards, ShardTerm term,
                                    const std::string& checkpoint = "",
                                    const std::string& base = "") {
  CopyOrder order{{}, 0, checkpoint, base};
  for (ShardId shard = 0; shard < shards; ++shard) order.shards.push_back({shard, term});
  Mutex mutex;
  std::vector<ShardState> states;
  const Status status = ps_test::Await<Status>([&](auto done) {
    engine.Snapshot(
        order,
        [&](ShardState state) {
          MutexLock lock(mutex);
          states.push_back(std::move(state));
        },
        done);
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::ranges::sort(states, {}, &ShardState::shard);
  return states;
}

class ShardEngineTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kShards = 4;
  void SetUp() override {
    ASSERT_TRUE(engine_.Configure(Config(kShards, ps_test::Sgd(0.5))).ok());
    ASSERT_TRUE(AssignAll(engine_, kShards, kTerm).ok());
  }
  PushRequest DensePush(WorkId work_id, ShardTerm term = kTerm) {
    PushRequest push;
    push.work_id = work_id;
    push.records = 10;
    push.sections.push_back({0, term, {{0, 0, gradient_}}, {}});
    return push;
  }
  std::vector<float> PullDense(ShardTerm term = kTerm) {
    const auto reply = Pull(engine_, {{{0, term, {{0, 0}}, {}}}});
    EXPECT_TRUE(reply.ok()) << reply.status().ToString();
    EXPECT_EQ(reply->at(0).status, PullStatus::kOk);
    return reply->at(0).values;
  }

  const std::vector<float> gradient_ = std::vector<float>(18, 1.0f);
  ShardEngine engine_{{.threads = 2}};
};

TEST_F(ShardEngineTest, Configure_WhenRepeated_IsOkAndRefusesAChange) {
  EXPECT_TRUE(engine_.Configure(Config(kShards, ps_test::Sgd(0.5))).ok());
  EXPECT_EQ(engine_.Configure(Config(kShards, ps_test::Sgd(0.25))).code(),
            StatusCode::kAlreadyExists);
  EXPECT_EQ(engine_.Configure(Config(8, ps_test::Sgd(0.5))).code(), StatusCode::kAlreadyExists);
}

TEST_F(ShardEngineTest, Push_WhenRepeated_IsADuplicateAndChangesNothing) {
  const std::vector<float> before = PullDense();
  EXPECT_EQ(Statuses(Push(engine_, DensePush({0, 3}))), std::vector{PushStatus::kApplied});
  const std::vector<float> after = PullDense();
  EXPECT_EQ(after[0], before[0] - 0.5f);
  EXPECT_EQ(Statuses(Push(engine_, DensePush({0, 3}))), std::vector{PushStatus::kDuplicate});
  EXPECT_EQ(PullDense(), after);
  EXPECT_EQ(engine_.stats().pushes_applied, 1u);
  EXPECT_EQ(engine_.stats().duplicates, 1u);
}

TEST_F(ShardEngineTest, Push_WhenTermIsAnother_IsNotOwnerAndTouchesNothing) {
  const std::vector<float> before = PullDense();
  EXPECT_EQ(Statuses(Push(engine_, DensePush({0, 3}, {1, 2}))), std::vector{PushStatus::kNotOwner});
  EXPECT_EQ(PullDense(), before);
  EXPECT_EQ(Statuses(Push(engine_, DensePush({0, 3}))), std::vector{PushStatus::kApplied});
}

TEST_F(ShardEngineTest, Push_WhenOneSectionIsMalformed_TouchesNothing) {
  const std::vector<float> before = PullDense();
  const auto refused = [&](PushSection bad) {
    PushRequest push = DensePush({0, 3});
    push.sections.push_back(std::move(bad));
    return Push(engine_, push).status().code() == StatusCode::kInvalidArgument;
  };
  const std::vector<float> short_gradient(3);
  const std::vector<std::uint64_t> foreign = {KeysOf(2, kShards, 1000)[0]};
  const std::vector<float> row(4);
  EXPECT_TRUE(refused({1, kTerm, {{0, 1, short_gradient}}, {}}));
  EXPECT_TRUE(refused({1, kTerm, {{0, 0, gradient_}}, {}})) << "partition of another shard";
  EXPECT_TRUE(refused({1, kTerm, {}, {{1, foreign, row}}})) << "row of another shard";
  EXPECT_TRUE(refused({0, kTerm, {}, {}})) << "a shard twice";
  EXPECT_TRUE(refused({kShards, kTerm, {}, {}}));
  PushRequest batch = DensePush({0, ps_test::kBatches});
  EXPECT_EQ(Push(engine_, batch).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PullDense(), before);
}

TEST_F(ShardEngineTest, Push_OfAnEpochThatTheJobDoesNotHave_TouchesNothing) {
  const std::vector<float> before = PullDense();
  for (const std::uint32_t epoch : {ps_test::kEpochs, 4'000'000'000u, ~0u}) {
    const Result<PushReply> refused = Push(engine_, DensePush({epoch, 0}));
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << epoch;
    EXPECT_NE(refused.status().message().find("there is no epoch " + std::to_string(epoch)),
              std::string::npos)
        << refused.status().ToString();
  }
  EXPECT_EQ(PullDense(), before);
  for (const ShardState& state : SnapshotAll(engine_, kShards, kTerm)) {
    EXPECT_EQ(state.applied.EpochsBegun(), 0u);
    EXPECT_EQ(state.examples, 0);
  }
  EXPECT_EQ(Statuses(Push(engine_, DensePush({ps_test::kEpochs - 1, 0}))),
            std::vector{PushStatus::kApplied});
}

TEST_F(ShardEngineTest, Configure_WithAnotherNumberOfEpochs_HoldsFromThenOn) {
  ShardEngineConfig config = Config(kShards, ps_test::Sgd(0.5));
  config.epochs = 0;
  EXPECT_EQ(engine_.Configure(config).code(), StatusCode::kInvalidArgument);
  config.epochs = ps_test::kEpochs + 1;
  ASSERT_TRUE(engine_.Configure(config).ok());
  EXPECT_EQ(Statuses(Push(engine_, DensePush({ps_test::kEpochs, 0}))),
            std::vector{PushStatus::kApplied});
  config.epochs = 2;
  ASSERT_TRUE(engine_.Configure(config).ok());
  EXPECT_EQ(Statuses(Push(engine_, DensePush({2, 0}))), std::vector{PushStatus::kOtherChief});
  EXPECT_EQ(Push(engine_, DensePush({ps_test::kEpochs + 1, 0})).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Statuses(Push(engine_, DensePush({1, 0}))), std::vector{PushStatus::kApplied});
}

TEST_F(ShardEngineTest, Pull_WhenTermIsAnother_SaysSo) {
  const auto reply = Pull(engine_, {{{0, {1, 2}, {{0, 0}}, {}}, {2, kTerm, {}, {}}}});
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->at(0).status, PullStatus::kNotOwner);
  EXPECT_EQ(reply->at(0).values, std::vector<float>(18)) << "zeros, and not what lay there";
  EXPECT_EQ(reply->at(1).status, PullStatus::kOk);
}

TEST_F(ShardEngineTest, Assign_WhenRepeated_KeepsWhatWasApplied) {
  ASSERT_EQ(Statuses(Push(engine_, DensePush({0, 3}))), std::vector{PushStatus::kApplied});
  const auto held = AssignAll(engine_, kShards, kTerm);
  ASSERT_TRUE(held.ok());
  EXPECT_EQ((*held)[0].examples, 10);
  EXPECT_TRUE((*held)[0].applied.Contains({0, 3}));
}

TEST_F(ShardEngineTest, Assign_FollowsTheTableOfTerms) {
  const auto one = [&](ShardTerm term, AssignSource source) {
    return Assign(engine_, {{0, term, source}}).status().code();
  };
  EXPECT_EQ(one({1, 0}, AssignSource::kInitial), StatusCode::kFailedPrecondition) << "older";
  EXPECT_EQ(one({2, 1}, AssignSource::kKeep), StatusCode::kOk);
  EXPECT_EQ(PullDense({2, 1}).size(), 18u);
  EXPECT_EQ(one({1, 1}, AssignSource::kDrop), StatusCode::kOk);
  EXPECT_EQ(PullDense({2, 1}).size(), 18u) << "the copy of another shard term stays";
  EXPECT_EQ(one({2, 1}, AssignSource::kDrop), StatusCode::kOk);
  EXPECT_EQ(engine_.stats().shard_copies, kShards - 1);
  EXPECT_EQ(one({2, 1}, AssignSource::kInitial), StatusCode::kFailedPrecondition) << "dropped";
  EXPECT_EQ(one({2, 2}, AssignSource::kKeep), StatusCode::kFailedPrecondition) << "no copy";
  EXPECT_EQ(one({2, 2}, AssignSource::kInitial), StatusCode::kOk);
}

TEST_F(ShardEngineTest, Restore_BringsBackWhatSnapshotCopied) {
  PushRequest push = DensePush({0, 3});
  push.skipped = 4;
  const std::vector<std::uint64_t> keys = KeysOf(0, kShards, 200);
  const std::vector<float> rows(keys.size() * 4, 2.0f);
  push.sections[0].tables.push_back({1, keys, rows});
  ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  const std::vector<ShardState> states = SnapshotAll(engine_, kShards, kTerm);

  ShardEngine other({.threads = 1});
  ASSERT_TRUE(other.Configure(Config(kShards, ps_test::Sgd(0.5))).ok());
  std::vector<ShardAssignment> assignments;
  std::map<ShardId, ShardState> given;
  for (const ShardState& state : states) {
    assignments.push_back({state.shard, {2, 1}, AssignSource::kRestore});
    given[state.shard] = state;
  }
  ASSERT_TRUE(Assign(other, assignments, given).ok());
  std::vector<ShardState> restored = SnapshotAll(other, kShards, {2, 1});
  for (ShardState& state : restored) state.term = kTerm;
  EXPECT_EQ(restored, states);
  EXPECT_EQ(other.stats().rows, static_cast<std::int64_t>(keys.size()));

  assignments[0].term = {3, 1};
  EXPECT_EQ(Assign(other, {assignments[0]}).status().code(), StatusCode::kInvalidArgument)
      << "no state";
  given[0].dense[0].values.of<float>().pop_back();
  EXPECT_EQ(Assign(other, {assignments[0]}, given).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ShardEngineTest, Push_CountsRecordsAndSkippedOnesOncePerWorkId) {
  PushRequest push = DensePush({0, 3});
  push.skipped = 4;
  ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kDuplicate});
  push.work_id = {0, 4};
  ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  const std::vector<ShardState> states = SnapshotAll(engine_, kShards, kTerm);
  EXPECT_EQ(states[0].examples, 20);
  EXPECT_EQ(states[0].skipped, 8);
  EXPECT_EQ(states[1].skipped, 0);
  push.work_id = {0, 5};
  push.skipped = 11;
  EXPECT_EQ(Push(engine_, push).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ShardEngineTest, Push_OfABatchThatIsLeftOut_IsRememberedAndCountedAndChangesNoValue) {
  const std::vector<float> before = PullDense();
  PushRequest push = DensePush({0, 3});
  push.skipped = 4;
  push.non_finite = 6;
  EXPECT_EQ(Push(engine_, push).status().code(), StatusCode::kInvalidArgument) << "a gradient";
  push.sections[0].dense.clear();
  push.non_finite = 5;
  EXPECT_EQ(Push(engine_, push).status().code(), StatusCode::kInvalidArgument) << "a part of it";
  push.non_finite = 6;
  EXPECT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  EXPECT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kDuplicate});
  EXPECT_EQ(PullDense(), before);
  const std::vector<ShardState> states = SnapshotAll(engine_, kShards, kTerm);
  EXPECT_TRUE(states[0].applied.Contains({0, 3}));
  EXPECT_EQ(states[0].examples, 10);
  EXPECT_EQ(states[0].skipped, 4);
  EXPECT_EQ(states[0].non_finite, 6);
  EXPECT_EQ(states[0].left_out, (std::vector<WorkId>{{0, 3}}));
}

// Computed again from other values: in the end all shards have the gradient, or none.
TEST_F(ShardEngineTest, Push_WhenTheGradientOfABatchThatWasLeftOutComes_TakesItsPlace) {
  PushRequest left_out = DensePush({0, 3});
  left_out.sections[0].dense.clear();
  left_out.skipped = 4;
  left_out.non_finite = 6;
  PushRequest gradient = DensePush({0, 3});
  gradient.skipped = 4;
  ASSERT_EQ(Statuses(Push(engine_, left_out)), std::vector{PushStatus::kApplied});
  const std::vector<float> before = PullDense();
  EXPECT_EQ(Statuses(Push(engine_, gradient)), std::vector{PushStatus::kApplied});
  EXPECT_NE(PullDense(), before);
  const std::vector<float> after = PullDense();
  EXPECT_EQ(Statuses(Push(engine_, gradient)), std::vector{PushStatus::kDuplicate});
  EXPECT_EQ(Statuses(Push(engine_, left_out)), std::vector{PushStatus::kHasGradient});
  EXPECT_EQ(PullDense(), after);
  const std::vector<ShardState> states = SnapshotAll(engine_, kShards, kTerm);
  EXPECT_TRUE(states[0].applied.Contains({0, 3}));
  EXPECT_EQ(states[0].examples, 10);
  EXPECT_EQ(states[0].skipped, 4);
  EXPECT_EQ(states[0].non_finite, 0);
  EXPECT_TRUE(states[0].left_out.empty());
}

TEST_F(ShardEngineTest, WhenAShardIsRestored_ItKnowsWhatWasLeftOut) {
  PushRequest left_out = DensePush({0, 3});
  left_out.sections[0].dense.clear();
  left_out.non_finite = 10;
  ASSERT_EQ(Statuses(Push(engine_, left_out)), std::vector{PushStatus::kApplied});
  const std::vector<ShardState> states = SnapshotAll(engine_, kShards, kTerm);
  ShardState foreign = states[0];
  foreign.left_out = {{0, 4}};
  const ShardTerm next{kTerm.chief_term + 1, 1};
  EXPECT_EQ(Assign(engine_, {{0, next, AssignSource::kRestore}}, {{0, foreign}}).status().code(),
            StatusCode::kInvalidArgument);
  ASSERT_TRUE(Assign(engine_, {{0, next, AssignSource::kRestore}}, {{0, states[0]}}).ok());
  EXPECT_EQ(Statuses(Push(engine_, DensePush({0, 3}, next))), std::vector{PushStatus::kApplied});
}

TEST_F(ShardEngineTest, Push_WhenAValueOverflows_NamesVariableAndShardAndTheShardIsNotCopied) {
  EXPECT_TRUE(engine_.health().ok());
  std::vector<float> huge = gradient_;
  huge.back() = 3e38F;
  PushRequest push = DensePush({0, 3});
  push.sections[0].dense[0].values = huge;
  for (const std::uint32_t batch : {3U, 4U, 5U}) {
    push.work_id = {1, batch};
    ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  }
  EXPECT_EQ(engine_.health(),
            OutOfRangeError("variable dense in shard 0 is infinite or not a number after epoch 1, "
                            "batch 5"));
  const auto snapshot = [&](ShardId shard) {
    return ps_test::Await<Status>([&](auto done) {
      engine_.Snapshot({{{shard, kTerm}}, 0, "", ""}, [](const ShardState&) {}, done);
    });
  };
  EXPECT_EQ(snapshot(0).code(), StatusCode::kOutOfRange);
  EXPECT_TRUE(snapshot(1).ok());
  const auto frozen =
      ps_test::Await<Result<ShardState>>([&](auto done) { engine_.Freeze({0, kTerm}, done); });
  EXPECT_EQ(frozen.status().code(), StatusCode::kOutOfRange);
}

TEST_F(ShardEngineTest, Push_WhenARowOverflows_NamesTheTable) {
  const std::vector<std::uint64_t> keys = KeysOf(1, kShards, 100);
  std::vector<float> rows(keys.size() * 4, 0.0F);
  rows[rows.size() - 2] = std::numeric_limits<float>::infinity();
  PushRequest push;
  push.work_id = {0, 7};
  push.sections.push_back({1, kTerm, {}, {{1, keys, rows}}});
  ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  EXPECT_NE(engine_.health().message().find("variable table in shard 1 "), std::string::npos)
      << engine_.health().ToString();
}

TEST_F(ShardEngineTest, Freeze_StopsServingUntilTheCopyIsKeptUnderANewTerm) {
  const auto freeze = [&](ShardInTerm shard) {
    return ps_test::Await<Result<ShardState>>([&](auto done) { engine_.Freeze(shard, done); });
  };
  ASSERT_EQ(Statuses(Push(engine_, DensePush({0, 3}))), std::vector{PushStatus::kApplied});
  EXPECT_EQ(freeze({0, {1, 2}}).status().code(), StatusCode::kAborted) << "another shard term";
  EXPECT_EQ(freeze({kShards, kTerm}).status().code(), StatusCode::kAborted);
  const auto frozen = freeze({0, kTerm});
  ASSERT_TRUE(frozen.ok());
  EXPECT_TRUE(frozen->applied.Contains({0, 3}));
  EXPECT_EQ(Statuses(Push(engine_, DensePush({0, 4}))), std::vector{PushStatus::kNotOwner});
  EXPECT_EQ(*freeze({0, kTerm}), *frozen) << "asked again, the same";
  const Status snapshot = ps_test::Await<Status>(
      [&](auto done) { engine_.Snapshot({{{0, kTerm}}, 0, "", ""}, [](ShardState) {}, done); });
  EXPECT_EQ(snapshot.code(), StatusCode::kAborted);
  ASSERT_TRUE(Assign(engine_, {{0, {2, 1}, AssignSource::kKeep}}).ok());
  EXPECT_EQ(Statuses(Push(engine_, DensePush({0, 4}, {2, 1}))), std::vector{PushStatus::kApplied});
}

class IncrementalCopyTest : public ShardEngineTest {
 protected:
  /// Writes these rows of shard 0.
  void PushRows(std::uint32_t batch, const std::vector<std::uint64_t>& keys,
                ShardTerm term = kTerm) {
    const std::vector<float> gradients(keys.size() * 4, 2.0f);
    PushRequest push = DensePush({0, batch}, term);
    push.sections[0].tables.push_back({1, keys, gradients});
    ASSERT_EQ(Statuses(Push(engine_, push)), std::vector{PushStatus::kApplied});
  }
  /// The rows of shard 0 that a copy for `checkpoint` holds, ascending.
  std::vector<std::uint64_t> Copied(const std::string& checkpoint, const std::string& base,
                                    bool incremental, ShardTerm term = kTerm) {
    const ShardState state = SnapshotAll(engine_, 1, term, checkpoint, base)[0];
    EXPECT_EQ(state.incremental, incremental) << checkpoint;
    EXPECT_EQ(state.dense[0].values.size(), 18u) << "dense partitions are whole";
    std::vector<std::uint64_t> keys = state.tables[0].keys;
    std::ranges::sort(keys);
    return keys;
  }
  using Keys = std::vector<std::uint64_t>;
  const Keys all_ = KeysOf(0, kShards, 100);
  const Keys some_ = {all_[0], all_[1]};
  const Keys others_ = {all_[2]};
};

TEST_F(IncrementalCopyTest, Copy_HoldsRowsWrittenSinceItsBase) {
  PushRows(0, all_);
  EXPECT_EQ(Copied("1-1", "", false), all_);
  PushRows(1, some_);
  EXPECT_EQ(Copied("1-2", "1-1", true), some_);
  EXPECT_EQ(Copied("1-3", "1-2", true), Keys());
  PushRows(2, others_);
  EXPECT_EQ(Copied("1-4", "1-3", true), others_);
  EXPECT_EQ(Copied("1-5", "", false), all_);
}

TEST_F(IncrementalCopyTest, Copy_AfterAnAbandonedCheckpoint_HoldsItsRowsToo) {
  PushRows(0, all_);
  EXPECT_EQ(Copied("1-1", "", false), all_);
  PushRows(1, some_);
  EXPECT_EQ(Copied("1-2", "1-1", true), some_);  // never placed
  PushRows(2, others_);
  EXPECT_EQ(Copied("1-3", "1-1", true), (Keys{all_[0], all_[1], all_[2]}));
  EXPECT_EQ(Copied("1-4", "1-2", false), all_) << "a checkpoint that was given up is no base";
}

TEST_F(IncrementalCopyTest, Copy_WhenMadeTwiceForACheckpoint_IsABaseAsOfTheFirst) {
  PushRows(0, all_);
  EXPECT_EQ(Copied("1-1", "", false), all_);
  PushRows(1, some_);
  EXPECT_EQ(Copied("1-1", "", false), all_);
  EXPECT_EQ(Copied("1-2", "1-1", true), some_);
}

TEST_F(IncrementalCopyTest, Copy_UnderANewTerm_IsWhole) {
  PushRows(0, all_);
  EXPECT_EQ(Copied("1-1", "", false), all_);
  ASSERT_TRUE(Assign(engine_, {{0, {2, 1}, AssignSource::kKeep}}).ok());
  PushRows(1, some_, {2, 1});
  EXPECT_EQ(Copied("2-1", "1-1", false, {2, 1}), all_);
  EXPECT_EQ(Copied("2-2", "2-1", true, {2, 1}), Keys());
}

TEST_F(IncrementalCopyTest, Copy_LeavesOutRowsThatWereOnlyRead) {
  EXPECT_EQ(Copied("1-1", "", false), Keys());
  ASSERT_TRUE(Pull(engine_, {{{0, kTerm, {}, {{1, all_}}}}}).ok());
  EXPECT_EQ(Copied("1-2", "1-1", true), Keys()) << "they have their initial values";
}

TEST_F(IncrementalCopyTest, Restore_FromAnIncrementalCopyAlone_IsRefused) {
  PushRows(0, all_);
  EXPECT_EQ(Copied("1-1", "", false), all_);
  ShardState state = SnapshotAll(engine_, 1, kTerm, "1-2", "1-1")[0];
  const auto restored =
      Assign(engine_, {{0, {2, 1}, AssignSource::kRestore}}, {{0, std::move(state)}});
  EXPECT_EQ(restored.status().code(), StatusCode::kInvalidArgument);
}

TEST(ShardEngine, InitialValues_DoNotDependOnShardsPartitionsOrThreads) {
  std::map<std::uint32_t, std::vector<float>> dense;
  std::map<std::uint32_t, std::map<std::uint64_t, std::vector<float>>> rows;
  for (const std::uint32_t shards : {1u, 3u, 8u}) {
    ShardEngine engine({.threads = shards});
    ASSERT_TRUE(engine.Configure(Config(shards, ps_test::Adagrad(0.1), shards == 8 ? 4 : 2)).ok());
    ASSERT_TRUE(AssignAll(engine, shards, kTerm).ok());
    std::map<std::uint32_t, std::vector<float>> partitions;
    for (ShardId shard = 0; shard < shards; ++shard) {
      const auto keys = KeysOf(shard, shards, 300);
      const auto reply = Pull(engine, {{{shard, kTerm, {}, {{1, keys}}}}});
      ASSERT_TRUE(reply.ok()) << reply.status().ToString();
      const std::vector<float>& values = reply->at(0).values;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        rows[shards][keys[i]].assign(&values[4 * i], &values[4 * i] + 4);
      }
    }
    for (const ShardState& state : SnapshotAll(engine, shards, kTerm)) {
      for (const DenseState& part : state.dense)
        partitions[part.partition] = part.values.of<float>();
    }
    for (const auto& [id, part] : partitions) {
      dense[shards].insert(dense[shards].end(), part.begin(), part.end());
    }
  }
  EXPECT_EQ(dense[1].size(), 36u);
  EXPECT_EQ(dense[1], dense[3]);
  EXPECT_EQ(dense[1], dense[8]);
  EXPECT_EQ(rows[1].size(), 300u);
  EXPECT_EQ(rows[1], rows[3]);
  EXPECT_EQ(rows[1], rows[8]);
}

/// Whatever slots an optimizer has: a restored shard continues as the one that was copied.
TEST(ShardEngine, Restore_WithEveryOptimizer_ContinuesWithItsSlots) {
  const std::vector<float> dense(36, 0.5f);
  const auto keys = KeysOf(0, 1, 20);
  const std::vector<float> rows(keys.size() * 4, 0.25f);
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    SCOPED_TRACE(name);
    ShardEngine first({});
    ShardEngine second({});
    const auto push = [&](ShardEngine& engine, std::uint32_t batch) {
      PushRequest request;
      request.work_id = {0, batch};
      request.sections.push_back({0, kTerm, {{0, 0, dense}}, {{1, keys, rows}}});
      return Statuses(Push(engine, request));
    };
    const std::vector applied = {PushStatus::kApplied};
    ASSERT_TRUE(first.Configure(Config(1, optimizer, 1)).ok());
    ASSERT_TRUE(second.Configure(Config(1, optimizer, 1)).ok());
    ASSERT_TRUE(AssignAll(first, 1, kTerm).ok());
    ASSERT_EQ(push(first, 0), applied);
    const ShardState state = SnapshotAll(first, 1, kTerm)[0];
    ASSERT_TRUE(Assign(second, {{0, kTerm, AssignSource::kRestore}}, {{0, state}}).ok());
    ASSERT_EQ(push(first, 1), applied);
    ASSERT_EQ(push(second, 1), applied);
    const ShardState continued = SnapshotAll(second, 1, kTerm)[0];
    EXPECT_EQ(continued, SnapshotAll(first, 1, kTerm)[0]);
    EXPECT_NE(continued.dense, state.dense);
  }
}

TEST(ShardEngine, Requests_WhenNotConfigured_AreRefused) {
  ShardEngine engine({});
  EXPECT_EQ(Pull(engine, {}).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(Push(engine, {}).status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace pstrain
