// The whole of data, model and metrics in one process, on the example job.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>

#include "base/os/files.h"
#include "proto/job/job_manifest.h"
#include "runtime/evaluator/metrics.h"
#include "runtime/features/feature_set.h"
#include "runtime/input/batch_reader.h"
#include "runtime/model/model.h"
#include "tests/runtime/model/in_memory_store.h"

namespace pstrain {
namespace {

/// The example's files, where the manifest has their paths inside a container.
void UseLocalFiles(const std::string& folder, Input& input) {
  for (std::string& file : *input.mutable_csv()->mutable_files()) {
    file = JoinPath(folder, BaseName(file));
  }
}

Status TrainEpoch(const Model& model, const InputIndex& index, std::uint32_t epoch,
                  BatchReader& reader, InMemoryStore& store) {
  for (const std::uint32_t number : index.WorkIdOrder(epoch)) {
    PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, reader.Read({epoch, number}));
    const BatchPlan plan = model.Plan(batch);
    Parameters gradients;
    model.Step(batch, plan, store.Pull(plan), &gradients);
    store.Push(plan, gradients);
  }
  return OkStatus();
}

Result<MetricValues> Evaluate(const Model& model, SequentialReader& reader, InMemoryStore& store) {
  BinaryMetrics metrics;
  while (true) {
    PSTRAIN_ASSIGN_OR_RETURN(const Batch batch, reader.Next(1024));
    if (batch.records + batch.skipped == 0) return metrics.Compute();
    const BatchPlan plan = model.Plan(batch);
    metrics.Add(model.Predict(batch, plan, store.Pull(plan)), batch.labels);
  }
}

TEST(AdultExample, WhenTrainedInOneProcess_ReachesItsQuality) {
  const std::string folder = std::string(PSTRAIN_SOURCE_DIR) + "/examples/adult";
  Result<PSTrainingJob> job = LoadJobManifest(folder + "/job.yaml");
  ASSERT_TRUE(job.ok()) << job.status().ToString();
  Training training = job->spec().training();
  UseLocalFiles(folder + "/data", *training.mutable_input());
  UseLocalFiles(folder + "/data", *training.mutable_evaluation()->mutable_input());

  const TempDir dir;
  const Result<std::unique_ptr<Model>> model = CreateModel(training);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const Result<std::shared_ptr<const FeatureSet>> made = CreateFeatures(training, **model);
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  const std::shared_ptr<const FeatureSet>& features = *made;
  const BatchShape shape{static_cast<std::uint32_t>(training.batch_size()),
                         static_cast<std::uint32_t>(training.block_size()),
                         static_cast<std::uint64_t>(training.seed())};
  Result<InputIndex> built = BuildInputIndex(training.input(), shape, dir.path());
  ASSERT_TRUE(built.ok()) << built.status().ToString();
  const auto index = std::make_shared<const InputIndex>(std::move(built).value());
  EXPECT_EQ(index->total_records(), 32561U);
  const auto reader = BatchReader::Create(training.input(), features, index, {dir.path()});
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  const auto evaluation =
      SequentialReader::Create(training.evaluation().input(), features, {.scratch = dir.path()});
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().ToString();

  InMemoryStore store((*model)->variables());
  Result<MetricValues> values = MetricValues();
  for (std::uint32_t epoch = 0; epoch < static_cast<std::uint32_t>(training.epochs()); ++epoch) {
    const Status trained = TrainEpoch(**model, *index, epoch, **reader, store);
    ASSERT_TRUE(trained.ok()) << trained.ToString();
    ASSERT_TRUE((*evaluation)->Rewind().ok());
    values = Evaluate(**model, **evaluation, store);
    ASSERT_TRUE(values.ok()) << values.status().ToString();
    std::cout << "epoch " << epoch << " auc " << values->auc.value() << " auc200 "
              << values->auc_200_thresholds.value() << " accuracy " << values->accuracy
              << " logLoss " << values->log_loss << " calibration " << values->calibration << '\n';
  }
  EXPECT_EQ(values->records, 16281U);
  EXPECT_GE(values->auc.value(), 0.905);
  EXPECT_GE(values->accuracy, 0.850);
}

}  // namespace
}  // namespace pstrain
