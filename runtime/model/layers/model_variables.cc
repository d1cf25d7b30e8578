#include "runtime/model/layers/model_variables.h"

#include <algorithm>

#include "runtime/model/layers/unique_ids.h"

namespace pstrain {

ModelVariables::ModelVariables(const Training& training)
    : seed_(training.seed()), optimizer_(training.optimizer()) {}

VariableSpec& ModelVariables::Add(const std::string& name, VariableSpec::Kind kind,
                                  InitialDistribution initial) {
  VariableSpec& variable = specs_.emplace_back();
  variable.set_id(static_cast<std::uint32_t>(specs_.size() - 1));
  variable.set_name(name);
  variable.set_kind(kind);
  variable.mutable_initializer()->set_kind(initial.kind);
  variable.mutable_initializer()->set_scale(initial.scale);
  variable.mutable_initializer()->set_seed(seed_);
  *variable.mutable_optimizer() = optimizer_;
  return variable;
}

std::size_t ModelVariables::AddDense(const std::string& name,
                                     std::initializer_list<std::size_t> shape,
                                     InitialDistribution initial) {
  VariableSpec& variable = Add(name, VariableSpec::DENSE, initial);
  for (const std::size_t size : shape) variable.add_shape(static_cast<std::int64_t>(size));
  dense_.push_back(variable.id());
  return variable.id();
}

std::size_t ModelVariables::AddTable(const std::string& name, std::size_t feature, std::size_t rows,
                                     std::size_t dimension, InitialDistribution initial) {
  VariableSpec& variable = Add(name, VariableSpec::EMBEDDING, initial);
  variable.add_shape(static_cast<std::int64_t>(rows));
  variable.add_shape(static_cast<std::int64_t>(dimension));
  tables_.push_back(variable.id());
  auto tables = std::find_if(by_feature_.begin(), by_feature_.end(),
                             [&](const FeatureTables& of) { return of.feature == feature; });
  if (tables == by_feature_.end()) {
    tables = by_feature_.insert(by_feature_.end(), {.feature = feature, .requests = {}});
  }
  tables->requests.push_back(tables_.size() - 1);
  return tables_.size() - 1;
}

BatchPlan ModelVariables::Plan(const Batch& batch) const {
  BatchPlan plan;
  plan.dense = dense_;
  plan.requests.resize(tables_.size());
  plan.positions.resize(tables_.size());
  plan.offsets.resize(tables_.size());
  for (const FeatureTables& tables : by_feature_) {
    const FeatureColumn& column = batch.features[tables.feature];
    // Sorted once for all tables of the feature: it is the larger part of the work.
    const UniqueIds unique = MakeUnique(column.ids);
    for (const std::size_t request : tables.requests) {
      plan.requests[request] = {tables_[request], unique.rows};
      plan.positions[request] = unique.positions;
      plan.offsets[request] = column.offsets;
    }
  }
  return plan;
}

void ModelVariables::ZeroGradients(const BatchPlan& plan, Parameters& gradients) const {
  gradients.dense.resize(specs_.size());
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    std::size_t size = specs_[i].kind() == VariableSpec::DENSE ? 1 : 0;
    for (const std::int64_t dimension : specs_[i].shape()) {
      size *= static_cast<std::size_t>(dimension);
    }
    gradients.dense[i].assign(size, 0.0F);
  }
  gradients.rows.resize(tables_.size());
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const auto dimension = static_cast<std::size_t>(specs_[tables_[i]].shape(1));
    gradients.rows[i].assign(plan.requests[i].rows.size() * dimension, 0.0F);
  }
}

}  // namespace pstrain
