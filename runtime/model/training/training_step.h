#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/job/psjob.pb.h"
#include "runtime/cluster/role_context.h"
#include "runtime/cluster/try_again.h"
#include "runtime/input/batch_reader.h"
#include "runtime/input/input_index.h"
#include "runtime/model/model.h"
#include "runtime/worker/worker_step.h"

namespace pstrain {

/// The step of spec.training: reads a batch of the input, and computes loss and gradients by a
/// built-in model. Batches, features and models end here: what goes out are variables, rows and
/// arrays. Threads as WorkerStep.
class TrainingStep final : public WorkerStep {
 public:
  TrainingStep(std::unique_ptr<BatchReader> reader, std::shared_ptr<const Model> model,
               std::shared_ptr<const InputIndex> index)
      : reader_(std::move(reader)), model_(std::move(model)), index_(std::move(index)) {}

  Result<PreparedWork> Prepare(WorkId work_id) override;
  StepOutcome Compute(const PreparedWork& work, StepValues& values) override;
  /// DescribeBatch.
  std::string Describe(WorkId work_id) const override;

 private:
  const std::unique_ptr<BatchReader> reader_;  // of Prepare
  const std::shared_ptr<const Model> model_;
  const std::shared_ptr<const InputIndex> index_;
};

/// The step of a worker of that job: loads the index of the run, makes the model, opens the input.
/// Errors name the field, the feature or the file; IsInvalidInput: nobody can use the input as it
/// is. What a disk refuses for a while is tried again for the job's patience; `pause`: how, once
/// the first batch is read. The first bad records that are left out are kept (BadRecordExamples).
Result<std::unique_ptr<WorkerStep>> CreateTrainingStep(const Training& training,
                                                       const RoleContext& context,
                                                       TryAgain::Pause pause);

/// "epoch 0, batch 12 (8 of the records 1 to 64 of data.csv)": blocks are shuffled, so that a
/// batch has records of its whole block.
std::string DescribeBatch(const InputIndex& index, WorkId work_id);

/// What a plan reads, and the gradients of a model, as a step says them. The variables of built-in
/// models are of float32. Pure.
StepAccess AccessOf(const BatchPlan& plan);
StepUpdates UpdatesOf(Parameters gradients);
/// The arrays of `values`, which are of what `plan` reads, themselves, and back.
Parameters TakeParameters(const BatchPlan& plan, StepValues& values);
void GiveBack(const BatchPlan& plan, Parameters parameters, StepValues& values);

}  // namespace pstrain
