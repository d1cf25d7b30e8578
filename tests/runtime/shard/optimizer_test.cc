#include "runtime/shard/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "tests/runtime/shard/every_optimizer.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

double Input(const Json& golden_case, const char* group, const char* key) {
  const Json* value = golden_case.Find(group)->Find(key);
  return value == nullptr ? 0.0 : value->AsDouble().value();
}

bool Attr(const Json& golden_case, const char* key, bool absent = false) {
  const Json* value = golden_case.Find("attrs")->Find(key);
  return value == nullptr ? absent : value->AsBool().value();
}

Optimizer SgdOf(const Json& golden_case) {
  Optimizer optimizer;
  optimizer.mutable_sgd()->set_learning_rate(Input(golden_case, "inputs", "alpha"));
  return optimizer;
}

Optimizer MomentumOf(const Json& golden_case) {
  Optimizer optimizer;
  Sgd* sgd = optimizer.mutable_sgd();
  sgd->set_learning_rate(Input(golden_case, "inputs", "lr"));
  sgd->set_momentum(Input(golden_case, "inputs", "momentum"));
  sgd->set_nesterov(Attr(golden_case, "use_nesterov"));
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

/// The numbers that Adam and Adamax have in common.
template <typename Message>
void SetMoments(const Json& golden_case, Message* numbers) {
  numbers->set_learning_rate(Input(golden_case, "inputs", "lr"));
  numbers->set_beta_1(Input(golden_case, "inputs", "beta1"));
  numbers->set_beta_2(Input(golden_case, "inputs", "beta2"));
  numbers->set_epsilon(Input(golden_case, "inputs", "epsilon"));
}

Optimizer AdamOf(const Json& golden_case) {
  Optimizer optimizer;
  SetMoments(golden_case, optimizer.mutable_adam());
  optimizer.mutable_adam()->set_amsgrad(golden_case.Find("slots_init")->Find("vhat") != nullptr);
  return optimizer;
}

Optimizer AdamaxOf(const Json& golden_case) {
  Optimizer optimizer;
  SetMoments(golden_case, optimizer.mutable_adamax());
  return optimizer;
}

Optimizer RmspropOf(const Json& golden_case) {
  Optimizer optimizer;
  Rmsprop* rmsprop = optimizer.mutable_rmsprop();
  rmsprop->set_learning_rate(Input(golden_case, "inputs", "lr"));
  rmsprop->set_rho(Input(golden_case, "inputs", "rho"));
  rmsprop->set_momentum(Input(golden_case, "inputs", "momentum"));
  rmsprop->set_epsilon(Input(golden_case, "inputs", "epsilon"));
  rmsprop->set_centered(golden_case.Find("slots_init")->Find("mg") != nullptr);
  return optimizer;
}

Optimizer AdadeltaOf(const Json& golden_case) {
  Optimizer optimizer;
  Adadelta* adadelta = optimizer.mutable_adadelta();
  adadelta->set_learning_rate(Input(golden_case, "inputs", "lr"));
  adadelta->set_rho(Input(golden_case, "inputs", "rho"));
  adadelta->set_epsilon(Input(golden_case, "inputs", "epsilon"));
  return optimizer;
}

/// Kernels of TensorFlow that an optimizer of ours equals.
struct GoldenOp {
  std::string dense;
  /// Empty: TensorFlow has none.
  std::string rows;
  /// TensorFlow's names of our slots, in our order; those of ours that it has not are numbers of a
  /// row or partition, and come last. One that it has and we have not keeps nothing there.
  std::vector<std::string> slots;
  Optimizer (*optimizer)(const Json& golden_case);
  /// Its slot is ours times -1 / lr.
  bool slot_is_scaled = false;
};

const std::vector<GoldenOp>& GoldenOps() {
  static const std::vector<GoldenOp> ops = {
      {"ResourceApplyGradientDescent", "ResourceScatterSub", {}, SgdOf},
      {"ResourceApplyMomentum", "ResourceSparseApplyMomentum", {"accum"}, MomentumOf, true},
      {"ResourceApplyKerasMomentum", "ResourceSparseApplyKerasMomentum", {"accum"}, MomentumOf},
      {"ResourceApplyAdagrad", "ResourceSparseApplyAdagrad", {"accum"}, AdagradOf},
      {"ResourceApplyAdagradV2", "ResourceSparseApplyAdagradV2", {"accum"}, AdagradOf},
      {"ResourceApplyFtrl", "ResourceSparseApplyFtrl", {"accum", "linear"}, FtrlOf},
      {"ResourceApplyFtrlV2", "ResourceSparseApplyFtrlV2", {"accum", "linear"}, FtrlOf},
      {"ResourceApplyAdam", "", {"m", "v"}, AdamOf},
      {"ResourceApplyAdamWithAmsgrad", "", {"m", "v", "vhat"}, AdamOf},
      {"ResourceApplyAdaMax", "", {"m", "v"}, AdamaxOf},
      {"ResourceApplyRMSProp", "ResourceSparseApplyRMSProp", {"ms", "mom"}, RmspropOf},
      {"ResourceApplyCenteredRMSProp",
       "ResourceSparseApplyCenteredRMSProp",
       {"ms", "mg", "mom"},
       RmspropOf},
      {"ResourceApplyAdadelta",
       "ResourceSparseApplyAdadelta",
       {"accum", "accum_update"},
       AdadeltaOf},
  };
  return ops;
}

/// Forms of the kernels that no manifest can ask for.
bool IsOfAManifest(const Json& golden_case) {
  return golden_case.Find("steps") != nullptr && Attr(golden_case, "update_slots", true) &&
         !Attr(golden_case, "multiply_linear_by_lr") &&
         (*golden_case.Find("op")->AsString() != "ResourceApplyAdam" ||
          !Attr(golden_case, "use_nesterov"));
}

std::vector<float> Flat(const Json& rows) {
  std::vector<float> values;
  for (const Json& row : rows.items()) {
    for (const Json& value : row.items()) {
      values.push_back(static_cast<float>(value.AsDouble().value()));
    }
  }
  return values;
}

/// TensorFlow's results are rounded to float32 in another order.
void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-6 + 2e-6 * std::abs(expected[i])) << i;
  }
}

