// A run each of whose pieces of work changes variables of all dtypes by all ops in one push:
// whoever is killed, and whatever is pushed again for that, each push counts once, whole and to the
// bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "runtime/checkpoint/checkpoint_chain.h"
#include "tests/runtime/chief/live_run.h"

namespace pstrain {
namespace {

using chief_test::LiveRunTest;
using chief_test::LiveStep;
using chief_test::LiveWorker;

constexpr std::uint64_t kTableRows = 40;
constexpr double kRate = 0.25;

/// The ids; `kTotal` and `kRecords` are a pack.
enum : VariableId {
  kFloats,
  kDoubles,
  kCount32,
  kCount64,
  kLeast,
  kMost,
  kFixed,
  kTotal,
  kRecords,
  kTable,
  kDivided,
};

VariableSpec Variable(const char* name, VariableSpec::DataType dtype,
                      const std::vector<std::int64_t>& shape, bool trained = false) {
  VariableSpec variable;
  variable.set_name(name);
  variable.set_kind(VariableSpec::DENSE);
  variable.set_dtype(dtype);
  for (const std::int64_t size : shape) variable.add_shape(size);
  variable.mutable_initializer()->set_kind(Initializer::ZEROS);
  if (trained) variable.mutable_optimizer()->mutable_sgd()->set_learning_rate(kRate);
  return variable;
}

std::vector<VariableSpec> Variables() {
  std::vector<VariableSpec> variables{Variable("floats", VariableSpec::FLOAT32, {3}, true),
                                      Variable("doubles", VariableSpec::FLOAT64, {4}, true),
                                      Variable("count32", VariableSpec::INT32, {3}),
                                      Variable("count64", VariableSpec::INT64, {2, 2}),
                                      Variable("least", VariableSpec::INT64, {3}),
                                      Variable("most", VariableSpec::FLOAT64, {2}),
                                      Variable("fixed", VariableSpec::INT32, {4}),
                                      Variable("total", VariableSpec::INT64, {}),
                                      Variable("records", VariableSpec::INT64, {}),
                                      Variable("table", VariableSpec::INT64, {kTableRows, 2}),
                                      Variable("divided", VariableSpec::FLOAT32, {8, 2}, true)};
  variables[kTable].set_kind(VariableSpec::EMBEDDING);
  return variables;
}

/// Any 64 bits: sums of them wrap around.
std::uint64_t Bits(WorkId work_id, VariableId variable, std::size_t element) {
  return Mix64((std::uint64_t{work_id.epoch} << 32) + work_id.batch, variable * 100 + element);
}

/// Of floating point small whole numbers times `unit`, so that sums are exact in any order; of
/// integers any.
template <typename T>
std::vector<T> Operands(WorkId work_id, VariableId variable, std::size_t count, T unit = 1) {
  std::vector<T> operands;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = Bits(work_id, variable, i);
    if constexpr (std::is_integral_v<T>) {
      operands.push_back(static_cast<T>(bits));
    } else {
      operands.push_back((static_cast<T>(bits % 11) - 5) * unit);
    }
  }
  return operands;
}

/// One step as it is meant, without the shard's code.
template <typename T>
void Carry(UpdateOp op, std::span<const T> by, T* to) {
  for (const T operand : by) {
    T& value = *to++;
    switch (op) {
      case UpdateOp::kGradient:
        value -= static_cast<T>(kRate) * operand;
        break;
      case UpdateOp::kAssign:
        value = operand;
        break;
      case UpdateOp::kAdd:
        if constexpr (std::is_integral_v<T>) {
          value = static_cast<T>(static_cast<std::uint64_t>(value) +
                                 static_cast<std::uint64_t>(operand));
        } else {
          value += operand;
        }
        break;
      case UpdateOp::kMin:
        value = std::min(value, operand);
        break;
      case UpdateOp::kMax:
        value = std::max(value, operand);
        break;
    }
  }
}
void Carry(UpdateOp op, const ValueArray& by, std::size_t from, std::size_t count, std::size_t at,
           ValueArray& to) {
  ASSERT_EQ(by.dtype(), to.dtype());
  WithElement(by.dtype(), [&]<typename T>(std::type_identity<T>) {
    Carry<T>(op, std::span<const T>(by.of<T>()).subspan(from, count), to.of<T>().data() + at);
  });
}

class MixedUpdatesRunTest : public LiveRunTest {
 protected:
  MixedUpdatesRunTest()
      : LiveRunTest({.variables = Variables(), .epochs = 3, .checkpoint_every = 15}) {}

