#include "runtime/shard/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/runtime/shard/every_optimizer.h"

namespace pstrain {
namespace {

double Input(const Json& golden_case, const char* group, const char* key) {
  const Json* value = golden_case.Find(group)->Find(key);
  return value == nullptr ? 0.0 : value->AsDouble().value();
}

Optimizer SgdOf(const Json& golden_case) {
  Optimizer optimizer;
  optimizer.mutable_sgd()->set_learning_rate(Input(golden_case, "inputs", "alpha"));
  return optimizer;
}

Optimizer AdagradOf(const Json& golden_case) {
  Optimizer optimizer;
  Adagrad* adagrad = optimizer.mutable_adagrad();
  adagrad->set_learning_rate(Input(golden_case, "inputs", "lr"));
  adagrad->set_epsilon(Input(golden_case, "inputs", "epsilon"));
  adagrad->set_initial_accumulator_value(Input(golden_case, "slots_init", "accum"));
  return optimizer;
}

Optimizer FtrlOf(const Json& golden_case) {
  Optimizer optimizer;
  Ftrl* ftrl = optimizer.mutable_ftrl();
  ftrl->set_learning_rate(Input(golden_case, "inputs", "lr"));
  ftrl->set_learning_rate_power(Input(golden_case, "inputs", "lr_power"));
  ftrl->set_initial_accumulator_value(Input(golden_case, "slots_init", "accum"));
  ftrl->set_l1_regularization_strength(Input(golden_case, "inputs", "l1"));
  ftrl->set_l2_regularization_strength(Input(golden_case, "inputs", "l2"));
  ftrl->set_l2_shrinkage_regularization_strength(Input(golden_case, "inputs", "l2_shrinkage"));
  return optimizer;
}

/// Kernels of TensorFlow that an optimizer of ours equals.
struct GoldenOp {
  std::string dense;
  std::string rows;
  /// TensorFlow's names of our slots, in our order.
  std::vector<std::string> slots;
  Optimizer (*optimizer)(const Json& golden_case);
  /// Cases of each of the two in the file.
  std::size_t cases = 1;
};

const std::vector<GoldenOp>& GoldenOps() {
  static const std::vector<GoldenOp> ops = {
      {"ResourceApplyGradientDescent", "ResourceScatterSub", {}, SgdOf},
      {"ResourceApplyAdagrad", "ResourceSparseApplyAdagrad", {"accum"}, AdagradOf},
      {"ResourceApplyAdagradV2", "ResourceSparseApplyAdagradV2", {"accum"}, AdagradOf},
      {"ResourceApplyFtrl", "ResourceSparseApplyFtrl", {"accum", "linear"}, FtrlOf, 2},
      {"ResourceApplyFtrlV2", "ResourceSparseApplyFtrlV2", {"accum", "linear"}, FtrlOf},
  };
  return ops;
}

/// Values and slots of one variable, each flat.
struct Arrays {
  std::vector<float> values;
  std::vector<std::vector<float>> slots;
};

std::vector<float> Flat(const Json& rows) {
  std::vector<float> values;
  for (const Json& row : rows.items()) {
    for (const Json& value : row.items()) {
      values.push_back(static_cast<float>(value.AsDouble().value()));
    }
  }
  return values;
}

/// One step over arrays, as a dense partition is stepped.
bool StepDense(const OptimizerRule& rule, std::vector<float>& values,
               std::vector<std::vector<float>>& slots, const std::vector<float>& gradients) {
  ValueArray elements(values);
  std::vector<ValueArray> arrays(slots.begin(), slots.end());
  const bool finite = rule.Apply(elements, arrays, gradients);
  values = elements.of<float>();
  for (std::size_t s = 0; s < slots.size(); ++s) slots[s] = arrays[s].of<float>();
  return finite;
}

std::byte* BytesAt(float* row) { return reinterpret_cast<std::byte*>(row); }

Arrays Start(const OptimizerRule& rule, const Json& values) {
  Arrays arrays{Flat(values), {}};
  for (const OptimizerSlot& slot : rule.slots()) {
    arrays.slots.emplace_back(arrays.values.size(), static_cast<float>(slot.initial_value));
  }
  return arrays;
}

/// What TensorFlow had after a step.
Arrays After(const GoldenOp& op, const Json& step) {
  Arrays arrays{Flat(*step.Find("var")), {}};
  for (const std::string& slot : op.slots) arrays.slots.push_back(Flat(*step.Find(slot)));
  return arrays;
}

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double bound = 2e-6 * std::max(1e-3, std::abs(static_cast<double>(expected[i])));
    EXPECT_NEAR(actual[i], expected[i], bound) << i;
  }
}

void ExpectNear(const Arrays& actual, const Arrays& expected) {
  ExpectNear(actual.values, expected.values);
  ASSERT_EQ(actual.slots.size(), expected.slots.size());
  for (std::size_t s = 0; s < actual.slots.size(); ++s) {
    SCOPED_TRACE("slot " + std::to_string(s));
    ExpectNear(actual.slots[s], expected.slots[s]);
  }
}

