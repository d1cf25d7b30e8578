// Variables of every dtype and pushes of every op through the engine.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "runtime/shard/optimizer.h"
#include "runtime/shard/shard_engine.h"
#include "tests/runtime/shard/every_optimizer.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain {
namespace {

using ps_test::Assign;
using ps_test::Pull;
using ps_test::PulledSection;
using ps_test::Push;
using ps_test::Statuses;

constexpr ShardTerm kTerm{1, 1};
/// Ids of the variables below.
enum : VariableId { kWeights, kSums, kCounts, kTotals, kSeen, kBest };

VariableSpec Declare(VariableId id, const std::string& name, VariableSpec::DataType dtype,
                     std::vector<std::int64_t> shape, bool table = false) {
  VariableSpec spec;
  spec.set_id(id);
  spec.set_name(name);
  spec.set_kind(table ? VariableSpec::EMBEDDING : VariableSpec::DENSE);
  spec.set_dtype(dtype);
  for (const std::int64_t size : shape) spec.add_shape(size);
  spec.mutable_initializer()->set_kind(Initializer::ZEROS);
  if (table) return spec;
  Partition* partition = spec.add_partitions();
  partition->set_size(shape[0]);
  return spec;
}

/// One shard: what a push brings for it all lies in one section.
ShardEngineConfig MixedConfig() {
  ShardEngineConfig config;
  config.shards = 1;
  config.batches_per_epoch = ps_test::kBatches;
  config.epochs = ps_test::kEpochs;
  config.variables = {Declare(kWeights, "weights", VariableSpec::FLOAT32, {3}),
                      Declare(kSums, "sums", VariableSpec::FLOAT64, {3}),
                      Declare(kCounts, "counts", VariableSpec::INT32, {3}),
                      Declare(kTotals, "totals", VariableSpec::INT64, {1}),
                      Declare(kSeen, "seen", VariableSpec::INT64, {100, 1}, true),
                      Declare(kBest, "best", VariableSpec::FLOAT64, {100, 2}, true)};
  *config.variables[kWeights].mutable_optimizer() = ps_test::Adagrad(0.5);
  *config.variables[kSums].mutable_optimizer() = ps_test::Sgd(0.1);
  *config.variables[kBest].mutable_optimizer() = ps_test::Sgd(0.1);
  return config;
}

class MixedUpdatesTest : public testing::Test {
 protected:
  void SetUp() override {
    const Status configured = engine_.Configure(MixedConfig());
    ASSERT_TRUE(configured.ok()) << configured.ToString();
    ASSERT_TRUE(ps_test::AssignAll(engine_, 1, kTerm).ok());
  }

  static PushRequest PushOf(WorkId work_id, std::vector<DenseUpdate> dense,
                            std::vector<RowUpdates> tables = {}) {
    PushRequest push;
    push.work_id = work_id;
    push.records = 1;
    push.sections.push_back({0, kTerm, std::move(dense), std::move(tables)});
    return push;
  }

  /// Every dtype and every op. The values of a section are views of the members below.
  PushRequest Everything(WorkId work_id) const {
    return PushOf(work_id,
                  {{kWeights, 0, floats_},
                   {kSums, 0, doubles_},
                   {kCounts, 0, ints_, UpdateOp::kAdd},
                   {kTotals, 0, total_, UpdateOp::kMax}},
                  {{kSeen, rows_, seen_, UpdateOp::kAdd}, {kBest, rows_, best_, UpdateOp::kMin}});
  }

  PulledSection PullAll(ShardEngine& engine, ShardTerm term = kTerm) const {
    PullRequest pull;
    pull.sections.push_back({0,
                             term,
                             {{kWeights, 0, DType::kFloat32},
                              {kSums, 0, DType::kFloat64},
                              {kCounts, 0, DType::kInt32},
                              {kTotals, 0, DType::kInt64}},
                             {{kSeen, rows_, DType::kInt64}, {kBest, rows_, DType::kFloat64}}});
    const auto reply = Pull(engine, pull);
    EXPECT_TRUE(reply.ok()) << reply.status().ToString();
    return reply.ok() ? reply->at(0) : PulledSection{};
  }

  std::string Refusal(const PushRequest& push) {
    const auto reply = Push(engine_, push);
    EXPECT_EQ(reply.status().code(), StatusCode::kInvalidArgument);
    return std::string(reply.status().message());
  }