  LiveStep Step(WorkId work_id) const {
    // A row of each of the two partitions.
    const std::uint64_t row = work_id.batch % 4;
    LiveStep step{.access = {{kFloats, kCount64, kTotal, kRecords},
                             {{kTable, {work_id.batch % kTableRows}}, {kDivided, {row, row + 4}}}},
                  .updates = {}};
    auto& dense = step.updates.dense;
    dense.push_back({kFloats, Operands<float>(work_id, kFloats, 3)});
    // Whole numbers that a float32 does not hold.
    const double unit = static_cast<double>((std::int64_t{1} << 40) + 1);
    if (work_id.batch % 3 > 0) dense.push_back({kDoubles, Operands(work_id, kDoubles, 4, unit)});
    dense.push_back({kCount32, Operands<std::int32_t>(work_id, kCount32, 3), UpdateOp::kAdd});
    dense.push_back({kCount64, Operands<std::int64_t>(work_id, kCount64, 4), UpdateOp::kAdd});
    dense.push_back({kLeast, Operands<std::int64_t>(work_id, kLeast, 3), UpdateOp::kMin});
    dense.push_back({kMost, Operands(work_id, kMost, 2, unit), UpdateOp::kMax});
    dense.push_back({kFixed, std::vector<std::int32_t>{7, -8, 9, -10}, UpdateOp::kAssign});
    dense.push_back({kFixed, std::vector<std::int32_t>{1, 2, 3, 4}, UpdateOp::kAdd});
    dense.push_back({kTotal, Operands<std::int64_t>(work_id, kTotal, 1), UpdateOp::kAdd});
    dense.push_back({kRecords, std::vector<std::int64_t>{1}, UpdateOp::kAdd});
    step.updates.rows.push_back({0, Operands<std::int64_t>(work_id, kTable, 2), UpdateOp::kAdd});
    step.updates.rows.push_back({1, Operands<float>(work_id, kDivided, 4)});
    return step;
  }
  std::optional<LiveStep> StepOf(const LiveWorker&, WorkId work_id) override {
    return Step(work_id);
  }

  /// Trains to there, and a little further at most.
  void Stage(std::uint64_t committed) {
    *most_ = committed + 12;
    TrainTo(committed);
  }
  /// In the middle of the next piece of work: before its push, or behind that and before the
  /// report.
  static void Once(std::function<void(WorkId)>& moment, std::function<void()> what) {
    moment = [&moment, what = std::move(what)](WorkId) {
      const auto once = what;
      moment = nullptr;
      once();
    };
  }

