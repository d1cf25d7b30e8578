#include "runtime/worker/parameter_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/shard/catalog.h"
#include "runtime/shard/shard.h"

namespace pstrain {
namespace {

constexpr std::uint32_t kShards = 4;
constexpr std::uint32_t kBatches = 100;
constexpr ShardTerm kTerm{1, 1};

VariableSpec Dense(std::uint32_t id, const std::vector<std::int64_t>& shape, std::uint32_t shard) {
  VariableSpec variable;
  variable.set_id(id);
  variable.set_name("v" + std::to_string(id));
  variable.set_kind(VariableSpec::DENSE);
  for (const std::int64_t size : shape) variable.add_shape(size);
  variable.mutable_initializer()->set_kind(Initializer::UNIFORM);
  variable.mutable_initializer()->set_scale(1);
  Adagrad* adagrad = variable.mutable_optimizer()->mutable_adagrad();
  adagrad->set_learning_rate(0.1);
  adagrad->set_initial_accumulator_value(0.1);
  Partition* all = variable.add_partitions();
  all->set_size(shape.empty() ? 1 : shape[0]);
  all->set_shard(shard);
  return variable;
}

/// A worker's layout and the shards that it speaks to, without what is between them.
class Parameters {
 public:
  explicit Parameters(const std::vector<VariableSpec>& variables)
      : catalog_(Catalog::Create(variables, kShards, kBatches).value()),
        layout_(ParameterLayout::Create(variables, kShards).value()) {
    for (ShardId shard = 0; shard < kShards; ++shard) {
      shards_.push_back(std::make_unique<Shard>(catalog_, shard, kTerm));
    }
  }

  StepValues Pull(const StepAccess& access) {
    const RoutedPlan plan = layout_.Route(access).value();
    StepValues values = layout_.Allocate(plan);
    parts_ = 0;
    touched_.clear();
    for (ShardId shard = 0; shard < kShards; ++shard) {
      if (plan.LeavesOut(shard)) continue;
      touched_.push_back(shard);
      PullRequest request;
      request.sections.push_back(layout_.MakePullSection(shard, kTerm, plan));
      parts_ += request.sections[0].dense.size() + request.sections[0].tables.size();
      const Status fits = catalog_->Check(request);
      EXPECT_TRUE(fits.ok()) << fits.ToString();
      EXPECT_EQ(catalog_->ReplyBytes(request.sections[0]), layout_.ReplyBytes(shard, plan));
      std::vector<std::byte> reply(layout_.ReplyBytes(shard, plan));
      shards_[shard]->Read(request.sections[0], reply);
      EXPECT_TRUE(layout_.Scatter(shard, reply, plan, values).ok());
    }
    return values;
  }

  void Push(std::uint32_t batch, const StepAccess& access, const StepUpdates& updates) {
    const RoutedPlan plan = layout_.Route(access).value();
    const Status checked = layout_.CheckUpdates(plan, updates);
    ASSERT_TRUE(checked.ok()) << checked.ToString();
    const GatheredUpdates gathered = layout_.Gather(plan, updates);
    parts_ = 0;
    touched_.clear();
    for (ShardId shard = 0; shard < kShards; ++shard) {
      PushRequest request;
      request.work_id = {0, batch};
      request.records = 1;
      request.sections.push_back(layout_.MakePushSection(shard, kTerm, plan, updates, gathered));
      const PushSection& section = request.sections[0];
      parts_ += section.dense.size() + section.tables.size();
      if (!section.dense.empty() || !section.tables.empty()) touched_.push_back(shard);
      const Status fits = catalog_->Check(request);
      ASSERT_TRUE(fits.ok()) << fits.ToString();
      ASSERT_EQ(shards_[shard]->Apply(request, section), PushStatus::kApplied);
    }
  }

  /// Values and slots.
  std::vector<DenseState> Dense() const {
    std::vector<DenseState> dense;
    for (const auto& shard : shards_) {
      for (DenseState& state : shard->Copy().dense) dense.push_back(std::move(state));
    }
    std::ranges::sort(dense, {}, [](const DenseState& state) {
      return std::pair(state.variable, state.partition);
    });
    return dense;
  }

  const ParameterLayout& layout() const { return layout_; }
  /// Of the last pull or push.
  std::size_t parts() const { return parts_; }
  const std::vector<ShardId>& touched() const { return touched_; }

 private:
  std::shared_ptr<const Catalog> catalog_;
  ParameterLayout layout_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::size_t parts_ = 0;
  std::vector<ShardId> touched_;
};

/// Fifty biases and a scalar in shard 2, and a variable apart from them.
std::vector<VariableSpec> Biases(bool packed) {
  std::vector<VariableSpec> variables = {Dense(0, {7, 3}, 1)};
  for (std::uint32_t id = 1; id <= 50; ++id) variables.push_back(Dense(id, {1 + id % 5}, 2));
  variables.push_back(Dense(51, {}, 2));
  for (VariableSpec& variable : variables) {
    if (packed && variable.id() > 0) variable.set_pack(2);
  }
  return variables;
}

std::vector<float> Sevenths(std::size_t count, std::uint32_t from) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * 5 + from * 3) % 13) / 7.0F - 0.8F);
  }
  return values;
}

