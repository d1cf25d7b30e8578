#include "tests/process/exact_fixture.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

#include "proto/job/job_manifest.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/checkpoint/checkpoints.h"
#include "runtime/model/constant_gradient.h"
#include "tests/runtime/model/expected_constant_gradient.h"

namespace pstrain {
namespace {

void ExpectSameBits(const char* variable, const std::vector<float>& weights,
                    const std::vector<float>& expected) {
  ASSERT_EQ(weights.size(), expected.size()) << variable;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    ASSERT_EQ(std::memcmp(&weights[i], &expected[i], sizeof(float)), 0)
        << variable << '[' << i << "] is " << weights[i] << ", not " << expected[i];
  }
}

struct Weights {
  std::vector<float> dense;
  std::vector<float> table;
};

Result<Weights> ReadWeights(const std::string& checkpoint_directory) {
  PSTRAIN_ASSIGN_OR_RETURN(CheckpointReader checkpoint,
                           CheckpointReader::Open(checkpoint_directory));
  if (!checkpoint.manifest().final())
    return FailedPreconditionError(checkpoint_directory + " is not final");
  Weights weights;
  PSTRAIN_ASSIGN_OR_RETURN(weights.dense, checkpoint.Dense("constant/dense"));
  const auto rows = checkpoint.manifest().variables(ConstantGradientModel::kTable).shape(0);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  PSTRAIN_ASSIGN_OR_RETURN(weights.table, checkpoint.Rows("constant/table", all));
  return weights;
}

}  // namespace

void ExactRunTest::SetUp() {
  WriteData(kRecords);
  WriteJob();
}

void ExactRunTest::WriteData(int records, int bad_every) {
  std::string data;
  for (int i = 0; i < records; ++i) {
    const bool bad = bad_every > 0 && i % bad_every == bad_every - 1;
    data += (bad ? "none" : std::to_string(i % 2)) + "," + std::to_string((i * 7919) % 10007);
    data += '\n';
  }
  ASSERT_TRUE(WriteFileAtomically(dir_.File("data.csv"), data).ok());
}

void ExactRunTest::WriteJob(const std::string& input) {
  const std::string job =
      "apiVersion: pstrain.dev/v1alpha1\n"
      "kind: PSTrainingJob\n"
      "metadata: {name: exact}\n"
      "spec:\n"
      "  replicaSpecs:\n"
      "    ps: {replicas: 2}\n"
      "    worker: {replicas: 2}\n"
      "  training:\n"
      "    model: {constantGradient: {}}\n"
      "    input: {csv: {files: [data.csv], columns: [label, key], labelColumn: label" +
      input +
      "}}\n"
      "    optimizer: {sgd: {learningRate: 0.5}}\n"
      "    batchSize: 16\n"
      "    epochs: 3\n"
      "    rejoinTimeoutSeconds: 3\n"
      "    checkpoint: {directory: checkpoints, everySteps: 200}\n";
  ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), job).ok());
}

TrainingRunTest::Ended ExactRunTest::RunExact(const std::vector<std::string>& more,
                                              std::vector<std::string> environment) {
  std::vector<std::string> arguments = {"job.yaml", "--allow-test-only"};
  for (const std::string& text : overrides_) arguments.insert(arguments.end(), {"--set", text});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Run(std::move(arguments), std::move(environment));
}

std::string ExactRunTest::RunDirectory(const Ended& ended) const {
  const Json* run = ended.report.Find("run_id");
  const std::string* id = run == nullptr ? nullptr : run->AsString();
  return dir_.File("checkpoints/" + (id == nullptr ? "no-run" : *id));
}

Result<std::string> ExactRunTest::NewestCheckpoint(const Ended& ended) const {
  const std::string directory = RunDirectory(ended);
  PSTRAIN_ASSIGN_OR_RETURN(const std::vector<CheckpointId> checkpoints, ListCheckpoints(directory));
  if (checkpoints.empty()) return NotFoundError(directory + " has no checkpoint");
  return CheckpointDirectory(directory, checkpoints.back());
}

void ExactRunTest::ExpectClosedForm(const Ended& ended) const {
  const Result<std::string> checkpoint = NewestCheckpoint(ended);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
  const Result<Weights> weights = ReadWeights(*checkpoint);
  ASSERT_TRUE(weights.ok()) << weights.status().ToString();
  Result<PSTrainingJob> job =
      LoadJobManifest(dir_.File("job.yaml"), {.allow_test_only = true, .overrides = overrides_});
  ASSERT_TRUE(job.ok()) << job.status().ToString();
  Training& training = *job->mutable_spec()->mutable_training();
  training.mutable_input()->mutable_csv()->set_files(0, dir_.File("data.csv"));
  const Result<ConstantGradientResult> expected =
      ExpectedConstantGradientResult(training, dir_.File("scratch"));
  ASSERT_TRUE(expected.ok()) << expected.status().ToString();
  ExpectSameBits("constant/dense", weights->dense, expected->dense);
  ExpectSameBits("constant/table", weights->table, expected->table);
}

}  // namespace pstrain