class OptimizerGolden : public testing::Test {
 protected:
  void SetUp() override {
    auto text = ReadFile(std::string(PSTRAIN_SOURCE_DIR) + "/tests/golden/optimizers_raw_ops.json");
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    auto json = ParseJson(*text);
    ASSERT_TRUE(json.ok()) << json.status().ToString();
    golden_ = std::move(json).value();
  }

  const Json& Data(const char* key) const { return *golden_.Find("data")->Find(key); }
  /// Runs `check` for each case of an op.
  template <typename Check>
  void ForEachCase(const GoldenOp& op, const std::string& name, Check check) const {
    std::size_t cases = 0;
    for (const Json& golden_case : golden_.Find("cases")->items()) {
      if (*golden_case.Find("op")->AsString() != name) continue;
      SCOPED_TRACE(name + ", case " + std::to_string(cases));
      ++cases;
      const auto rule = OptimizerRule::Create(op.optimizer(golden_case));
      ASSERT_TRUE(rule.ok()) << rule.status().ToString();
      ASSERT_EQ((*rule)->slots().size(), op.slots.size());
      check(**rule, golden_case.Find("steps")->items());
    }
    EXPECT_EQ(cases, op.cases) << name;
  }

  void CheckDense(const GoldenOp& op, const OptimizerRule& rule,
                  const std::vector<Json>& steps) const {
    Arrays arrays = Start(rule, Data("dense_var0"));
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const std::vector<float> gradients = Flat(Data("dense_grads").items()[step]);
      StepDense(rule, arrays.values, arrays.slots, gradients);
      SCOPED_TRACE("step " + std::to_string(step));
      ExpectNear(arrays, After(op, steps[step]));
    }
  }

  /// Each step starts from the golden result of the step before; steps with duplicate ids, which a
  /// worker would have summed, are passed over.
  void CheckRows(const GoldenOp& op, const OptimizerRule& rule,
                 const std::vector<Json>& steps) const {
    Arrays before = Start(rule, Data("sparse_var0"));
    std::size_t checked = 0;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const Json& sparse = Data("sparse_grads").items()[step];
      const Arrays expected = After(op, steps[step]);
      std::set<std::int64_t> unique;
      for (const Json& id : sparse.Find("ids")->items()) unique.insert(id.AsInt64().value());
      if (unique.size() == sparse.Find("ids")->items().size()) {
        ++checked;
        SCOPED_TRACE("step " + std::to_string(step));
        ExpectNear(StepOfRows(rule, before, sparse), expected);
      }
      before = expected;
    }
    EXPECT_EQ(checked, 2u);
  }

  Json golden_;

 private:
  static constexpr std::size_t kDimension = 2;

  /// One step of rows that lie as in a table: values, then slot after slot.
  static Arrays StepOfRows(const OptimizerRule& rule, const Arrays& before, const Json& sparse) {
    const std::size_t stride = kDimension * (1 + before.slots.size());
    std::vector<float> table;
    for (std::size_t at = 0; at < before.values.size(); at += kDimension) {
      table.insert(table.end(), {before.values[at], before.values[at + 1]});
      for (const auto& slot : before.slots) table.insert(table.end(), {slot[at], slot[at + 1]});
    }
    std::vector<std::byte*> rows;
    for (const Json& id : sparse.Find("ids")->items()) {
      rows.push_back(BytesAt(&table[static_cast<std::size_t>(id.AsInt64().value()) * stride]));
    }
    rule.ApplyRows(rows, kDimension, Flat(*sparse.Find("values")));
    Arrays after{{}, std::vector<std::vector<float>>(before.slots.size())};
    for (std::size_t at = 0; at < table.size(); at += stride) {
      after.values.insert(after.values.end(), {table[at], table[at + 1]});
      for (std::size_t s = 0; s < after.slots.size(); ++s) {
        const std::size_t slot_at = at + (s + 1) * kDimension;
        after.slots[s].insert(after.slots[s].end(), {table[slot_at], table[slot_at + 1]});
      }
    }
    return after;
  }
};

TEST_F(OptimizerGolden, Dense_EqualsTheRawKernels) {
  for (const GoldenOp& op : GoldenOps()) {
    ForEachCase(op, op.dense, [&](const OptimizerRule& rule, const std::vector<Json>& steps) {
      CheckDense(op, rule, steps);
    });
  }
}

TEST_F(OptimizerGolden, Rows_WhenIdsAreUnique_EqualTheRawKernels) {
  for (const GoldenOp& op : GoldenOps()) {
    ForEachCase(op, op.rows, [&](const OptimizerRule& rule, const std::vector<Json>& steps) {
      CheckRows(op, rule, steps);
    });
  }
}

