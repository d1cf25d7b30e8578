#pragma once

#include <pstrain/function.h>
#include <pstrain/step.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "library/coordinator/metric_table.h"
#include "library/variables/row_changes.h"
#include "library/variables/variable_table.h"
#include "library/worker/closure_runner.h"

namespace pstrain::program {

/// What is behind a Step: reads go out when they are made, changes are collected in the order of
/// the calls. Lives for one attempt of one closure, on its thread.
class StepState {
 public:
  /// All outlives it.
  StepState(const VariableTable& variables, ClosureReads& reads, std::int64_t worker_index,
            bool writes = true)
      : variables_(variables), reads_(reads), worker_index_(worker_index), writes_(writes) {}

  /// Runs a function with this state and says what it has come to: its own error, the first one of
  /// what it wanted to change, or what it changes and returns.
  ClosureOutcome Run(const function_internal::Invoke& invoke,
                     const std::vector<Argument>& arguments);

  /// As Step.
  Result<std::vector<Tensor>> Read(std::span<const VariableRef* const> variables);
  Result<std::vector<Tensor>> Lookup(std::span<const Step::Ids> wanted);
  void Gradient(const VariableRef& variable, const Tensor& gradient);
  void Assign(const VariableRef& variable, const Tensor& value);
  void Add(const VariableRef& variable, const Tensor& delta);
  /// Gradient, Assign or Add of rows; `what` is for the error.
  void ChangeRows(const char* what, const VariableRef& variable, const IndexedSlices& slices,
                  UpdateOp op);
  std::int64_t worker_index() const { return worker_index_; }
  std::stop_token stop_token() const { return reads_.StopToken(); }
  /// As StepMetric::Add.
  void AddToMetric(const std::string& name, double numerator, double denominator);

 private:
  /// What this step has made of a variable that it reads after it.
  struct Overlay {
    /// A gradient came last: only the ps knows what it makes of it.
    bool unknown = false;
    std::optional<Tensor> assigned = std::nullopt;
    /// Since then, in order.
    std::vector<Tensor> added = {};

    bool empty() const { return !unknown && !assigned && added.empty(); }
  };
  /// What a lookup has to be told of one variable.
  struct Wanted {
    const ProgramVariable* variable = nullptr;
    NamedRows named;
    /// Nothing: the rows are taken from `whole`, which the step has changed.
    std::optional<std::size_t> request = std::nullopt;
    Tensor whole = Tensor();
  };

  Result<const ProgramVariable*> Find(const VariableRef& variable) const;
  Result<Wanted> Want(const Step::Ids& ids, StepAccess* access);
  Result<Tensor> RowsOf(const Step::Ids& ids, Wanted wanted, StepValues* pulled) const;
  /// The variable, when it takes such a tensor; else remembers why not and returns null.
  const ProgramVariable* Accept(const char* what, const VariableRef& variable,
                                const Tensor& tensor);
  bool HasOptimizer(const VariableRef& ref, const ProgramVariable& variable);
  void Push(const ProgramVariable& variable, const Tensor& tensor, UpdateOp op);
  void Refuse(Status error);
  /// Remembers that this function may change nothing; true: it may.
  bool MayChange(const char* what, const VariableRef& variable);

  const VariableTable& variables_;
  ClosureReads& reads_;
  const std::int64_t worker_index_;
  const bool writes_;  // as FunctionOptions
  Status error_;
  std::map<VariableId, Overlay> overlays_;
  RowChanges rows_;
  StepUpdates updates_;
  std::vector<MetricSum> metrics_;
};

}  // namespace pstrain::program