  ShardState Snapshot() { return SnapshotOf(engine_); }
  static ShardState SnapshotOf(ShardEngine& engine) {
    ShardState taken;
    const Status status = ps_test::Await<Status>([&](auto done) {
      engine.Snapshot(
          {{{0, kTerm}}, 0, "", ""}, [&](ShardState state) { taken = std::move(state); }, done);
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return taken;
  }

  const std::vector<float> floats_ = {1, 2, 3};
  const std::vector<double> doubles_ = {1, 2, 0.5};
  const std::vector<std::int32_t> ints_ = {1, -2, 2'147'483'647};
  const std::vector<std::int64_t> total_ = {1'000'000'000'000};
  const std::vector<std::uint64_t> rows_ = {3, 40, 99};
  const std::vector<std::int64_t> seen_ = {1, 2, std::numeric_limits<std::int64_t>::max()};
  const std::vector<double> best_ = {-1, 1, 0.25, -0.25, 1e300, -1e-300};
  ShardEngine engine_{{.threads = 2}};
};

// Offsets: 12 bytes of float32 and 12 of int32 are padded to 16.
TEST_F(MixedUpdatesTest, Push_OfEveryDTypeAndOp_ChangesEachByItsOwn) {
  ASSERT_EQ(Statuses(Push(engine_, Everything({0, 1}))), std::vector{PushStatus::kApplied});
  ASSERT_EQ(Statuses(Push(engine_, Everything({0, 2}))), std::vector{PushStatus::kApplied});
  const PulledSection pulled = PullAll(engine_);
  ASSERT_EQ(pulled.values.size() * sizeof(float), 16u + 24 + 16 + 8 + 24 + 48);
  const auto weights = pulled.At<float>(0, 3);
  EXPECT_LT(weights[0], 0);
  EXPECT_EQ(pulled.At<std::uint32_t>(12, 1)[0], 0u) << "nothing lies between two arrays";
  EXPECT_EQ(pulled.At<double>(16, 3), (std::vector<double>{-0.1 - 0.1, -0.2 - 0.2, -0.05 - 0.05}))
      << "the rate with the digits that float32 lacks";
  EXPECT_EQ(pulled.At<std::int32_t>(40, 3), (std::vector<std::int32_t>{2, -4, -2})) << "wraps";
  EXPECT_EQ(pulled.At<std::int64_t>(56, 1), total_);
  EXPECT_EQ(pulled.At<std::int64_t>(64, 3), (std::vector<std::int64_t>{2, 4, -2}));
  EXPECT_EQ(pulled.At<double>(88, 6), (std::vector<double>{-1, 0, 0, -0.25, 0, -1e-300}));
}

TEST_F(MixedUpdatesTest, Push_WhenRepeated_IsADuplicateAndChangesNothing) {
  ASSERT_EQ(Statuses(Push(engine_, Everything({0, 1}))), std::vector{PushStatus::kApplied});
  const std::vector<float> after = PullAll(engine_).values;
  ASSERT_EQ(Statuses(Push(engine_, Everything({0, 1}))), std::vector{PushStatus::kDuplicate});
  EXPECT_EQ(PullAll(engine_).At<std::int64_t>(0, 17),
            (PulledSection{PullStatus::kOk, after}.At<std::int64_t>(0, 17)));
}

TEST_F(MixedUpdatesTest, Push_WithSeveralOpsOnOneVariable_CarriesThemOutInItsOrder) {
  const std::vector<std::int32_t> ten = {10, 10, 10};
  ASSERT_EQ(Statuses(Push(engine_, PushOf({0, 1}, {{kCounts, 0, ten, UpdateOp::kAssign},
                                                   {kCounts, 0, ints_, UpdateOp::kMin},
                                                   {kCounts, 0, ten, UpdateOp::kAdd}}))),
            std::vector{PushStatus::kApplied});
  EXPECT_EQ(PullAll(engine_).At<std::int32_t>(40, 3), (std::vector<std::int32_t>{11, 8, 20}));
}

TEST_F(MixedUpdatesTest, Push_WhenDTypeOrOpDoesNotFit_IsRefusedByNameAndChangesNothing) {
  const std::vector<float> before = PullAll(engine_).values;
  EXPECT_NE(
      Refusal(PushOf({0, 1}, {{kSums, 0, floats_}})).find("sums is of float64, not of float32"),
      std::string::npos);
  EXPECT_NE(Refusal(PushOf({0, 1}, {}, {{kSeen, rows_, best_, UpdateOp::kAdd}}))
                .find("seen is of int64, not of float64"),
            std::string::npos);
  EXPECT_NE(Refusal(PushOf({0, 1}, {{kCounts, 0, ints_}}))
                .find("counts has no optimizer, so it takes no gradient"),
            std::string::npos);
  EXPECT_NE(Refusal(PushOf({0, 1}, {}, {{kSeen, rows_, seen_}}))
                .find("seen has no optimizer, so it takes no gradient"),
            std::string::npos);
  EXPECT_NE(Refusal(PushOf({0, 1}, {{kCounts, 0, ints_, static_cast<UpdateOp>(5)}}))
                .find("an unknown op"),
            std::string::npos);
  EXPECT_NE(Refusal(PushOf({0, 1}, {{kTotals, 0, seen_, UpdateOp::kAdd}}))
                .find("the add has another size"),
            std::string::npos);
  // What fits beside it is not applied either.
  PushRequest mixed = Everything({0, 1});
  mixed.sections[0].tables[1].values = seen_;
  EXPECT_NE(Refusal(mixed).find("best is of float64"), std::string::npos);
  EXPECT_EQ(PullAll(engine_).values, before);
}

TEST_F(MixedUpdatesTest, Pull_WhenTheDTypeIsAnother_IsRefusedByName) {
  const auto dense = Pull(engine_, {{{0, kTerm, {{kCounts, 0, DType::kFloat32}}, {}}}});
  EXPECT_EQ(dense.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(dense.status().message().find("counts is of int32, not of float32"), std::string::npos);
  const auto rows = Pull(engine_, {{{0, kTerm, {}, {{kSeen, rows_, DType::kInt32}}}}});
  EXPECT_EQ(rows.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(MixedUpdatesTest, Restore_BringsEveryDTypeBackAndRefusesAnother) {
  ASSERT_EQ(Statuses(Push(engine_, Everything({0, 1}))), std::vector{PushStatus::kApplied});
  const ShardState state = Snapshot();
  ShardEngine other({.threads = 1});
  ASSERT_TRUE(other.Configure(MixedConfig()).ok());
  ASSERT_TRUE(Assign(other, {{0, {2, 1}, AssignSource::kRestore}}, {{0, state}}).ok());
  EXPECT_EQ(PullAll(other, {2, 1}).At<std::int64_t>(0, 17),
            PullAll(engine_).At<std::int64_t>(0, 17));
  ShardState foreign = state;
  foreign.dense[kCounts].values = std::vector<float>{1, 2, 3};
  const auto refused = Assign(other, {{0, {3, 1}, AssignSource::kRestore}}, {{0, foreign}});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("counts differs in size or dtype"), std::string::npos);
}

// Digits that float32 lacks, in values and slots, through a copy and a restore.
TEST_F(MixedUpdatesTest, AFloat64Variable_IsTrainedWithSlotsOfItsDType) {
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    ShardEngineConfig config = MixedConfig();
    *config.variables[kSums].mutable_optimizer() = optimizer;
    ShardEngine engine({.threads = 1});
    ASSERT_TRUE(engine.Configure(config).ok()) << name;
    ASSERT_TRUE(Assign(engine, {{0, kTerm, AssignSource::kInitial}}).ok());
    ASSERT_EQ(Statuses(Push(engine, PushOf({0, 1}, {{kSums, 0, doubles_}}))),
              std::vector{PushStatus::kApplied});
    const auto rule = OptimizerRule::Create(optimizer).value();
    ValueArray expected(DType::kFloat64, doubles_.size());
    std::vector<ValueArray> slots;
    for (const OptimizerSlot& slot : rule->slots()) {
      slots.emplace_back(
          std::vector<double>(slot.OfPartition(doubles_.size()), slot.initial_value));
    }
    ASSERT_TRUE(rule->Apply(expected, slots, doubles_));
    EXPECT_EQ(PullAll(engine).At<double>(16, 3), expected.of<double>()) << name;
    ShardState state = SnapshotOf(engine);
    EXPECT_EQ(state.dense[kSums].slots, slots) << name;
    ShardEngine other({.threads = 1});
    ASSERT_TRUE(other.Configure(config).ok());
    ASSERT_TRUE(Assign(other, {{0, {2, 1}, AssignSource::kRestore}}, {{0, state}}).ok()) << name;
    EXPECT_EQ(PullAll(other, {2, 1}).At<double>(16, 3), expected.of<double>()) << name;
  }
}

TEST_F(MixedUpdatesTest, Push_WhenAnAssignedValueIsNotFinite_NamesTheVariable) {
  const std::vector<double> infinite = {1, std::numeric_limits<double>::infinity(), 2};
  ASSERT_EQ(Statuses(Push(engine_, PushOf({0, 1}, {{kSums, 0, infinite, UpdateOp::kAssign}}))),
            std::vector{PushStatus::kApplied});
  EXPECT_EQ(engine_.health().code(), StatusCode::kOutOfRange);
  EXPECT_NE(engine_.health().message().find("variable sums"), std::string::npos);
}

TEST_F(MixedUpdatesTest, Configure_WhenAnOptimizerDoesNotTakeTheDType_RefusesByName) {
  const auto refused = [](VariableId id, const Optimizer& optimizer) {
    ShardEngineConfig config = MixedConfig();
    *config.variables[id].mutable_optimizer() = optimizer;
    return std::string(ShardEngine({.threads = 1}).Configure(config).message());
  };
  EXPECT_NE(refused(kCounts, ps_test::Sgd(0.1))
                .find("(counts): its optimizer does not train variables of int32"),
            std::string::npos);
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    EXPECT_EQ(refused(kSums, optimizer), "") << name;
    EXPECT_NE(refused(kSeen, optimizer).find("variables of int64"), std::string::npos) << name;
  }
  ShardEngineConfig random = MixedConfig();
  random.variables[kSeen].mutable_initializer()->set_kind(Initializer::UNIFORM);
  EXPECT_NE(ShardEngine({.threads = 1}).Configure(random).message().find("integers start as zeros"),
            std::string::npos);
}

}  // namespace
}  // namespace pstrain
