#include "library/step_runner.h"

#include <utility>

#include "library/data/iterator_state.h"
#include "library/data/resources/resource_source.h"
#include "library/payload.h"
#include "library/step_state.h"

namespace pstrain::program {
Status StepRunner::Declared(const std::vector<VariableSpec>& variables) {
  auto table = std::make_shared<const VariableTable>(TableOf(variables));
  const MutexLock lock(mutex_);
  variables_ = std::move(table);
  return OkStatus();
}

ClosureOutcome StepRunner::Run(const std::string& payload, ClosureReads& reads) {
  Result<Call> call = DecodeCall(payload);
  if (!call.ok()) return ClosureOutcome::Failed(call.status());
  const Result<FunctionRegistry::Entry> function = functions_.Find(call->function, call->signature);
  if (!function.ok()) return ClosureOutcome::Failed(function.status());
  for (Argument& argument : call->arguments) {
    if (const auto* const resource = std::get_if<resource_internal::Handle>(&argument)) {
      argument = ResourceAccess::Of(*resource, &resources_);
      continue;
    }
    const Iterator* const iterator = std::get_if<Iterator>(&argument);
    if (iterator == nullptr) continue;
    // Decoded, so it is of a call.
    ElementBinding binding = *IteratorAccess::StateOf(*iterator).binding();
    argument = BoundTo(std::move(binding), &pipelines_);
  }
  std::shared_ptr<const VariableTable> variables;
  {
    const MutexLock lock(mutex_);
    variables = variables_;
  }
  ClosureOutcome outcome = StepState(*variables, reads, worker_index_, function->options.writes)
                               .Run(function->invoke, call->arguments);
  outcome.function = call->function;
  outcome.atomic = function->options.atomic;
  if (!outcome.status.ok()) outcome.status = outcome.status.WithContext(call->function);
  return outcome;
}

std::string StepRunner::NameOf(const std::string& payload) const {
  const Result<Call> call = DecodeCall(payload);
  return call.ok() ? call->function : std::string();
}

}  // namespace pstrain::program
