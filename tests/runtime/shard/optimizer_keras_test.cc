#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "tests/runtime/shard/every_optimizer.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

using Rows = std::vector<std::vector<float>>;

/// Our name of each of Keras' optimizers that we equal. Not Adagrad, whose epsilon Keras has inside
/// the root.
const std::map<std::string, std::string>& Names() {
  static const std::map<std::string, std::string> names = {
      {"SGD", "sgd"},         {"Adam", "adam"},   {"AdamW", "adam_w"},
      {"RMSprop", "rmsprop"}, {"Ftrl", "ftrl"},   {"Adadelta", "adadelta"},
      {"Adamax", "adamax"},   {"Nadam", "nadam"}, {"Lion", "lion"}};
  return names;
}

/// A case's optimizer: our defaults, and the numbers of its config, which have our names. Nullopt
/// of what no manifest can ask for.
std::optional<Optimizer> OptimizerOf(const Json& golden_case) {
  const auto name = Names().find(*golden_case.Find("optimizer")->AsString());
  const Json* config = golden_case.Find("config");
  if (name == Names().end() || config == nullptr) return std::nullopt;
  Optimizer optimizer;
  google::protobuf::Message* numbers = optimizer.GetReflection()->MutableMessage(
      &optimizer, Optimizer::descriptor()->FindFieldByName(name->second));
  every_optimizer::SetDefaults(numbers);
  for (const auto& [key, value] : config->members()) {
    const auto* field = numbers->GetDescriptor()->FindFieldByName(key);
    if (field == nullptr) return std::nullopt;
    if (value.is_bool()) {
      numbers->GetReflection()->SetBool(numbers, field, *value.AsBool());
    } else {
      numbers->GetReflection()->SetDouble(numbers, field, *value.AsDouble());
    }
  }
  return optimizer;
}

Rows RowsOf(const Json& json) {
  Rows rows;
  for (const Json& row : json.items()) {
    rows.emplace_back();
    for (const Json& value : row.items()) {
      rows.back().push_back(static_cast<float>(*value.AsDouble()));
    }
  }
  return rows;
}

std::vector<float> Flat(const Rows& rows) {
  std::vector<float> values;
  for (const auto& row : rows) values.insert(values.end(), row.begin(), row.end());
  return values;
}

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-6 + 2e-6 * std::abs(expected[i])) << i;
  }
}

/// The gradient of each row of one step: duplicates are summed, as a worker does.
std::map<std::size_t, std::vector<float>> Summed(const Json& sparse) {
  const Rows values = RowsOf(*sparse.Find("values"));
  std::map<std::size_t, std::vector<float>> sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto id = static_cast<std::size_t>(*sparse.Find("ids")->items()[i].AsInt64());
    auto& sum = sums.try_emplace(id, values[i].size()).first->second;
    for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += values[i][d];
  }
  return sums;
}

class OptimizerKerasTest : public testing::Test {
 protected:
  const Json& Data(const char* key) const { return *golden_.Find("data")->Find(key); }
  /// Keras 3 does not sum duplicates, so its rows cannot be compared there.
  template <typename Check>
  void ForEachCase(Check check) const {
    std::map<std::string, int> cases;
    for (const Json& golden_case : golden_.Find("cases")->items()) {
      const std::string& family = *golden_case.Find("family")->AsString();
      if (family != "tf_keras.optimizers" && family != "keras3.optimizers") continue;
      const auto optimizer = OptimizerOf(golden_case);
      if (!optimizer) continue;
      SCOPED_TRACE(family + " " + optimizer->ShortDebugString());
      const auto rule = OptimizerRule::Create(*optimizer);
      ASSERT_TRUE(rule.ok()) << rule.status().ToString();
      ++cases[*golden_case.Find("optimizer")->AsString()];
      check(**rule, golden_case, /*sums_duplicates=*/family == "tf_keras.optimizers");
    }
    for (const auto& [name, ours] : Names()) EXPECT_GE(cases[name], 2) << name;
  }

  const Json golden_ = ReadGolden("optimizers_keras.json");
};

TEST_F(OptimizerKerasTest, Dense_EqualsKeras2AndKeras3) {
  ForEachCase([&](const OptimizerRule& rule, const Json& golden_case, bool) {
    auto state = Stepped<float>::Partition(rule, Flat(RowsOf(Data("dense_var0"))));
    const auto& steps = golden_case.Find("dense")->Find("var_per_step")->items();
    ASSERT_FALSE(steps.empty());
    for (std::size_t step = 0; step < steps.size(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      state.StepPartition(rule, Flat(RowsOf(Data("dense_grads").items()[step])));
      ExpectNear(state.values, Flat(RowsOf(steps[step])));
    }
  });
}

// Keras decays slots of all rows in each step, ours those of the rows that a batch touches: they
// are the same for a row that nothing has changed before. Where a row counts its steps, that is the
// first step only: later ones are a row's first, but not Keras' first.
TEST_F(OptimizerKerasTest, Rows_WhenTouchedTheFirstTime_EqualKeras) {
  ForEachCase([&](const OptimizerRule& rule, const Json& golden_case, bool sums_duplicates) {
    const bool counts = std::ranges::any_of(rule.slots(), [](const OptimizerSlot& slot) {
      return slot.form == OptimizerSlot::Form::kOne;
    });
    const Rows initial = RowsOf(Data("sparse_var0"));
    std::vector<bool> touched(initial.size());
    Rows before = initial;
    std::size_t checked = 0;
    const auto& steps = golden_case.Find("sparse")->Find("var_per_step")->items();
    for (std::size_t step = 0; step < (counts ? 1 : steps.size()); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      const Json& sparse = Data("sparse_grads").items()[step];
      const Rows after = RowsOf(steps[step]);
      for (const auto& [id, gradient] : Summed(sparse)) {
        const auto times = std::ranges::count_if(
            sparse.Find("ids")->items(), [wanted = static_cast<int>(id)](const Json& other) {
              return *other.AsInt64() == wanted;
            });
        const bool comparable = times == 1 || sums_duplicates;
        if (!touched[id] && before[id] == initial[id] && comparable) {
          ++checked;
          auto row = Stepped<float>::Row(rule, initial[id]);
          row.StepRow(rule, gradient);
          ExpectNear(row.values, after[id]);
        }
        touched[id] = true;
      }
      before = after;
    }
    EXPECT_GE(checked, 1U);
  });
}

}  // namespace
}  // namespace pstrain
