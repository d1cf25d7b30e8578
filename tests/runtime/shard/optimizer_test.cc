#include "runtime/shard/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/os/files.h"
#include "base/text/json.h"

namespace pstrain {
namespace {

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
  const Json& Case(const std::string& op) const {
    for (const Json& candidate : golden_.Find("cases")->items()) {
      if (*candidate.Find("op")->AsString() == op) return candidate;
    }
    ADD_FAILURE() << "no case " << op;
    return golden_;
  }

  static double Input(const Json& golden_case, const char* group, const char* key) {
    const Json* value = golden_case.Find(group)->Find(key);
    return value == nullptr ? 0.0 : value->AsDouble().value();
  }
  static std::vector<float> Flat(const Json& rows) {
    std::vector<float> values;
    for (const Json& row : rows.items()) {
      for (const Json& value : row.items()) {
        values.push_back(static_cast<float>(value.AsDouble().value()));
      }
    }
    return values;
  }
  static OptimizerRule Rule(const Json& golden_case) {
    Optimizer optimizer;
    if (golden_case.Find("inputs")->Find("lr") == nullptr) {
      optimizer.mutable_sgd()->set_learning_rate(Input(golden_case, "inputs", "alpha"));
    } else {
      Adagrad* adagrad = optimizer.mutable_adagrad();
      adagrad->set_learning_rate(Input(golden_case, "inputs", "lr"));
      adagrad->set_epsilon(Input(golden_case, "inputs", "epsilon"));
      adagrad->set_initial_accumulator_value(Input(golden_case, "slots_init", "accum"));
    }
    auto rule = OptimizerRule::Create(optimizer);
    EXPECT_TRUE(rule.ok()) << rule.status().ToString();
    return *rule;
  }
  static void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double bound = 2e-6 * std::max(1e-3, std::abs(static_cast<double>(expected[i])));
      EXPECT_NEAR(actual[i], expected[i], bound) << i;
    }
  }

  void CheckDense(const std::string& op) const {
    const Json& golden_case = Case(op);
    const OptimizerRule rule = Rule(golden_case);
    std::vector<float> values = Flat(Data("dense_var0"));
    std::vector<float> slots(values.size(), rule.slots() > 0 ? rule.SlotInitialValue(0) : 0.0f);
    const auto& steps = golden_case.Find("steps")->items();
    for (std::size_t step = 0; step < steps.size(); ++step) {
      const std::vector<float> gradients = Flat(Data("dense_grads").items()[step]);
      rule.Apply(values.data(), slots.data(), gradients.data(), values.size());
      ExpectNear(values, Flat(*steps[step].Find("var")));
      if (rule.slots() > 0) ExpectNear(slots, Flat(*steps[step].Find("accum")));
    }
  }

  /// Each step starts from the golden result of the step before; steps with duplicate ids, which a
  /// worker would have summed, are passed over.
  void CheckRows(const std::string& op, std::size_t expected_steps) const {
    const Json& golden_case = Case(op);
    const OptimizerRule rule = Rule(golden_case);
    const std::size_t stride = 2 * (1 + rule.slots());
    std::vector<float> values = Flat(Data("sparse_var0"));
    std::vector<float> accum(values.size(), rule.slots() > 0 ? rule.SlotInitialValue(0) : 0.0f);
    std::size_t checked = 0;
    const auto& steps = golden_case.Find("steps")->items();
    for (std::size_t step = 0; step < steps.size(); ++step) {
      std::vector<float> table;
      for (std::size_t row = 0; row < values.size() / 2; ++row) {
        table.insert(table.end(), {values[2 * row], values[2 * row + 1]});
        if (rule.slots() > 0) table.insert(table.end(), {accum[2 * row], accum[2 * row + 1]});
      }
      const Json& sparse = Data("sparse_grads").items()[step];
      std::set<std::int64_t> unique;
      std::vector<float*> rows;
      for (const Json& id : sparse.Find("ids")->items()) {
        unique.insert(id.AsInt64().value());
        rows.push_back(&table[static_cast<std::size_t>(id.AsInt64().value()) * stride]);
      }
      values = Flat(*steps[step].Find("var"));
      if (rule.slots() > 0) accum = Flat(*steps[step].Find("accum"));
      if (unique.size() != rows.size()) continue;
      ++checked;
      rule.ApplyRows(rows, 2, Flat(*sparse.Find("values")).data());
      std::vector<float> actual;
      std::vector<float> actual_accum;
      for (std::size_t at = 0; at < table.size(); at += stride) {
        actual.insert(actual.end(), {table[at], table[at + 1]});
        if (rule.slots() > 0) {
          actual_accum.insert(actual_accum.end(), {table[at + 2], table[at + 3]});
        }
      }
      ExpectNear(actual, values);
      if (rule.slots() > 0) ExpectNear(actual_accum, accum);
    }
    EXPECT_EQ(checked, expected_steps);
  }

  Json golden_;
};

TEST_F(OptimizerGolden, Dense_EqualsTheRawKernels) {
  CheckDense("ResourceApplyGradientDescent");
  CheckDense("ResourceApplyAdagrad");
  CheckDense("ResourceApplyAdagradV2");
}

TEST_F(OptimizerGolden, Rows_WhenIdsAreUnique_EqualTheRawKernels) {
  CheckRows("ResourceScatterSub", 2);
  CheckRows("ResourceSparseApplyAdagrad", 2);
  CheckRows("ResourceSparseApplyAdagradV2", 2);
}

TEST(OptimizerRule, Create_WhenNothingIsSet_Refuses) {
  EXPECT_EQ(OptimizerRule::Create({}).status().code(), StatusCode::kInvalidArgument);
  Optimizer optimizer;
  optimizer.mutable_sgd()->set_learning_rate(-1);
  EXPECT_FALSE(OptimizerRule::Create(optimizer).ok());
  optimizer.mutable_adagrad()->set_learning_rate(0.1);
  EXPECT_FALSE(OptimizerRule::Create(optimizer).ok()) << "0 / 0";
}

}  // namespace
}  // namespace pstrain
