#include <pstrain/saved_variables.h>

#include "library/remote/evaluator/saved_state.h"

namespace pstrain {

const std::string& SavedVariables::checkpoint() const { return state_->checkpoint(); }
std::optional<std::int64_t> SavedVariables::mark() const { return state_->mark(); }
const std::string& SavedVariables::user_bytes() const { return state_->user_bytes(); }
bool SavedVariables::is_final() const { return state_->is_final(); }
bool SavedVariables::told_to_stop() const { return state_->told_to_stop(); }

std::vector<SavedVariable> SavedVariables::variables() const { return state_->Variables(); }

Result<Tensor> SavedVariables::Read(const VariableRef& variable) const {
  return state_->Read(variable.name);
}
Result<Tensor> SavedVariables::Lookup(const VariableRef& variable, const Tensor& ids) const {
  return state_->Lookup(variable.name, ids);
}
Result<Tensor> SavedVariables::RowIds(const VariableRef& table) const {
  return state_->RowIds(table.name);
}

}  // namespace pstrain