TEST_F(OptimizerGolden, EveryOptimizer_IsAmongTheGoldenOps) {
  std::set<int> checked;
  for (const GoldenOp& op : GoldenOps()) {
    ForEachCase(op, op.dense, [](const OptimizerRule&, const std::vector<Json>&) {});
    for (const Json& golden_case : golden_.Find("cases")->items()) {
      if (*golden_case.Find("op")->AsString() != op.dense) continue;
      checked.insert(op.optimizer(golden_case).kind_case());
    }
  }
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    EXPECT_TRUE(checked.contains(optimizer.kind_case())) << name;
  }
}

TEST(OptimizerRule, Create_KnowsEveryOptimizerOfAManifest) {
  EXPECT_GE(EveryOptimizer().size(), 2u);
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer);
    ASSERT_TRUE(rule.ok()) << name << ": " << rule.status().ToString();
    std::set<std::string_view> names;
    for (const OptimizerSlot& slot : (*rule)->slots()) names.insert(slot.name);
    EXPECT_EQ(names.size(), (*rule)->slots().size()) << name << ": slots need names of their own";
  }
}

/// A dense partition and a row of a table are the same arithmetic, bit by bit.
TEST(OptimizerRule, Rows_EqualADenseStepBitByBit) {
  constexpr std::size_t kCount = 37;
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer);
    ASSERT_TRUE(rule.ok()) << name;
    std::vector<float> values(kCount);
    std::vector<float> gradients(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      values[i] = 0.25f * static_cast<float>(i) - 4;
      gradients[i] = static_cast<float>(i % 7) - 3;
    }
    std::vector<float> row = values;
    std::vector<std::vector<float>> slots;
    for (const OptimizerSlot& slot : (*rule)->slots()) {
      const auto initial = static_cast<float>(slot.initial_value);
      slots.emplace_back(kCount, initial);
      row.insert(row.end(), kCount, initial);
    }
    std::byte* const rows[] = {BytesAt(row.data())};
    for (int step = 0; step < 3; ++step) {
      StepDense(**rule, values, slots, gradients);
      (*rule)->ApplyRows(rows, kCount, gradients);
    }
    std::vector<float> dense = values;
    for (const auto& slot : slots) dense.insert(dense.end(), slot.begin(), slot.end());
    EXPECT_EQ(row, dense) << name;
  }
}

TEST(OptimizerRule, Create_WhenNothingIsSet_Refuses) {
  EXPECT_EQ(OptimizerRule::Create({}).status().code(), StatusCode::kInvalidArgument);
  Optimizer optimizer;
  optimizer.mutable_sgd()->set_learning_rate(-1);
  EXPECT_FALSE(OptimizerRule::Create(optimizer).ok());
  optimizer.mutable_adagrad()->set_learning_rate(0.1);
  EXPECT_FALSE(OptimizerRule::Create(optimizer).ok()) << "0 / 0";
  optimizer.mutable_ftrl()->set_learning_rate(0.1);
  EXPECT_TRUE(OptimizerRule::Create(optimizer).ok()) << "with power 0 nothing can be 0";
  optimizer.mutable_ftrl()->set_learning_rate_power(-0.5);
  EXPECT_FALSE(OptimizerRule::Create(optimizer).ok()) << "x / 0";
  optimizer.mutable_ftrl()->set_l2_regularization_strength(0.1);
  EXPECT_TRUE(OptimizerRule::Create(optimizer).ok());
  optimizer.mutable_ftrl()->set_learning_rate_power(0.5);
  EXPECT_FALSE(OptimizerRule::Create(optimizer).ok()) << "steps would grow";
}

// The slots count too: with an infinite accumulator a value never changes again.
TEST(OptimizerRule, WhenAValueOrASlotIsNotFiniteAfterwards_SaysSo) {
  constexpr std::size_t kCount = 5;
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer);
    ASSERT_TRUE(rule.ok()) << rule.status().ToString();
    const std::size_t slots = (*rule)->slots().size();
    const auto apply = [&](float gradient) {
      std::vector<float> values(kCount, 1.0F);
      std::vector<std::vector<float>> dense(slots, std::vector<float>(kCount, 0.5F));
      std::vector<float> row(kCount * (1 + slots), 0.5F);
      std::vector<float> gradients(kCount, 1.0F);
      gradients.back() = gradient;
      std::byte* const rows[] = {BytesAt(row.data())};
      const bool finite = StepDense(**rule, values, dense, gradients);
      EXPECT_EQ((*rule)->ApplyRows(rows, kCount, gradients), finite);
      return finite;
    };
    EXPECT_TRUE(apply(1.0F)) << name;
    EXPECT_FALSE(apply(std::numeric_limits<float>::quiet_NaN())) << name;
    EXPECT_FALSE(apply(std::numeric_limits<float>::infinity())) << name;
  }
}

}  // namespace
}  // namespace pstrain