std::byte* BytesAt(float* row) { return reinterpret_cast<std::byte*>(row); }

/// Values and slots of rows of two, as TensorFlow has them.
struct Arrays {
  std::vector<float> values;
  std::vector<std::vector<float>> slots;
};

class OptimizerGolden : public testing::Test {
 protected:
  using State = Stepped<float>;

  const Json& Data(const char* key) const { return *golden_.Find("data")->Find(key); }
  /// Runs `check` for each case of an op.
  template <typename Check>
  void ForEachCase(const std::string& name, Check check) const {
    std::size_t cases = 0;
    for (const Json& golden_case : golden_.Find("cases")->items()) {
      if (*golden_case.Find("op")->AsString() != name || !IsOfAManifest(golden_case)) continue;
      SCOPED_TRACE(name + ", case " + std::to_string(cases));
      ++cases;
      check(golden_case);
    }
    EXPECT_GE(cases, 1u) << name;
  }

  /// Slots of the rule that TensorFlow has too; the others are numbers.
  static std::size_t CommonSlots(const GoldenOp& op, const OptimizerRule& rule) {
    const auto is_number = [](const OptimizerSlot& slot) {
      return slot.form == OptimizerSlot::Form::kOne;
    };
    const auto numbers = std::ranges::count_if(rule.slots(), is_number);
    const std::size_t common = rule.slots().size() - static_cast<std::size_t>(numbers);
    EXPECT_LE(common, op.slots.size());
    return common;
  }
  /// TensorFlow's slot with that position, in our unit.
  static std::vector<float> SlotOf(const GoldenOp& op, std::size_t slot, const Json& golden_case,
                                   const Json& step) {
    std::vector<float> values = Flat(*step.Find(op.slots[slot]));
    if (!op.slot_is_scaled) return values;
    const auto scale = static_cast<float>(-Input(golden_case, "inputs", "lr"));
    for (float& value : values) value *= scale;
    return values;
  }
  static void SetSlots(const GoldenOp& op, const Json& golden_case, std::size_t count,
                       std::vector<std::vector<float>>* slots) {
    for (std::size_t s = 0; s < count; ++s) {
      const double initial = Input(golden_case, "slots_init", op.slots[s].c_str());
      std::ranges::fill((*slots)[s], static_cast<float>(initial));
    }
  }

