#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "library/data/dataset_registry.h"
#include "library/data/pipelines.h"
#include "library/data/resources/resource_registry.h"
#include "library/data/resources/resource_table.h"
#include "library/function_registry.h"
#include "library/variables/variable_table.h"
#include "library/worker/closure_runner.h"

namespace pstrain::program {

/// Runs the functions of a program: a payload names one and brings its arguments, and this has the
/// pipelines that iterators among them read, and the worker's resources. Any thread.
class StepRunner final : public ClosureRunner {
 public:
  /// The registries outlive it.
  StepRunner(const FunctionRegistry& functions, std::int64_t worker_index,
             const DatasetRegistry& datasets = DatasetRegistry::Global(),
             const ResourceRegistry& resources = ResourceRegistry::Global())
      : functions_(functions),
        worker_index_(worker_index),
        pipelines_(datasets),
        resources_(resources, worker_index) {}

  Status Declared(const std::vector<VariableSpec>& variables) override PSTRAIN_EXCLUDES(mutex_);
  ClosureOutcome Run(const std::string& payload, ClosureReads& reads) override
      PSTRAIN_EXCLUDES(mutex_);
  std::string NameOf(const std::string& payload) const override;

 private:
  const FunctionRegistry& functions_;
  const std::int64_t worker_index_;
  Pipelines pipelines_;
  ResourceTable resources_;
  Mutex mutex_;
  std::shared_ptr<const VariableTable> variables_ PSTRAIN_GUARDED_BY(mutex_) =
      std::make_shared<const VariableTable>();
};

}  // namespace pstrain::program
