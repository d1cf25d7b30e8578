#include "tests/runtime/model/in_memory_store.h"

#include <cmath>
#include <utility>

#include "base/random.h"

namespace pstrain {

InMemoryStore::InMemoryStore(std::vector<VariableSpec> variables)
    : variables_(std::move(variables)), dense_(variables_.size()), tables_(variables_.size()) {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].kind() != VariableSpec::DENSE) continue;
    std::size_t count = 1;
    for (const std::int64_t size : variables_[i].shape()) count *= static_cast<std::size_t>(size);
    dense_[i] = Initial(variables_[i], 0, count);
  }
}

InMemoryStore::Cells InMemoryStore::Initial(const VariableSpec& variable, std::uint64_t first,
                                            std::size_t count) const {
  Cells cells;
  const Initializer& initializer = variable.initializer();
  for (std::size_t i = 0; i < count; ++i) {
    Rng rng(Mix64(Mix64(static_cast<std::uint64_t>(initializer.seed()), variable.id()), first + i));
    double value = 0;
    if (initializer.kind() == Initializer::UNIFORM) {
      value = (2 * rng.NextDouble() - 1) * initializer.scale();
    } else if (initializer.kind() == Initializer::TRUNCATED_NORMAL) {
      do {
        value = rng.NextGaussian();
      } while (std::abs(value) > 2);
      value *= initializer.scale();
    }
    cells.values.push_back(static_cast<float>(value));
  }
  cells.accumulators.assign(
      count, static_cast<float>(variable.optimizer().adagrad().initial_accumulator_value()));
  return cells;
}

InMemoryStore::Cells& InMemoryStore::Row(const VariableSpec& variable, std::uint64_t row) {
  auto& table = tables_[variable.id()];
  const auto found = table.find(row);
  if (found != table.end()) return found->second;
  const auto dimension = static_cast<std::size_t>(variable.shape(1));
  return table.emplace(row, Initial(variable, row * dimension, dimension)).first->second;
}

Parameters InMemoryStore::Pull(const BatchPlan& plan) {
  Parameters parameters;
  for (const Cells& cells : dense_) parameters.dense.push_back(cells.values);
  for (const RowRequest& request : plan.requests) {
    std::vector<float>& rows = parameters.rows.emplace_back();
    for (const std::uint64_t row : request.rows) {
      const Cells& cells = Row(variables_[request.variable], row);
      rows.insert(rows.end(), cells.values.begin(), cells.values.end());
    }
  }
  return parameters;
}

void InMemoryStore::Apply(const Optimizer& optimizer, const float* gradients, Cells& cells) {
  for (std::size_t i = 0; i < cells.values.size(); ++i) {
    const float g = gradients[i];
    if (optimizer.has_sgd()) {
      cells.values[i] -= static_cast<float>(optimizer.sgd().learning_rate()) * g;
      continue;
    }
    const Adagrad& adagrad = optimizer.adagrad();
    cells.accumulators[i] += g * g;
    cells.values[i] -= static_cast<float>(adagrad.learning_rate()) * g /
                       (std::sqrt(cells.accumulators[i]) + static_cast<float>(adagrad.epsilon()));
  }
}

void InMemoryStore::Push(const BatchPlan& plan, const Parameters& gradients) {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].kind() != VariableSpec::DENSE) continue;
    Apply(variables_[i].optimizer(), gradients.dense[i].data(), dense_[i]);
  }
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const VariableSpec& variable = variables_[plan.requests[i].variable];
    const auto dimension = static_cast<std::size_t>(variable.shape(1));
    for (std::size_t k = 0; k < plan.requests[i].rows.size(); ++k) {
      Apply(variable.optimizer(), gradients.rows[i].data() + k * dimension,
            Row(variable, plan.requests[i].rows[k]));
    }
  }
}

}  // namespace pstrain
