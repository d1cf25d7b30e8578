#include "library/step_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/finite_bits.h"
#include "library/call_guarded.h"
#include "library/payload.h"
#include "library/variables/tensor_array.h"
#include "runtime/shard/values/update_ops.h"

namespace pstrain::program {
namespace {

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

/// `of` and `are`: "rows of variable w", "are".
Status CheckFits(const std::string& what, const std::string& of, const char* are, DType dtype,
                 const Shape& shape, const Tensor& tensor) {
  if (tensor.dtype() != dtype || tensor.shape() != shape) {
    return InvalidArgumentError(what + " of " + tensor.ToString() + " for " + of + ", which " +
                                are + " " + DTypeName(dtype) + " " + shape.ToString());
  }
  if (Finite(tensor)) return OkStatus();
  return OutOfRangeError(what + " of " + of + " is infinite or not a number");
}

Status ReadAfterAGradient(const VariableRef& variable) {
  return FailedPreconditionError("variable " + variable.name +
                                 " is read after a gradient of it in the same function, and only "
                                 "its ps knows what it makes of that; read it before");
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
  std::move(rows_).MoveTo(&outcome.access, &outcome.updates);
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
    if (variable->table) {
      return InvalidArgumentError("embedding table " + ref->name +
                                  " cannot be read whole; look its rows up");
    }
    const Overlay& overlay = overlays_[variable->id];
    if (overlay.unknown) return ReadAfterAGradient(*ref);
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
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ProgramVariable* const variable = found[i];
    const Overlay& overlay = overlays_[variable->id];
    Tensor value = overlay.assigned ? *overlay.assigned : bases[variable->id];
    if (!overlay.added.empty()) {
      PSTRAIN_ASSIGN_OR_RETURN(value, Sum(value, overlay.added));
    }
    if (rows_.Of(variable->id)) {
      ValueArray values = ToArray(value);
      if (!rows_.ApplyToAll(*variable, &values)) return ReadAfterAGradient(*variables[i]);
      PSTRAIN_ASSIGN_OR_RETURN(value, ToTensor(variable->shape, std::move(values)));
    }
    read.push_back(std::move(value));
  }
  return read;
}

Result<StepState::Wanted> StepState::Want(const Step::Ids& ids, StepAccess* access) {
  Wanted wanted;
  PSTRAIN_ASSIGN_OR_RETURN(wanted.variable, Find(ids.variable));
  PSTRAIN_ASSIGN_OR_RETURN(wanted.named,
                           NamedRows::Of(ids.variable.name, *wanted.variable, ids.ids));
  if (!overlays_[wanted.variable->id].empty()) {
    const VariableRef* const refs[] = {&ids.variable};
    PSTRAIN_ASSIGN_OR_RETURN(std::vector<Tensor> whole, Read(refs));
    wanted.whole = std::move(whole.front());
    return wanted;
  }
  wanted.request = access->requests.size();
  access->requests.push_back({wanted.variable->id, wanted.named.rows});
  return wanted;
}

Result<Tensor> StepState::RowsOf(const Step::Ids& ids, Wanted wanted, StepValues* pulled) const {
  const ProgramVariable& variable = *wanted.variable;
  std::vector<std::uint64_t> places(wanted.named.places.begin(), wanted.named.places.end());
  const std::byte* from = wanted.whole.bytes().data();
  if (wanted.request) {
    ValueArray& rows = pulled->rows[*wanted.request];
    if (!rows_.ApplyTo(variable, wanted.named.rows, &rows)) return ReadAfterAGradient(ids.variable);
    from = rows.bytes().data();
  } else {
    for (std::uint64_t& place : places) place = wanted.named.rows[place];
  }
  ValueArray values(variable.dtype, places.size() * variable.row_elements());
  const std::size_t row_bytes = variable.row_elements() * DTypeSize(variable.dtype);
  std::byte* to = values.bytes().data();
  for (const std::uint64_t place : places) {
    std::memcpy(to, from + place * row_bytes, row_bytes);
    to += row_bytes;
  }
  return ToTensor(ShapeOfRows(ids.ids, variable), std::move(values));
}

Result<std::vector<Tensor>> StepState::Lookup(std::span<const Step::Ids> wanted) {
  StepAccess access;
  std::vector<Wanted> all;
  bool asks = false;
  for (const Step::Ids& ids : wanted) {
    PSTRAIN_ASSIGN_OR_RETURN(Wanted one, Want(ids, &access));
    asks = asks || (one.request && !one.named.rows.empty());
    all.push_back(std::move(one));
  }
  StepValues pulled;
  pulled.rows.resize(access.requests.size());
  if (asks) {
    PSTRAIN_ASSIGN_OR_RETURN(pulled, reads_.Read(access));
  }
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    PSTRAIN_ASSIGN_OR_RETURN(Tensor of_one, RowsOf(wanted[i], std::move(all[i]), &pulled));
    rows.push_back(std::move(of_one));
  }
  return rows;
}

