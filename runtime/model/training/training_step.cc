#include "runtime/model/training/training_step.h"

#include <utility>

#include "runtime/cluster/permanent_failure.h"
#include "runtime/model/training/bad_record_examples.h"
#include "runtime/model/training/patient_reader.h"

namespace pstrain {
namespace {

struct BatchInput final : StepInput {
  Batch batch;
  BatchPlan plan;
};

/// The index that the chief has written. Not IsInvalidInput: that a worker does not find it is no
/// fault of the input, and who puts it back helps the next attempt.
Result<std::shared_ptr<const InputIndex>> IndexOfRun(const RoleContext& context) {
  Result<InputIndex> loaded =
      TryAgain(context, {"worker", "the input index cannot be read now"})
          .Until([&] { return LoadInputIndex(context.run_directory() / "index"); },
                 TryAgain::ReadMayPass);
  if (loaded.ok()) return std::make_shared<const InputIndex>(*std::move(loaded));
  if (!IsInvalidInput(loaded.status())) return loaded.status();
  return FailedPreconditionError(loaded.status().message());
}

}  // namespace

StepAccess AccessOf(const BatchPlan& plan) {
  StepAccess access;
  access.dense = plan.dense;
  access.requests.reserve(plan.requests.size());
  for (const RowRequest& request : plan.requests) {
    access.requests.push_back({request.variable, request.rows});
  }
  return access;
}

Parameters TakeParameters(const BatchPlan& plan, StepValues& values) {
  Parameters parameters;
  parameters.dense.resize(plan.dense.empty() ? 0 : plan.dense.back() + 1);
  for (std::size_t i = 0; i < plan.dense.size(); ++i) {
    parameters.dense[plan.dense[i]] = std::move(values.dense[i].of<float>());
  }
  for (ValueArray& rows : values.rows) parameters.rows.push_back(std::move(rows.of<float>()));
  return parameters;
}

void GiveBack(const BatchPlan& plan, Parameters parameters, StepValues& values) {
  for (std::size_t i = 0; i < plan.dense.size(); ++i) {
    values.dense[i].of<float>() = std::move(parameters.dense[plan.dense[i]]);
  }
  for (std::size_t i = 0; i < values.rows.size(); ++i) {
    values.rows[i].of<float>() = std::move(parameters.rows[i]);
  }
}

StepUpdates UpdatesOf(Parameters gradients) {
  StepUpdates updates;
  for (std::size_t id = 0; id < gradients.dense.size(); ++id) {
    if (gradients.dense[id].empty()) continue;
    updates.dense.push_back({static_cast<VariableId>(id), std::move(gradients.dense[id])});
  }
  for (std::size_t request = 0; request < gradients.rows.size(); ++request) {
    updates.rows.push_back({request, std::move(gradients.rows[request])});
  }
  return updates;
}

Result<PreparedWork> TrainingStep::Prepare(WorkId work_id) {
  auto input = std::make_unique<BatchInput>();
  PSTRAIN_ASSIGN_OR_RETURN(input->batch, reader_->Read(work_id));
  input->plan = model_->Plan(input->batch);
  PreparedWork work;
  work.access = AccessOf(input->plan);
  work.records = index_->RecordCount(work_id);
  work.skipped = input->batch.skipped;
  work.input = std::move(input);
  return work;
}

StepOutcome TrainingStep::Compute(const PreparedWork& work, StepValues& values) {
  const auto& input = static_cast<const BatchInput&>(*work.input);
  Parameters parameters = TakeParameters(input.plan, values);
  Parameters gradients;
  const StepResult result = model_->Step(input.batch, input.plan, parameters, &gradients);
  GiveBack(input.plan, std::move(parameters), values);
  return {result.loss, UpdatesOf(std::move(gradients))};
}

std::string TrainingStep::Describe(WorkId work_id) const { return DescribeBatch(*index_, work_id); }

Result<std::unique_ptr<WorkerStep>> CreateTrainingStep(const Training& training,
                                                       const RoleContext& context,
                                                       TryAgain::Pause pause) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<const InputIndex> index, IndexOfRun(context));
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model, CreateModel(training));
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<const FeatureSet> features,
                           CreateFeatures(training, *model));
  const auto examples = std::make_shared<BadRecordExamples>(context);
  PSTRAIN_ASSIGN_OR_RETURN(std::unique_ptr<BatchReader> reader,
                           BatchReader::Create(training.input(), std::move(features), index,
                                               {.scratch = context.scratch,
                                                .on_bad = [examples](const std::string& what) {
                                                  examples->Add(what);
                                                }}));
  auto patient =
      std::make_unique<PatientReader>(std::move(reader), context.peer_timeout(), std::move(pause));
  return std::unique_ptr<WorkerStep>(
      std::make_unique<TrainingStep>(std::move(patient), std::move(model), index));
}

std::string DescribeBatch(const InputIndex& index, WorkId work_id) {
  std::string text =
      "epoch " + std::to_string(work_id.epoch) + ", batch " + std::to_string(work_id.batch);
  const Result<BatchPlace> place = index.Place(work_id);
  if (!place.ok()) return text;
  const InputBlock& block = index.blocks()[place->block];
  return text + " (" + std::to_string(place->records) + " of the records " +
         std::to_string(block.first_record + 1) + " to " +
         std::to_string(block.first_record + block.records) + " of " +
         index.files()[block.file].path + ")";
}

}  // namespace pstrain