std::size_t SizeOfBias(VariableId id) { return id == 0 ? 21 : id == 51 ? 1 : 1 + id % 5; }

StepAccess All() {
  StepAccess access;
  for (VariableId id = 0; id <= 51; ++id) access.dense.push_back(id);
  return access;
}
StepUpdates UpdatesOf(const StepAccess& access, std::uint32_t batch, UpdateOp op) {
  StepUpdates updates;
  for (const VariableId id : access.dense) {
    updates.dense.push_back({id, Sevenths(SizeOfBias(id), id + batch), op});
  }
  return updates;
}

TEST(ParameterLayoutTest, APackIsOnePart_AndItsVariablesEndAsTheyWouldAlone) {
  Parameters packed(Biases(true));
  Parameters alone(Biases(false));
  StepAccess some = All();
  some.dense.erase(some.dense.begin() + 10);
  std::uint32_t batch = 0;
  for (const UpdateOp op : {UpdateOp::kGradient, UpdateOp::kAdd, UpdateOp::kGradient}) {
    for (const StepAccess& access : {All(), some}) {
      const bool whole = access.dense.size() == 52;
      EXPECT_EQ(packed.Pull(access).dense, alone.Pull(access).dense);
      EXPECT_EQ(packed.parts(), whole ? 2U : 51U);
      const StepUpdates updates = UpdatesOf(access, batch, op);
      packed.Push(batch, access, updates);
      EXPECT_EQ(packed.parts(), whole ? 2U : 51U);
      alone.Push(batch, access, updates);
      EXPECT_EQ(alone.parts(), access.dense.size());
      ++batch;
      EXPECT_EQ(packed.Dense(), alone.Dense());
    }
  }
}

TEST(ParameterLayoutTest, AnAccess_CostsWhatItReadsHoweverManyVariablesThereAre) {
  std::vector<VariableSpec> variables;
  for (std::uint32_t id = 0; id < 2000; ++id) variables.push_back(Dense(id, {3}, id % kShards));
  Parameters many(variables);
  StepAccess access;
  access.dense = {5, 1700};
  const RoutedPlan plan = many.layout().Route(access).value();
  EXPECT_EQ(plan.dense, access.dense);
  ASSERT_EQ(plan.parts.size(), 2U);
  EXPECT_EQ(many.layout().Allocate(plan).dense.size(), 2U);
  const StepValues values = many.Pull(access);
  EXPECT_EQ(many.touched(), (std::vector<ShardId>{1700 % kShards, 5 % kShards}));
  EXPECT_EQ(values.dense[1], many.Pull({{1700}, {}}).dense[0]);
}

// In one array they would have one op and one order.
TEST(ParameterLayoutTest, WhenAPacksVariablesAreUpdatedDifferently_EachIsAPart) {
  Parameters packed(Biases(true));
  Parameters alone(Biases(false));
  StepUpdates updates = UpdatesOf(All(), 0, UpdateOp::kAdd);
  updates.dense[7].op = UpdateOp::kAssign;
  packed.Push(0, All(), updates);
  EXPECT_EQ(packed.parts(), 52U);
  alone.Push(0, All(), updates);
  EXPECT_EQ(packed.Dense(), alone.Dense());
  updates = UpdatesOf(All(), 1, UpdateOp::kAdd);
  updates.dense.push_back(updates.dense[3]);
  packed.Push(1, All(), updates);
  EXPECT_EQ(packed.parts(), 53U);
  alone.Push(1, All(), updates);
  EXPECT_EQ(packed.Dense(), alone.Dense());
}