  void CheckDense(const GoldenOp& op, const Json& golden_case) const {
    const auto rule = OptimizerRule::Create(op.optimizer(golden_case));
    ASSERT_TRUE(rule.ok()) << rule.status().ToString();
    const std::size_t common = CommonSlots(op, **rule);
    State state = State::Partition(**rule, Flat(Data("dense_var0")));
    SetSlots(op, golden_case, common, &state.slots);
    const std::vector<Json>& steps = golden_case.Find("steps")->items();
    ASSERT_FALSE(steps.empty());
    for (std::size_t step = 0; step < steps.size(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      state.StepPartition(**rule, Flat(Data("dense_grads").items()[step]));
      ExpectNear(state.values, Flat(*steps[step].Find("var")));
      for (std::size_t s = 0; s < common; ++s) {
        ExpectNear(state.slots[s], SlotOf(op, s, golden_case, steps[step]));
      }
    }
  }

  /// Each step starts from the golden result of the step before; steps with duplicate ids, which a
  /// worker would have summed, are passed over.
  void CheckRows(const GoldenOp& op, const Json& golden_case) const {
    const auto rule = OptimizerRule::Create(op.optimizer(golden_case));
    ASSERT_TRUE(rule.ok()) << rule.status().ToString();
    const std::size_t common = CommonSlots(op, **rule);
    ASSERT_EQ(common, (*rule)->slots().size()) << "rows would have to know their step";
    Arrays before{Flat(Data("sparse_var0")), {}};
    before.slots.resize(common, std::vector<float>(before.values.size()));
    SetSlots(op, golden_case, common, &before.slots);
    const std::vector<Json>& steps = golden_case.Find("steps")->items();
    std::size_t checked = 0;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Arrays after{Flat(*steps[step].Find("var")), {}};
      for (std::size_t s = 0; s < common; ++s) {
        after.slots.push_back(SlotOf(op, s, golden_case, steps[step]));
      }
      const Json& sparse = Data("sparse_grads").items()[step];
      const std::vector<std::size_t> ids = IdsOf(sparse);
      if (std::set<std::size_t>(ids.begin(), ids.end()).size() == ids.size()) {
        ++checked;
        const std::vector<float> gradients = Flat(*sparse.Find("values"));
        for (std::size_t i = 0; i < ids.size(); ++i) {
          CheckRow(**rule, before, after, ids[i], {gradients[2 * i], gradients[2 * i + 1]});
        }
      }
      before = std::move(after);
    }
    EXPECT_GE(checked, 1u);
  }

  const Json golden_ = ReadGolden("optimizers_raw_ops.json");

 private:
  static std::vector<std::size_t> IdsOf(const Json& sparse) {
    std::vector<std::size_t> ids;
    for (const Json& id : sparse.Find("ids")->items()) {
      ids.push_back(static_cast<std::size_t>(id.AsInt64().value()));
    }
    return ids;
  }
  static std::vector<float> RowOf(const std::vector<float>& rows, std::size_t id) {
    return {rows[2 * id], rows[2 * id + 1]};
  }
  static void CheckRow(const OptimizerRule& rule, const Arrays& before, const Arrays& after,
                       std::size_t id, const std::vector<float>& gradients) {
    State row{RowOf(before.values, id), {}};
    for (const auto& slot : before.slots) row.slots.push_back(RowOf(slot, id));
    row.StepRow(rule, gradients);
    ExpectNear(row.values, RowOf(after.values, id));
    for (std::size_t s = 0; s < row.slots.size(); ++s) {
      ExpectNear(row.slots[s], RowOf(after.slots[s], id));
    }
  }
};

TEST_F(OptimizerGolden, Dense_EqualsTheRawKernels) {
  for (const GoldenOp& op : GoldenOps()) {
    ForEachCase(op.dense, [&](const Json& golden_case) { CheckDense(op, golden_case); });
  }
}