void StepState::ChangeRows(const char* what, const VariableRef& variable,
                           const IndexedSlices& slices, UpdateOp op) {
  if (!MayChange(what, variable)) return;
  const Result<const ProgramVariable*> found = Find(variable);
  if (!found.ok()) return Refuse(found.status());
  Result<NamedRows> named = NamedRows::Of(variable.name, **found, slices.indices);
  if (!named.ok()) return Refuse(named.status().WithContext(what));
  const Status fits = CheckFits(what, "rows of variable " + variable.name, "are", (*found)->dtype,
                                ShapeOfRows(slices.indices, **found), slices.values);
  if (!fits.ok()) return Refuse(fits);
  if (op == UpdateOp::kGradient && !HasOptimizer(variable, **found)) return;
  rows_.Add(**found, op, *std::move(named), slices.values);
}

const ProgramVariable* StepState::Accept(const char* what, const VariableRef& variable,
                                         const Tensor& tensor) {
  if (!MayChange(what, variable)) return nullptr;
  const Result<const ProgramVariable*> found = Find(variable);
  const Status status = [&]() -> Status {
    PSTRAIN_RETURN_IF_ERROR(found.status());
    if ((*found)->table) {
      return InvalidArgumentError(std::string(what) + " of embedding table " + variable.name +
                                  ", which is changed by rows: give IndexedSlices");
    }
    PSTRAIN_RETURN_IF_ERROR(CheckFits(what, "variable " + variable.name, "is", (*found)->dtype,
                                      (*found)->shape, tensor));
    if (!rows_.Of((*found)->id)) return OkStatus();
    return FailedPreconditionError(std::string(what) + " of variable " + variable.name +
                                   " after rows of it were changed in the same function; change "
                                   "the whole variable before its rows");
  }();
  if (status.ok()) return *found;
  Refuse(status);
  return nullptr;
}

bool StepState::MayChange(const char* what, const VariableRef& variable) {
  if (writes_) return true;
  Refuse(FailedPreconditionError(std::string(what) + " of variable " + variable.name +
                                 ", and the function is registered with writes = false; register "
                                 "it without FunctionOptions.writes"));
  return false;
}

void StepState::Refuse(Status error) {
  if (error_.ok()) error_ = std::move(error);
}

bool StepState::HasOptimizer(const VariableRef& ref, const ProgramVariable& variable) {
  if (variable.has_optimizer) return true;
  Refuse(InvalidArgumentError("a gradient of variable " + ref.name +
                              ", which has no optimizer; declare it with one"));
  return false;
}

void StepState::Push(const ProgramVariable& variable, const Tensor& tensor, UpdateOp op) {
  updates_.dense.push_back({variable.id, ToArray(tensor), op});
}

void StepState::Gradient(const VariableRef& variable, const Tensor& gradient) {
  const ProgramVariable* const found = Accept("a gradient", variable, gradient);
  if (found == nullptr) return;
  if (!HasOptimizer(variable, *found)) return;
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
