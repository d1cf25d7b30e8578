#include <pstrain/step.h>

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

void Step::Gradient(const VariableRef& variable, const Tensor& gradient) {
  state_.Gradient(variable, gradient);
}
void Step::Assign(const VariableRef& variable, const Tensor& value) {
  state_.Assign(variable, value);
}
void Step::Add(const VariableRef& variable, const Tensor& delta) { state_.Add(variable, delta); }

std::int64_t Step::worker_index() const { return state_.worker_index(); }

}  // namespace pstrain
