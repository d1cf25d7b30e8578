#include "proto/job/fixed_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr const char* kManifest = R"(apiVersion: pstrain.dev/v1alpha1
kind: PSTrainingJob
metadata: {name: fixed}
spec:
  replicaSpecs:
    ps: {replicas: 2}
    worker: {replicas: 2}
    evaluator: {replicas: 1}
  training:
    model: {wideAndDeep: {hiddenUnits: [4, 2]}}
    features:
      - {name: age, numeric: {transform: {standardize: {mean: 38.5, stddev: 13}}}}
      - {name: job, vocabulary: {values: [clerk, cook]}}
    input:
      csv: {files: [/a, /b], columns: [age, job, label], labelColumn: label, labelMap: {"<=50K": 0, ">50K": 1}}
    optimizer: {adagrad: {}}
    batchSize: 16
    checkpoint: {directory: /c}
    evaluation:
      input: {csv: {files: [/e], columns: [age, job, label], labelColumn: label}}
)";

// A run's directory may be moved from one part of the run to the next.
TEST(FieldsFixedInCluster, AreNoPartOfWhatARunRemembers) {
  std::vector<std::string> paths;
  for (const FixedField& field : FieldsFixedInCluster()) {
    paths.push_back(field.path);
    EXPECT_THAT(std::string(field.message), HasSubstr("cannot change once the job has started"));
    for (const FixedField& fixed : FixedFields()) EXPECT_NE(fixed.path, field.path);
  }
  EXPECT_THAT(paths, testing::ElementsAre("spec.training.checkpoint.directory",
                                          "spec.program.checkpoint.directory"));
}

TEST(ImmutableFields, AreNoPartOfWhatARunRemembers) {
  ASSERT_EQ(ImmutableFields().size(), 1U);
  EXPECT_EQ(ImmutableFields().front().path, "spec.managedBy");
  for (const FixedField& fixed : FixedFields()) EXPECT_NE(fixed.path, "spec.managedBy");
}

JobSpec Spec() {
  const Result<PSTrainingJob> job = ReadJobManifest(kManifest);
  EXPECT_TRUE(job.ok()) << job.status().ToString();
  return job->spec();
}

using Change = std::function<void(JobSpec&)>;

Training& TrainingOf(JobSpec& spec) { return *spec.mutable_training(); }
CsvInput& CsvOf(JobSpec& spec) { return *TrainingOf(spec).mutable_input()->mutable_csv(); }

/// What it says of the changed field, and the change.
const std::vector<std::pair<std::string, Change>>& Changes() {
  static const std::vector<std::pair<std::string, Change>> changes = {
      {"spec.strategy.shards was 64 when the job started and is 8 now: the number of shards",
       [](JobSpec& spec) { spec.mutable_strategy()->set_shards(8); }},
      {"spec.training.model.wideAndDeep.hiddenUnits[1] was 2 when the job started and is 3 now: "
       "the model cannot change",
       [](JobSpec& spec) {
         TrainingOf(spec).mutable_model()->mutable_wide_and_deep()->set_hidden_units(1, 3);
       }},
      {"spec.training.model.wideAndDeep was set when the job started and is absent now",
       [](JobSpec& spec) { TrainingOf(spec).mutable_model()->mutable_deep_fm(); }},
      {"spec.training.features[0].numeric.transform.standardize.mean was 38.5 when the job started "
       "and is 40 now: the features cannot change",
       [](JobSpec& spec) {
         TrainingOf(spec)
             .mutable_features(0)
             ->mutable_numeric()
             ->mutable_transform()
             ->mutable_standardize()
             ->set_mean(40);
       }},
      {"spec.training.features[1].vocabulary.values[0] was \"clerk\" when the job started and is "
       "\"cook\" now",
       [](JobSpec& spec) {
         VocabularyFeature& job = *TrainingOf(spec).mutable_features(1)->mutable_vocabulary();
         job.mutable_values()->SwapElements(0, 1);
       }},
      {"spec.training.features was 2 items when the job started and is 1 items now",
       [](JobSpec& spec) { TrainingOf(spec).mutable_features()->RemoveLast(); }},
      {"spec.training.input.csv.files[1] was \"/b\" when the job started and is \"/x\" now: the "
       "input cannot change",
       [](JobSpec& spec) { CsvOf(spec).set_files(1, "/x"); }},
      {"spec.training.input.csv.labelMap[\">50K\"] was 1 when the job started and is 2 now",
       [](JobSpec& spec) { (*CsvOf(spec).mutable_label_map())[">50K"] = 2; }},
      {"spec.training.input.csv.labelMap[\"<=50K\"] was 0 when the job started and is absent now",
       [](JobSpec& spec) { CsvOf(spec).mutable_label_map()->erase("<=50K"); }},
      {"spec.training.optimizer.adagrad.learningRate was 0.001 when the job started and is 0.5 now",
       [](JobSpec& spec) {
         TrainingOf(spec).mutable_optimizer()->mutable_adagrad()->set_learning_rate(0.5);
       }},
      {"spec.strategy.variablePartitioner",
       [](JobSpec& spec) {
         spec.mutable_strategy()
             ->mutable_variable_partitioner()
             ->mutable_fixed_shards()
             ->set_num_shards(3);
       }},
      {"spec.training.batchSize was 16 when the job started and is 32 now: the batch size",
       [](JobSpec& spec) { TrainingOf(spec).set_batch_size(32); }},
      {"spec.training.blockSize was 4096 when the job started and is 99 now",
       [](JobSpec& spec) { TrainingOf(spec).set_block_size(99); }},
      {"spec.training.seed was 1 when the job started and is 2 now",
       [](JobSpec& spec) { TrainingOf(spec).set_seed(2); }},
  };
  return changes;
}