TEST_F(OptimizerGolden, Rows_WhenIdsAreUnique_EqualTheRawKernels) {
  for (const GoldenOp& op : GoldenOps()) {
    if (op.rows.empty()) continue;
    ForEachCase(op.rows, [&](const Json& golden_case) { CheckRows(op, golden_case); });
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

TEST(OptimizerRule, Rows_EqualADenseStepBitByBit) { ExpectRowsEqualADenseStep<float>(); }

/// Several rows of one call, each with its slots behind it.
TEST(OptimizerRule, Rows_AreSteppedEachAlone) {
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer).value();
    std::vector<float> table;
    std::vector<Stepped<float>> expected;
    for (const float first : {0.5F, -1.0F, 2.0F}) {
      expected.push_back(Stepped<float>::Row(*rule, {first, first + 1, first + 2}));
      table.insert(table.end(), expected.back().values.begin(), expected.back().values.end());
      for (const auto& slot : expected.back().slots) {
        table.insert(table.end(), slot.begin(), slot.end());
      }
    }
    const std::size_t stride = table.size() / expected.size();
    // The second row is not among them.
    std::byte* const rows[] = {BytesAt(&table[2 * stride]), BytesAt(table.data())};
    EXPECT_TRUE(rule->ApplyRows(rows, 3, std::vector<float>{1, 2, -3, 0.5, 0, 4})) << name;
    expected[2].StepRow(*rule, {1, 2, -3});
    expected[0].StepRow(*rule, {0.5, 0, 4});
    std::vector<float> all;
    for (const auto& row : expected) {
      all.insert(all.end(), row.values.begin(), row.values.end());
      for (const auto& slot : row.slots) all.insert(all.end(), slot.begin(), slot.end());
    }
    EXPECT_EQ(table, all) << name;
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
  optimizer.mutable_ftrl()->set_l2_regularization_strength(0);
  optimizer.mutable_ftrl()->set_beta(0.1);
  EXPECT_TRUE(OptimizerRule::Create(optimizer).ok()) << "beta is an l2";
  optimizer.mutable_ftrl()->set_learning_rate_power(0.5);
  EXPECT_FALSE(OptimizerRule::Create(optimizer).ok()) << "steps would grow";
}

// What a manifest's bounds refuse is refused here too: variables also come out of checkpoints.
TEST(OptimizerRule, Create_WhenANumberIsOutOfBounds_NamesIt) {
  Optimizer optimizer;
  const auto message = [&optimizer] { return OptimizerRule::Create(optimizer).status().message(); };
  Sgd* sgd = optimizer.mutable_sgd();
  sgd->set_learning_rate(0.1);
  sgd->set_nesterov(true);
  EXPECT_EQ(message(), "optimizer: nesterov does nothing without momentum");
  sgd->set_momentum(1.5);
  EXPECT_EQ(message(), "optimizer: momentum is 1.500000, above 1");
  Adam* adam = optimizer.mutable_adam();
  adam->set_learning_rate(0.1);
  adam->set_beta_1(0.9);
  // In float32 it is 1, and 1 minus it a divisor.
  adam->set_beta_2(0.99999999999);
  EXPECT_EQ(message(), "optimizer: beta2 is 1");
  adam->set_beta_2(0.99);
  adam->set_epsilon(1e-60);
  EXPECT_EQ(message(), "optimizer: epsilon is 0");
  adam->set_epsilon(1e-7);
  EXPECT_EQ(message(), "");
}

// The slots count too: with an infinite accumulator a value never changes again.
TEST(OptimizerRule, WhenAValueOrASlotIsNotFiniteAfterwards_SaysSo) {
  for (const auto& [name, optimizer] : EveryOptimizer()) {
    const auto rule = OptimizerRule::Create(optimizer);
    ASSERT_TRUE(rule.ok()) << rule.status().ToString();
    const auto apply = [&](float gradient) {
      const std::vector<float> gradients{1, 1, 1, 1, gradient};
      auto partition = Stepped<float>::Partition(**rule, std::vector<float>(5, 1.0F));
      auto row = Stepped<float>::Row(**rule, std::vector<float>(5, 1.0F));
      const bool finite = partition.StepPartition(**rule, gradients);
      EXPECT_EQ(row.StepRow(**rule, gradients), finite) << name;
      return finite;
    };
    EXPECT_TRUE(apply(1.0F)) << name;
    EXPECT_FALSE(apply(std::numeric_limits<float>::quiet_NaN())) << name;
    EXPECT_FALSE(apply(std::numeric_limits<float>::infinity())) << name;
  }
}

}  // namespace
}  // namespace pstrain