  static std::size_t RowSize(const VariableSpec& variable) {
    return variable.shape_size() == 2 ? static_cast<std::size_t>(variable.shape(1)) : 1;
  }
  /// Zeros, by variable.
  std::vector<ValueArray> Zeros() const {
    std::vector<ValueArray> values;
    for (const VariableSpec& variable : plan_.variables) {
      const std::int64_t rows = variable.shape_size() == 0 ? 1 : variable.shape(0);
      values.emplace_back(static_cast<DType>(variable.dtype()),
                          static_cast<std::size_t>(rows) * RowSize(variable));
    }
    return values;
  }
  std::vector<ValueArray> ClosedForm() const {
    std::vector<ValueArray> values = Zeros();
    for (std::uint32_t i = 0; i < plan_.epochs * plan_.batches; ++i) {
      const LiveStep step = Step({i / plan_.batches, i % plan_.batches});
      for (const StepUpdates::Dense& update : step.updates.dense) {
        Carry(update.op, update.values, 0, update.values.size(), 0, values[update.variable]);
      }
      for (const StepUpdates::Rows& update : step.updates.rows) {
        const RowAccess& rows = step.access.requests[update.request];
        for (std::size_t row = 0; row < rows.rows.size(); ++row) {
          Carry(update.op, update.values, row * 2, 2, rows.rows[row] * 2, values[rows.variable]);
        }
      }
    }
    return values;
  }
  static void Put(const ValueArray& part, std::size_t from, std::size_t count, std::size_t at,
                  ValueArray& to) {
    ASSERT_EQ(part.dtype(), to.dtype());
    const std::size_t size = SizeOf(part.dtype());
    std::memcpy(to.bytes().subspan(at * size, count * size).data(),
                part.bytes().subspan(from * size, count * size).data(), count * size);
  }
  /// What the newest checkpoint holds.
  std::vector<ValueArray> Stored() const {
    std::vector<ValueArray> values = Zeros();
    const auto chain = CheckpointChain::Open(CheckpointDirectory(run_, Checkpoints().back()));
    EXPECT_TRUE(chain.ok() && chain->manifest().final()) << chain.status().ToString();
    if (!chain.ok()) return {};
    for (ShardId shard = 0; shard < plan_.shards; ++shard) {
      const Result<ShardState> state = chain->Read(shard);
      EXPECT_TRUE(state.ok()) << state.status().ToString();
      if (!state.ok()) return {};
      for (const DenseState& dense : state->dense) {
        const VariableSpec& variable =
            chain->manifest().variables(static_cast<int>(dense.variable));
        const auto first = static_cast<std::size_t>(
            variable.partitions(static_cast<int>(dense.partition)).begin());
        Put(dense.values, 0, dense.values.size(), first * RowSize(variable),
            values[dense.variable]);
      }
      for (const TableState& table : state->tables) {
        for (std::size_t i = 0; i < table.keys.size(); ++i) {
          Put(table.values, i * 2, 2, table.keys[i] * 2, values[table.variable]);
        }
      }
    }
    return values;
  }
  void CheckWeights() override {
    const std::vector<ValueArray> expected = ClosedForm();
    const std::vector<ValueArray> stored = Stored();
    ASSERT_EQ(stored.size(), expected.size());
    for (std::size_t id = 0; id < expected.size(); ++id) {
      WithElement(expected[id].dtype(), [&]<typename T>(std::type_identity<T>) {
        EXPECT_EQ(stored[id].of<T>(), expected[id].of<T>()) << plan_.variables[id].name();
      });
    }
  }
};

TEST_F(MixedUpdatesRunTest, WhoeverIsKilled_EndsInTheClosedForm) {
  Stage(5);
  ASSERT_EQ(workers_[0].run.variables(kDivided).partitions_size(), 2);
  ASSERT_EQ(workers_[0].run.variables(kRecords).pack(), kTotal + 1);
  // Before there is a checkpoint: its shards begin again.
  Once(before_push_, [this] { ReplacePs(0); });
  Stage(30);
  TurnUntil([this] { return !Checkpoints().empty(); });
  Once(after_push_, [this] { ReplacePs(1); });
  Stage(60);
  Once(before_push_, [this] {
    ReplacePs(0);
    ReplacePs(1);
  });
  Stage(90);
  Once(after_push_, [this] { ReplaceChief(); });
  Stage(120);
  Once(before_push_, [this] {
    ReplaceChief();
    ReplacePs(0);
  });
  Stage(150);
  Once(after_push_, [this] {
    ReplacePs(0);
    ReplacePs(1);
  });
  Finish();
  EXPECT_EQ(before_push_, nullptr);
  EXPECT_EQ(after_push_, nullptr);
  // What was killed in the middle of a push was pushed again, also to who had it.
  EXPECT_GT(duplicates_, 0U);
}

}  // namespace
}  // namespace pstrain
