#include <pstrain/step.h>

#include "library/api/scopes.h"
#include "library/step_state.h"

namespace pstrain {

Result<Tensor> Step::Read(const VariableRef& variable) {
  const VariableRef* const refs[] = {&variable};
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<Tensor> values, ReadAll(refs));
  return std::move(values.front());
}

Result<std::vector<Tensor>> Step::ReadAll(std::span<const VariableRef* const> variables) {
  return state_.Read(variables);
}

Result<Tensor> Step::Lookup(const VariableRef& variable, const Tensor& ids) {
  const Ids wanted{variable, ids};
  PSTRAIN_ASSIGN_OR_RETURN(std::vector<Tensor> rows, state_.Lookup({&wanted, 1}));
  return std::move(rows.front());
}

Result<std::vector<Tensor>> Step::Lookup(const std::vector<Ids>& wanted) {
  return state_.Lookup(wanted);
}

void Step::Gradient(const VariableRef& variable, const Tensor& gradient) {
  state_.Gradient(variable, gradient);
}
void Step::Assign(const VariableRef& variable, const Tensor& value) {
  state_.Assign(variable, value);
}
void Step::Add(const VariableRef& variable, const Tensor& delta) { state_.Add(variable, delta); }

void Step::Gradient(const VariableRef& variable, const IndexedSlices& gradient) {
  state_.ChangeRows("a gradient", variable, gradient, UpdateOp::kGradient);
}
void Step::Assign(const VariableRef& variable, const IndexedSlices& values) {
  state_.ChangeRows("a value", variable, values, UpdateOp::kAssign);
}
void Step::Add(const VariableRef& variable, const IndexedSlices& deltas) {
  state_.ChangeRows("a value to be added", variable, deltas, UpdateOp::kAdd);
}

std::int64_t Step::worker_index() const { return state_.worker_index(); }
std::int64_t Step::num_replicas_in_sync() const { return program::kReplicas; }
std::stop_token Step::stop_token() const { return state_.stop_token(); }

}  // namespace pstrain
