#include <pstrain/variable.h>

#include <utility>

#include "library/api/scopes.h"
#include "library/function_registry.h"
#include "library/run.h"

namespace pstrain {
namespace {

pstrain::Initializer::Kind KindOf(initializers::Initializer::Kind kind) {
  switch (kind) {
    case initializers::Initializer::Kind::kUniform:
      return pstrain::Initializer::UNIFORM;
    case initializers::Initializer::Kind::kTruncatedNormal:
      return pstrain::Initializer::TRUNCATED_NORMAL;
    case initializers::Initializer::Kind::kZeros:
      break;
  }
  return pstrain::Initializer::ZEROS;
}

/// Fills the message that a variable's optimizer is declared by.
class SetOptimizer {
 public:
  explicit SetOptimizer(VariableSpec& spec) : spec_(spec) {}

  void operator()(const optimizers::None&) const {}
  void operator()(const optimizers::Sgd& sgd) const {
    pstrain::Sgd* const to = spec_.mutable_optimizer()->mutable_sgd();
    to->set_learning_rate(sgd.learning_rate);
    to->set_momentum(sgd.momentum);
    to->set_nesterov(sgd.nesterov);
  }
  void operator()(const optimizers::Adagrad& from) const {
    Adagrad* const adagrad = spec_.mutable_optimizer()->mutable_adagrad();
    adagrad->set_learning_rate(from.learning_rate);
    adagrad->set_initial_accumulator_value(from.initial_accumulator_value);
    adagrad->set_epsilon(from.epsilon);
  }
  void operator()(const optimizers::Ftrl& from) const {
    Ftrl* const ftrl = spec_.mutable_optimizer()->mutable_ftrl();
    ftrl->set_learning_rate(from.learning_rate);
    ftrl->set_learning_rate_power(from.learning_rate_power);
    ftrl->set_initial_accumulator_value(from.initial_accumulator_value);
    ftrl->set_l1_regularization_strength(from.l1_regularization_strength);
    ftrl->set_l2_regularization_strength(from.l2_regularization_strength);
    ftrl->set_l2_shrinkage_regularization_strength(from.l2_shrinkage_regularization_strength);
    ftrl->set_beta(from.beta);
  }
  void operator()(const optimizers::Adam& from) const {
    pstrain::Adam* const adam = spec_.mutable_optimizer()->mutable_adam();
    SetMoments(from, adam);
    adam->set_amsgrad(from.amsgrad);
  }
  void operator()(const optimizers::AdamW& from) const {
    pstrain::AdamW* const adam_w = spec_.mutable_optimizer()->mutable_adam_w();
    SetMoments(from, adam_w);
    adam_w->set_weight_decay(from.weight_decay);
    adam_w->set_amsgrad(from.amsgrad);
  }
  void operator()(const optimizers::Lion& from) const {
    pstrain::Lion* const lion = spec_.mutable_optimizer()->mutable_lion();
    lion->set_learning_rate(from.learning_rate);
    lion->set_beta_1(from.beta_1);
    lion->set_beta_2(from.beta_2);
  }
  void operator()(const optimizers::Rmsprop& from) const {
    pstrain::Rmsprop* const rmsprop = spec_.mutable_optimizer()->mutable_rmsprop();
    rmsprop->set_learning_rate(from.learning_rate);
    rmsprop->set_rho(from.rho);
    rmsprop->set_momentum(from.momentum);
    rmsprop->set_epsilon(from.epsilon);
    rmsprop->set_centered(from.centered);
  }
  void operator()(const optimizers::Adadelta& from) const {
    pstrain::Adadelta* const adadelta = spec_.mutable_optimizer()->mutable_adadelta();
    adadelta->set_learning_rate(from.learning_rate);
    adadelta->set_rho(from.rho);
    adadelta->set_epsilon(from.epsilon);
  }
  void operator()(const optimizers::Adamax& from) const {
    SetMoments(from, spec_.mutable_optimizer()->mutable_adamax());
  }
  void operator()(const optimizers::Nadam& from) const {
    SetMoments(from, spec_.mutable_optimizer()->mutable_nadam());
  }

 private:
  /// What Adam and its kin have in common.
  template <typename From, typename To>
  static void SetMoments(const From& from, To* to) {
    to->set_learning_rate(from.learning_rate);
    to->set_beta_1(from.beta_1);
    to->set_beta_2(from.beta_2);
    to->set_epsilon(from.epsilon);
  }

  VariableSpec& spec_;
};

/// What the catalog looks at is left to it.
Status CheckDeclaration(const VariableRef& ref, const Shape& shape, DType dtype) {
  if (ref.name.empty()) return InvalidArgumentError("a variable has to have a name");
  PSTRAIN_RETURN_IF_ERROR(shape.Check().WithContext(ref.name));
  if (!shape.is_fully_defined()) {
    return InvalidArgumentError("variable " + ref.name + " of shape " + shape.ToString() +
                                ": each size has to be known");
  }
  if (dtype == DType::kBool || dtype == DType::kString) {
    return InvalidArgumentError("variable " + ref.name + " of " + DTypeName(dtype) +
                                ": variables are float32, float64, int32 or int64");
  }
  return OkStatus();
}

}  // namespace

Variable::Variable(std::shared_ptr<program::Run> run, std::string name, Shape shape, DType dtype)
    : run_(std::move(run)), name_(std::move(name)), shape_(std::move(shape)), dtype_(dtype) {}

Result<Variable> Variable::Create(const VariableRef& ref, Shape shape,
                                  initializers::Initializer initializer,
                                  optimizers::Optimizer optimizer, DType dtype) {
  std::shared_ptr<program::Run> run = program::CurrentScope();
  if (run == nullptr) {
    return FailedPreconditionError("variable " + ref.name +
                                   " is declared outside of a scope; hold strategy.Scope()");
  }
  PSTRAIN_RETURN_IF_ERROR(CheckDeclaration(ref, shape, dtype));
  VariableSpec spec;
  spec.set_name(ref.name);
  spec.set_kind(VariableSpec::DENSE);
  for (const std::int64_t size : shape.sizes()) spec.add_shape(size);
  spec.set_dtype(static_cast<VariableSpec::DataType>(dtype));
  spec.mutable_initializer()->set_kind(KindOf(initializer.kind));
  spec.mutable_initializer()->set_scale(initializer.scale);
  spec.mutable_initializer()->set_seed(initializer.seed);
  std::visit(SetOptimizer(spec), optimizer);
  PSTRAIN_RETURN_IF_ERROR(run->Declare(spec));
  return Variable(std::move(run), ref.name, std::move(shape), dtype);
}

Status Variable::Assign(const Tensor& value, Deadline deadline) {
  if (value.dtype() != dtype_ || value.shape() != shape_) {
    return InvalidArgumentError("variable " + name_ + ", which is " + DTypeName(dtype_) + " " +
                                shape_.ToString() + ", cannot be assigned " + value.ToString());
  }
  const program::Call call{
      program::FunctionRegistry::kAssign, "string,tensor", {Argument(Tensor(name_)), value}};
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const ClosureState> state,
                           run_->Schedule(call, ClosureQueue::Place::kOwnPhase));
  return state->Wait(program::EndOf(deadline)).status();
}

}  // namespace pstrain
