#include "tests/runtime/model/numerical_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/runtime/model/in_memory_store.h"

namespace pstrain {
namespace {

/// Compares one analytic gradient with the central difference of the loss.
void ExpectNumericalGradient(const Model& model, const Batch& batch, const BatchPlan& plan,
                             Parameters& values, std::vector<float>& variable,
                             const std::vector<float>& gradient, const std::string& name) {
  constexpr float kStep = 1e-2F;
  ASSERT_EQ(variable.size(), gradient.size()) << name;
  Parameters unused;
  for (std::size_t i = 0; i < variable.size(); ++i) {
    const float value = variable[i];
    variable[i] = value + kStep;
    const double above = model.Step(batch, plan, values, &unused).loss;
    variable[i] = value - kStep;
    const double below = model.Step(batch, plan, values, &unused).loss;
    variable[i] = value;
    const double expected = (above - below) / (2 * double{kStep});
    EXPECT_NEAR(gradient[i], expected, 2e-3 * std::max(0.1, std::abs(expected)))
        << name << " element " << i;
  }
}

}  // namespace

void ExpectNumericalGradients(const Model& model, const Batch& batch) {
  const BatchPlan plan = model.Plan(batch);
  InMemoryStore store(model.variables());
  Parameters values = store.Pull(plan);
  Rng rng(4);
  const auto nudge = [&rng](std::vector<std::vector<float>>& variables) {
    for (std::vector<float>& variable : variables) {
      for (float& value : variable) value += static_cast<float>(0.3 * rng.NextGaussian());
    }
  };
  nudge(values.dense);
  nudge(values.rows);
  Parameters gradients;
  const StepResult result = model.Step(batch, plan, values, &gradients);
  EXPECT_EQ(result.records, batch.records);
  EXPECT_GT(result.loss, 0);
  for (std::size_t i = 0; i < values.dense.size(); ++i) {
    ExpectNumericalGradient(model, batch, plan, values, values.dense[i], gradients.dense[i],
                            model.variables()[i].name());
  }
  for (std::size_t i = 0; i < values.rows.size(); ++i) {
    ExpectNumericalGradient(model, batch, plan, values, values.rows[i], gradients.rows[i],
                            model.variables()[plan.requests[i].variable].name());
  }
}

}  // namespace pstrain
