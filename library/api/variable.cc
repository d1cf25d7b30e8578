#include <pstrain/variable.h>

#include <utility>

#include "library/api/declaration.h"
#include "library/function_registry.h"
#include "library/run.h"

namespace pstrain {

Variable::Variable(std::shared_ptr<program::Run> run, std::string name, Shape shape, DType dtype,
                   std::int64_t partitions)
    : run_(std::move(run)),
      name_(std::move(name)),
      shape_(std::move(shape)),
      dtype_(dtype),
      partitions_(partitions) {}

Result<Variable> Variable::Create(const VariableRef& ref, Shape shape,
                                  initializers::Initializer initializer,
                                  optimizers::Optimizer optimizer, DType dtype) {
  PSTRAIN_ASSIGN_OR_RETURN(program::Declared declared,
                           program::Declare({ref.name, shape, initializer, optimizer, dtype}));
  return Variable(std::move(declared.run), ref.name, std::move(shape), dtype, declared.partitions);
}

std::vector<VariablePartition> Variable::partitions() const {
  return program::PartitionsOf(name_, shape_, partitions_);
}

Status Variable::Assign(const Tensor& value, Deadline deadline) {
  if (value.dtype() != dtype_ || value.shape() != shape_) {
    return InvalidArgumentError("variable " + name_ + ", which is " + DTypeName(dtype_) + " " +
                                shape_.ToString() + ", cannot be assigned " + value.ToString());
  }
  const program::Call call{
      program::FunctionRegistry::kAssign, "string,tensor", {Argument(Tensor(name_)), value}};
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const ClosureState> state,
                           run_->Schedule(call, {.place = CallOptions::Place::kOwnPhase}));
  return state->Wait(program::EndOf(deadline)).status();
}

}  // namespace pstrain