TEST(ParameterLayoutTest, WhenAPackDoesNotHoldTogether_IsRefusedHereAndOnThePs) {
  const auto refused = [](auto change) {
    std::vector<VariableSpec> variables = Biases(true);
    change(variables);
    EXPECT_EQ(ParameterLayout::Create(variables, kShards).status().code(),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(Catalog::Create(variables, kShards, kBatches).status().code(),
              StatusCode::kInvalidArgument);
  };
  refused([](auto& v) { v[5].mutable_partitions(0)->set_shard(1); });
  refused([](auto& v) { v[5].set_dtype(VariableSpec::FLOAT64), v[5].clear_optimizer(); });
  refused([](auto& v) { v[5].set_pack(52); });
  refused([](auto& v) { v[5].set_pack(1); });
}

// A pack or a variable of it may be named by a stranger.
TEST(ParameterLayoutTest, WhatIsNoPack_CannotBeNamedAsOne) {
  std::vector<VariableSpec> variables = Biases(true);
  variables[3].clear_optimizer();
  const auto catalog = Catalog::Create(variables, kShards, kBatches).value();
  const auto check = [&](ShardId shard, VariableId variable, std::size_t elements) {
    const std::vector<float> values(elements);
    PushRequest push;
    push.sections.push_back({shard, kTerm, {{variable, kWholePack, values, UpdateOp::kAdd}}, {}});
    return catalog->Check(push).code();
  };
  std::size_t all = 0;
  for (VariableId id = 1; id <= 51; ++id) all += SizeOfBias(id);
  EXPECT_EQ(check(2, 1, all), StatusCode::kOk);
  EXPECT_EQ(check(2, 1, all - 1), StatusCode::kInvalidArgument);
  EXPECT_EQ(check(1, 1, all), StatusCode::kInvalidArgument);
  EXPECT_EQ(check(2, 2, all), StatusCode::kInvalidArgument);
  EXPECT_EQ(check(1, 0, 21), StatusCode::kInvalidArgument);
  const std::vector<float> values(all);
  PushRequest gradient;
  gradient.sections.push_back({2, kTerm, {{1, kWholePack, values}}, {}});
  EXPECT_EQ(catalog->Check(gradient).code(), StatusCode::kInvalidArgument)
      << "one of them has no optimizer";
}

/// [11, 2] in three partitions, as TensorFlow's div has them: 4, 4 and 3 rows.
std::vector<VariableSpec> Divided() {
  VariableSpec variable = Dense(0, {11, 2}, 0);
  variable.clear_partitions();
  for (int i = 0; i < 3; ++i) {
    Partition* partition = variable.add_partitions();
    partition->set_begin(i * 4);
    partition->set_size(i == 2 ? 3 : 4);
    partition->set_shard(static_cast<std::uint32_t>(i + 1));
  }
  return {variable};
}

TEST(ParameterLayoutTest, RowsOfADividedVariable_AreAskedOfTheirPartitionsAlone) {
  Parameters parameters(Divided());
  const std::vector<float> all = parameters.Pull({{0}, {}}).dense[0].of<float>();
  const auto rows = [&](std::vector<std::uint64_t> ids) {
    std::vector<float> expected;
    for (const std::uint64_t row : ids)
      expected.insert(expected.end(), {all[2 * row], all[2 * row + 1]});
    const StepValues values = parameters.Pull({{}, {{0, ids}}});
    EXPECT_EQ(values.rows[0].of<float>(), expected);
    EXPECT_TRUE(values.dense.empty());
    return parameters.touched();
  };
  for (std::uint64_t row = 0; row < 11; ++row) {
    // p = max(id div (base + 1), (id - extra) div base) of 11 = 3 * 3 + 2 rows.
    const std::uint64_t div = std::max(row / 4, row < 2 ? 0 : (row - 2) / 3);
    EXPECT_EQ(rows({row}), std::vector<ShardId>{static_cast<ShardId>(div) + 1}) << row;
  }
  EXPECT_EQ(rows({1, 2, 3}), std::vector<ShardId>{1});
  EXPECT_EQ(rows({3, 4, 5}), (std::vector<ShardId>{1, 2}));
  EXPECT_EQ(rows({0, 2, 9, 10}), (std::vector<ShardId>{1, 3}));
  EXPECT_EQ(parameters.layout().Route({{}, {{0, {11}}}}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(ParameterLayoutTest, UpdatesOfRows_AreThoseOfTheWholeWithNothingElsewhere) {
  Parameters by_rows(Divided());
  Parameters whole(Divided());
  const std::vector<std::uint64_t> ids = {1, 2, 3, 4, 8, 10};
  std::uint32_t batch = 0;
  for (const UpdateOp op : {UpdateOp::kGradient, UpdateOp::kAdd, UpdateOp::kGradient}) {
    const std::vector<float> values = Sevenths(12, batch);
    std::vector<float> all(22, 0.0F);
    for (std::size_t i = 0; i < 12; ++i) all[2 * ids[i / 2] + i % 2] = values[i];
    StepUpdates rows;
    rows.rows.push_back({0, values, op});
    by_rows.Push(batch, {{}, {{0, ids}}}, rows);
    EXPECT_EQ(by_rows.touched(), (std::vector<ShardId>{1, 2, 3}));
    StepUpdates dense;
    dense.dense.push_back({0, all, op});
    whole.Push(batch, {}, dense);
    EXPECT_EQ(by_rows.Dense(), whole.Dense());
    ++batch;
  }
  StepUpdates assign;
  assign.rows.push_back({0, std::vector<float>{1, 2}, UpdateOp::kAssign});
  by_rows.Push(batch, {{}, {{0, {10}}}}, assign);
  EXPECT_EQ(by_rows.touched(), std::vector<ShardId>{3});
  const std::vector<float> now = by_rows.Pull({{0}, {}}).dense[0].of<float>();
  EXPECT_EQ((std::vector<float>{now[20], now[21]}), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace pstrain