TEST(FixedFields, WhenOneDiffers_ItsPathAndTheWayOutAreSaid) {
  const JobSpec was = Spec();
  EXPECT_TRUE(CheckFixed(was, was).ok());
  for (const auto& [message, change] : Changes()) {
    JobSpec is = was;
    change(is);
    const Status status = CheckFixed(FixedPart(was), is);
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr(message));
  }
}

TEST(FixedFields, EachOne_IsAmongTheChanges) {
  for (const FixedField& field : FixedFields()) {
    EXPECT_TRUE(std::ranges::any_of(Changes(), [&](const auto& change) {
      return change.first.starts_with(field.path);
    })) << field.path;
  }
}

TEST(FixedFields, WhenAnythingElseChanges_NothingIsSaid) {
  const JobSpec was = Spec();
  JobSpec is = was;
  is.mutable_replica_specs()->mutable_ps()->set_replicas(5);
  is.mutable_replica_specs()->mutable_worker()->set_template_("{}");
  is.mutable_run_policy()->set_backoff_limit(0);
  TrainingOf(is).set_epochs(9);
  TrainingOf(is).mutable_checkpoint()->set_every_steps(3);
  TrainingOf(is).clear_evaluation();
  CsvOf(is).set_bad_records(Input::Skip);
  EXPECT_TRUE(CheckFixed(was, is).ok()) << CheckFixed(was, is).message();
  EXPECT_EQ(DigestsOf(was), DigestsOf(is));
}

ChangeEffect EffectOf(const std::string& path) {
  const auto& fields = ChangesOfSpec().fields;
  const auto found = std::ranges::find(fields, path, &FieldChange::path);
  EXPECT_NE(found, fields.end()) << path;
  return found == fields.end() ? ChangeEffect::kFixed : found->effect;
}

TEST(ChangesOfSpec, EachField_HasAnEffect) {
  EXPECT_THAT(ChangesOfSpec().without_effect, testing::IsEmpty());
  EXPECT_EQ(EffectOf("spec.replicaSpecs.ps.replicas"), ChangeEffect::kLive);
  EXPECT_EQ(EffectOf("spec.replicaSpecs.ps.template"), ChangeEffect::kNewPods);
  EXPECT_EQ(EffectOf("spec.runPolicy"), ChangeEffect::kLive);
  EXPECT_EQ(EffectOf("spec.training.epochs"), ChangeEffect::kNewPods);
  EXPECT_EQ(EffectOf("spec.training.input.csv.files"), ChangeEffect::kFixed);
  EXPECT_EQ(EffectOf("spec.training.input.csv.badRecords"), ChangeEffect::kNewPods);
  EXPECT_EQ(EffectOf("spec.training.checkpoint.directory"), ChangeEffect::kFixed);
  EXPECT_EQ(EffectOf("spec.training.checkpoint.keep"), ChangeEffect::kNewPods);
  EXPECT_EQ(EffectOf("spec.security"), ChangeEffect::kWhileSuspended);
  EXPECT_EQ(EffectOf("spec.successPolicy"), ChangeEffect::kWhileSuspended);
  EXPECT_EQ(EffectOf("spec.managedBy"), ChangeEffect::kFixed);
}

TEST(ChangesOfSpec, FixedFields_AreThereWithTheirWords) {
  for (const auto* fields : {&FixedFields(), &FieldsFixedInCluster(), &ImmutableFields()}) {
    for (const FixedField& fixed : *fields) {
      const auto says = [&fixed](const FieldChange& change) {
        return change.effect == ChangeEffect::kFixed && change.message == fixed.message &&
               change.path.starts_with(fixed.path);
      };
      EXPECT_TRUE(std::ranges::any_of(ChangesOfSpec().fields, says)) << fixed.path;
    }
  }
}

TEST(FixedFields, Digests_WhenOneDiffers_NameTheSection) {
  const FixedDigests chief = DigestsOf(Spec());
  EXPECT_TRUE(chief.contains("spec.training.features[1]"));
  for (const auto& [message, change] : Changes()) {
    JobSpec is = Spec();
    change(is);
    const Status status = CheckDigests(chief, DigestsOf(is));
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << message;
    const std::string path = status.message().substr(0, status.message().find(" is not that"));
    EXPECT_THAT(message, testing::StartsWith(path.substr(0, path.find('['))));
  }
}

TEST(CheckDigests, OfAProgram_NamesThePartThatDiffers) {
  const FixedDigests chief{{"function Count", 1}, {"spec.strategy.shards", 2}, {"the build", 3}};
  EXPECT_TRUE(CheckDigests(chief, chief).ok());
  FixedDigests replica = chief;
  replica["the build"] = 4;
  EXPECT_EQ(CheckDigests(chief, replica).message(),
            "the build is not that of the chief's program: start all replicas from one build of "
            "the program");
  replica["function Extra"] = 5;
  EXPECT_THAT(CheckDigests(chief, replica).message(), testing::StartsWith("function Extra is not"))
      << "what a person knows by name comes first";
  replica = chief;
  replica.erase("function Count");
  EXPECT_THAT(CheckDigests(chief, replica).message(), testing::StartsWith("function Count is not"));
}

}  // namespace
}  // namespace pstrain
