#include "library/step_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/finite_bits.h"
#include "library/call_guarded.h"
#include "library/payload.h"
#include "runtime/shard/values/update_ops.h"

namespace pstrain::program {
namespace {

/// Over the memory of `values`.
Result<Tensor> ToTensor(const Shape& shape, ValueArray values) {
  const auto kept = std::make_shared<const ValueArray>(std::move(values));
  return Tensor::Over(kept->dtype(), shape, kept->bytes().data(), kept);
}

ValueArray ToArray(const Tensor& tensor) {
  ValueArray values(tensor.dtype(), tensor.size());
  if (!tensor.empty()) {
    std::memcpy(values.bytes().data(), tensor.bytes().data(), tensor.bytes().size());
  }
  return values;
}

/// As a ps adds.
Result<Tensor> Sum(const Tensor& base, const std::vector<Tensor>& added) {
  ValueArray values = ToArray(base);
  for (const Tensor& delta : added) {
    ApplyUpdate(UpdateOp::kAdd, base.dtype(), values.bytes().data(), delta.bytes().data(),
                base.size());
  }
  return ToTensor(base.shape(), std::move(values));
}

bool Finite(const Tensor& tensor) {
  FiniteBits bits;
  if (const auto values = tensor.data<float>(); values.ok()) {
    bits.Add(values->data(), values->size());
  } else if (const auto doubles = tensor.data<double>(); doubles.ok()) {
    bits.Add(doubles->data(), doubles->size());
  }
  return bits.AllFinite();
}

}  // namespace

ClosureOutcome StepState::Run(const function_internal::Invoke& invoke,
                              const std::vector<Argument>& arguments) {
  Step step(*this);
  const Result<Values> returned =
      CallGuarded("the function", [&] { return invoke(step, arguments); });
  ClosureOutcome outcome;
  outcome.status = returned.ok() ? error_ : returned.status();
  if (!outcome.status.ok()) return outcome;
  outcome.result = EncodeResult({*returned, std::move(metrics_)});
  outcome.updates = std::move(updates_);
  return outcome;
}

Result<const ProgramVariable*> StepState::Find(const VariableRef& variable) const {
  const auto found = variables_.find(variable.name);
  if (found != variables_.end()) return &found->second;
  return NotFoundError("no variable " + variable.name +
                       " is declared; declare it before the function is scheduled");
}

Result<std::vector<Tensor>> StepState::Read(std::span<const VariableRef* const> variables) {
  StepAccess access;
  std::vector<const ProgramVariable*> found;
  for (const VariableRef* ref : variables) {
    PSTRAIN_ASSIGN_OR_RETURN(const ProgramVariable* variable, Find(*ref));
    const Overlay& overlay = overlays_[variable->id];
    if (overlay.unknown) {
      return FailedPreconditionError("variable " + ref->name +
                                     " is read after a gradient of it in the same function, and "
                                     "only its ps knows what it makes of that; read it before");
    }
    if (!overlay.assigned) access.dense.push_back(variable->id);
    found.push_back(variable);
  }
  std::ranges::sort(access.dense);
  const auto [first, last] = std::ranges::unique(access.dense);
  access.dense.erase(first, last);
  StepValues pulled;
  if (!access.dense.empty()) {
    PSTRAIN_ASSIGN_OR_RETURN(pulled, reads_.Read(access));
  }
  std::map<VariableId, Tensor> bases;
  for (std::size_t i = 0; i < access.dense.size(); ++i) {
    const VariableId id = access.dense[i];
    const auto is_it = [id](const ProgramVariable* variable) { return variable->id == id; };
    const ProgramVariable& variable = **std::ranges::find_if(found, is_it);
    PSTRAIN_ASSIGN_OR_RETURN(bases[id], ToTensor(variable.shape, std::move(pulled.dense[i])));
  }
  std::vector<Tensor> read;
  for (const ProgramVariable* variable : found) {
    const Overlay& overlay = overlays_[variable->id];
    Tensor value = overlay.assigned ? *overlay.assigned : bases[variable->id];
    if (!overlay.added.empty()) {
      PSTRAIN_ASSIGN_OR_RETURN(value, Sum(value, overlay.added));
    }
    read.push_back(std::move(value));
  }
  return read;
}

const ProgramVariable* StepState::Accept(const char* what, const VariableRef& variable,
                                         const Tensor& tensor) {
  const Result<const ProgramVariable*> found = Find(variable);
  if (!found.ok()) {
    Refuse(found.status());
    return nullptr;
  }
  if (tensor.dtype() == (*found)->dtype && tensor.shape() == (*found)->shape) {
    if (Finite(tensor)) return *found;
    Refuse(OutOfRangeError(std::string(what) + " of variable " + variable.name +
                           " is infinite or not a number"));
    return nullptr;
  }
  Refuse(InvalidArgumentError(std::string(what) + " of " + tensor.ToString() + " for variable " +
                              variable.name + ", which is " + DTypeName((*found)->dtype) + " " +
                              (*found)->shape.ToString()));
  return nullptr;
}

void StepState::Refuse(Status error) {
  if (error_.ok()) error_ = std::move(error);
}

void StepState::Push(const ProgramVariable& variable, const Tensor& tensor, UpdateOp op) {
  updates_.dense.push_back({variable.id, ToArray(tensor), op});
}

void StepState::Gradient(const VariableRef& variable, const Tensor& gradient) {
  const ProgramVariable* const found = Accept("a gradient", variable, gradient);
  if (found == nullptr) return;
  if (!found->has_optimizer) {
    return Refuse(InvalidArgumentError("a gradient of variable " + variable.name +
                                       ", which has no optimizer; declare it with one"));
  }
  overlays_[found->id] = {.unknown = true};
  Push(*found, gradient, UpdateOp::kGradient);
}

void StepState::Assign(const VariableRef& variable, const Tensor& value) {
  const ProgramVariable* const found = Accept("a value", variable, value);
  if (found == nullptr) return;
  overlays_[found->id] = {.assigned = value};
  Push(*found, value, UpdateOp::kAssign);
}

void StepState::Add(const VariableRef& variable, const Tensor& delta) {
  const ProgramVariable* const found = Accept("a value to be added", variable, delta);
  if (found == nullptr) return;
  overlays_[found->id].added.push_back(delta);
  Push(*found, delta, UpdateOp::kAdd);
}

void StepState::AddToMetric(const std::string& name, double numerator, double denominator) {
  if (name.empty()) return Refuse(InvalidArgumentError("a metric has to have a name"));
  auto found = std::ranges::find(metrics_, name, &MetricSum::name);
  if (found == metrics_.end()) {
    metrics_.push_back({.name = name});
    found = metrics_.end() - 1;
  }
  found->numerator += numerator;
  found->denominator += denominator;
  if (std::isfinite(found->numerator) && std::isfinite(found->denominator)) return;
  Refuse(OutOfRangeError("what is added to metric " + name + " is infinite or not a number"));
}

}  // namespace pstrain::program
