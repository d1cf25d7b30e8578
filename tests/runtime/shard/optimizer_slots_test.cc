// The way of slots through rule, engine and checkpoint, by an optimizer of four: three of elements
// and a number of each row or partition. In this program alone it takes the place of every one that
// a variable names.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/os/files.h"
#include "runtime/checkpoint/checkpoint_shard.h"
#include "runtime/shard/optimizer.h"
#include "runtime/shard/optimizers/kernel_rule.h"
#include "tests/runtime/shard/shard_test_support.h"

namespace pstrain::slots_test {

/// Each slot is of another kind, so that one in the place of another is seen.
struct FourSlotsKernel {
  static constexpr std::size_t kSlots = 3;
  static constexpr std::size_t kNumbers = 1;

  template <std::floating_point T>
  void Step(T* __restrict values, T* __restrict sums, T* __restrict counts, T* __restrict largest,
            T* __restrict steps, const T* __restrict gradients, std::size_t count) const {
    *steps += 1;
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] += gradients[i];
      counts[i] += 1;
      largest[i] = std::max(largest[i], std::abs(gradients[i]));
      values[i] -= sums[i] + counts[i] * largest[i] + *steps;
    }
  }
};

using Created = Result<std::shared_ptr<const OptimizerRule>>;

// What CMakeLists.txt has the linker give the callers of OptimizerRule::Create.
Created FourSlots(const Optimizer& optimizer) __asm__(
    "__wrap__ZN7pstrain13OptimizerRule6CreateERKNS_9OptimizerE");
Created FourSlots(const Optimizer&) {
  return MakeRule(FourSlotsKernel{},
                  std::array<OptimizerSlot, 4>{
                      {{"sum", 0.0}, {"count", 10.0}, {"largest", 0.5}, {"steps", 100.0}}});
}

namespace {

constexpr ShardTerm kTerm{1, 1};
constexpr ShardTerm kLater{2, 1};
constexpr std::uint32_t kShards = 2;

/// Of halves, so that every sum is exact.
template <typename T>
std::vector<T> Gradients(std::size_t count, std::uint32_t step) {
  std::vector<T> gradients;
  for (std::size_t i = 0; i < count; ++i) {
    gradients.push_back(static_cast<T>((i * 5 + step * 3) % 11) / 2 - 2);
  }
  return gradients;
}

/// A value and its slots after steps 1 to `steps` of Gradients, from that value on.
template <typename T>
std::array<T, 5> Expected(T value, std::size_t element, std::uint32_t steps) {
  T sum = 0;
  T count = 10;
  T largest = 0.5;
  T taken = 100;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    const T gradient = Gradients<T>(element + 1, step)[element];
    sum += gradient;
    count += 1;
    largest = std::max(largest, std::abs(gradient));
    taken += 1;
    value -= sum + count * largest + taken;
  }
  return {value, sum, count, largest, taken};
}

template <typename T>
void ExpectStepsOfRowsAndOfAPartition() {
  constexpr std::size_t kCount = 23;
  constexpr std::uint32_t kSteps = 3;
  const auto rule = OptimizerRule::Create(ps_test::Sgd(1)).value();
  ASSERT_EQ(rule->slots().size(), 4U);
  ValueArray values(std::vector<T>(kCount, 1));
  std::vector<ValueArray> slots;
  std::vector<T> row(kCount, 1);
  for (const OptimizerSlot& slot : rule->slots()) {
    slots.emplace_back(
        std::vector<T>(slot.OfPartition(kCount), static_cast<T>(slot.initial_value)));
    row.insert(row.end(), slot.OfRow(kCount), static_cast<T>(slot.initial_value));
  }
  std::byte* const rows[] = {reinterpret_cast<std::byte*>(row.data())};
  for (std::uint32_t step = 1; step <= kSteps; ++step) {
    const std::vector<T> gradients = Gradients<T>(kCount, step);
    EXPECT_TRUE(rule->Apply(values, slots, gradients));
    EXPECT_TRUE(rule->ApplyRows(rows, kCount, gradients));
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::array<T, 5> expected = Expected<T>(1, i, kSteps);
    const std::array<T, 5> dense = {values.of<T>()[i], slots[0].template of<T>()[i],
                                    slots[1].template of<T>()[i], slots[2].template of<T>()[i],
                                    slots[3].template of<T>()[0]};
    const std::array<T, 5> of_row = {row[i], row[kCount + i], row[2 * kCount + i],
                                     row[3 * kCount + i], row[4 * kCount]};
    EXPECT_EQ(dense, expected) << i;
    EXPECT_EQ(of_row, expected) << i;
  }
}

TEST(OptimizerSlots, OfFour_ArePassedInTheirOrderOverRowsAndPartitions) {
  ExpectStepsOfRowsAndOfAPartition<float>();
  ExpectStepsOfRowsAndOfAPartition<double>();
}

class OptimizerSlotsEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    for (ShardEngine* engine : {&engine_, &other_}) {
      ASSERT_TRUE(engine->Configure(ps_test::Config(kShards, ps_test::Sgd(1))).ok());
    }
    ASSERT_TRUE(ps_test::AssignAll(engine_, kShards, kTerm).ok());
  }
  /// Of a partition of the dense variable and of rows of the table, all in shard 0.
  void Step(ShardEngine& engine, std::uint32_t step, ShardTerm term = kTerm) {
    const std::vector<float> dense = Gradients<float>(18, step);
    const std::vector<float> rows = Gradients<float>(keys_.size() * 4, step);
    PushRequest push;
    push.work_id = {0, step};
    push.records = 1;
    push.sections.push_back({0, term, {{0, 0, dense}}, {{1, keys_, rows}}});
    ASSERT_EQ(ps_test::Statuses(ps_test::Push(engine, push)), std::vector{PushStatus::kApplied});
  }
  static ShardState CopyOf(ShardEngine& engine, ShardTerm term = kTerm) {
    ShardState copy;
    const Status status = ps_test::Await<Status>([&](auto done) {
      engine.Snapshot(
          {{{0, term}}, 0, "", ""}, [&copy](ShardState state) { copy = std::move(state); }, done);
    });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return copy;
  }
  /// `row`: elements that have one number.
  static void ExpectSteps(const ValueArray& before, const ValueArray& values,
                          const std::vector<ValueArray>& slots, std::size_t row,
                          std::uint32_t steps) {
    ASSERT_EQ(slots.size(), 4U);
    ASSERT_EQ(slots[3].size(), values.size() / row);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::array<float, 5> now = {values.of<float>()[i], slots[0].of<float>()[i],
                                        slots[1].of<float>()[i], slots[2].of<float>()[i],
                                        slots[3].of<float>()[i / row]};
      EXPECT_EQ(now, Expected(before.of<float>()[i], i, steps)) << i;
    }
  }

  const std::vector<std::uint64_t> keys_ = ps_test::KeysOf(0, kShards, 40);
  TempDir directory_;
  ShardEngine engine_{{.threads = 2}};
  ShardEngine other_{{.threads = 2}};
};

TEST_F(OptimizerSlotsEngineTest, OfFour_AreSteppedCheckpointedAndRestored) {
  // Reading makes the rows, with what they begin with.
  ASSERT_TRUE(ps_test::Pull(engine_, {{{0, kTerm, {}, {{1, keys_}}}}}).ok());
  const ShardState before = CopyOf(engine_);
  for (const std::uint32_t step : {1U, 2U, 3U}) Step(engine_, step);
  const ShardState after = CopyOf(engine_);
  ExpectSteps(before.dense[0].values, after.dense[0].values, after.dense[0].slots, 18, 3);
  ASSERT_EQ(after.tables[0].keys, before.tables[0].keys);
  ExpectSteps(before.tables[0].values, after.tables[0].values, after.tables[0].slots, 4, 3);

  const auto written = WriteCheckpointShard(directory_.path(), after);
  ASSERT_TRUE(written.ok()) << written.status().ToString();
  const auto read = ReadCheckpointShard(directory_.path(), *written);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_TRUE(ps_test::Assign(other_, {{0, kLater, AssignSource::kRestore}}, {{0, *read}}).ok());
  Step(engine_, 4);
  Step(other_, 4, kLater);
  const ShardState restored = CopyOf(other_, kLater);
  const ShardState same = CopyOf(engine_);
  EXPECT_EQ(restored.dense, same.dense);
  EXPECT_EQ(restored.tables, same.tables);
}

// Rows 0, 2 and 4 lie apart in one partition: one push is one step of it, of the elements it names.
TEST_F(OptimizerSlotsEngineTest, RowsOfADensePartition_AreOneStepOfItsNumber) {
  const ShardState before = CopyOf(engine_);
  PushRequest push;
  push.work_id = {0, 1};
  push.records = 1;
  const std::vector<std::uint64_t> rows = {0, 2, 4};
  const std::vector<float> gradients(9, 2.0F);
  push.sections.push_back({0, kTerm, {}, {{0, rows, gradients}}});
  ASSERT_EQ(ps_test::Statuses(ps_test::Push(engine_, push)), std::vector{PushStatus::kApplied});
  const DenseState after = CopyOf(engine_).dense[0];
  EXPECT_EQ(after.slots[3].of<float>(), std::vector<float>{101});
  for (std::size_t i = 0; i < 18; ++i) {
    const bool touched = i / 3 % 2 == 0;
    const float value = before.dense[0].values.of<float>()[i];
    // sum 2, count 11, largest 2, steps 101.
    EXPECT_EQ(after.values.of<float>()[i], touched ? value - (2 + 11 * 2 + 101) : value) << i;
    EXPECT_EQ(after.slots[1].of<float>()[i], touched ? 11 : 10) << i;
  }
}

TEST_F(OptimizerSlotsEngineTest, OfFour_AStateWithThreeOrWithAnotherSizeIsRefused) {
  Step(engine_, 1);
  const ShardState state = CopyOf(engine_);
  const auto restored = [this](const ShardState& from) {
    return ps_test::Assign(other_, {{0, kLater, AssignSource::kRestore}}, {{0, from}})
        .status()
        .code();
  };
  ShardState fewer = state;
  fewer.tables[0].slots.pop_back();
  EXPECT_EQ(restored(fewer), StatusCode::kInvalidArgument);
  // A number of each row in place of one of each element, and the reverse.
  ShardState numbers = state;
  numbers.tables[0].slots[0] = state.tables[0].slots[3];
  EXPECT_EQ(restored(numbers), StatusCode::kInvalidArgument);
  ShardState elements = state;
  elements.dense[0].slots[3] = state.dense[0].slots[0];
  EXPECT_EQ(restored(elements), StatusCode::kInvalidArgument);
  EXPECT_EQ(restored(state), StatusCode::kOk);
}

}  // namespace
}  // namespace pstrain::slots_test
