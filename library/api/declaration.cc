#include "library/api/declaration.h"

#include <utility>

#include "library/api/scopes.h"
#include "library/call_guarded.h"
#include "library/run.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/requests/partition_count.h"

namespace pstrain::program {
namespace {

/// Of one variable; a run has 4096 shards at most, so that more serve nothing.
constexpr std::int64_t kMostPartitions = 4096;

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
Status Check(const Declaration& declaration) {
  const auto& [name, shape, initializer, optimizer, dtype, table] = declaration;
  if (name.empty()) return InvalidArgumentError("a variable has to have a name");
  PSTRAIN_RETURN_IF_ERROR(shape.Check().WithContext(name));
  if (!shape.is_fully_defined()) {
    return InvalidArgumentError("variable " + name + " of shape " + shape.ToString() +
                                ": each size has to be known" +
                                (table ? "; rows that nobody touches cost nothing" : ""));
  }
  if (dtype == DType::kBool || dtype == DType::kString) {
    return InvalidArgumentError("variable " + name + " of " + DTypeName(dtype) +
                                ": variables are float32, float64, int32 or int64");
  }
  return OkStatus();
}

/// The partitioner may be the program's own.
Result<std::int64_t> PartitionsOf(const Declaration& declaration, const Partitioner& partitioner) {
  Result<std::int64_t> partitions = CallGuarded("the partitioner", [&] {
    return partitioner.Partitions(declaration.shape, declaration.dtype);
  });
  if (!partitions.ok()) return partitions.status().WithContext("variable " + declaration.name);
  if (*partitions <= kMostPartitions) return partitions;
  return InvalidArgumentError("variable " + declaration.name + ": its partitioner says " +
                              std::to_string(*partitions) + " partitions, and there are " +
                              std::to_string(kMostPartitions) + " at most");
}

}  // namespace

Result<Declared> Declare(const Declaration& declaration) {
  Declared declared{.run = CurrentScope()};
  const std::string& name = declaration.name;
  if (declared.run == nullptr) {
    return FailedPreconditionError("variable " + name +
                                   " is declared outside of a scope; hold strategy.Scope()");
  }
  PSTRAIN_RETURN_IF_ERROR(Check(declaration));
  VariableSpec spec;
  spec.set_name(name);
  spec.set_kind(declaration.table ? VariableSpec::EMBEDDING : VariableSpec::DENSE);
  for (const std::int64_t size : declaration.shape.sizes()) spec.add_shape(size);
  spec.set_dtype(static_cast<VariableSpec::DataType>(declaration.dtype));
  spec.mutable_initializer()->set_kind(KindOf(declaration.initializer.kind));
  spec.mutable_initializer()->set_scale(declaration.initializer.scale);
  spec.mutable_initializer()->set_seed(declaration.initializer.seed);
  std::visit(SetOptimizer(spec), declaration.optimizer);
  if (!declaration.table) {
    PSTRAIN_ASSIGN_OR_RETURN(declared.partitions,
                             PartitionsOf(declaration, declared.run->partitioner()));
    for (std::int64_t i = 0; i < declared.partitions; ++i) spec.add_partitions();
  }
  PSTRAIN_RETURN_IF_ERROR(declared.run->Declare(spec));
  return declared;
}

std::vector<VariablePartition> PartitionsOf(const std::string& name, const Shape& shape,
                                            std::int64_t partitions) {
  if (partitions == 1) return {{.name = name, .shape = shape}};
  std::vector<VariablePartition> parts;
  for (std::int64_t i = 0; i < partitions; ++i) {
    const RowRange rows = PartitionRows(shape[0], partitions, i);
    std::vector<std::int64_t> sizes = shape.sizes();
    sizes[0] = rows.size;
    parts.push_back({.name = name + "/part_" + std::to_string(i),
                     .offset = rows.begin,
                     .shape = Shape(std::move(sizes))});
  }
  return parts;
}

}  // namespace pstrain::program
