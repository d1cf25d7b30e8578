#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"
#include "tests/process/training_fixture.h"

namespace pstrain {

/// A small job, job.yaml, with an evaluator that scores the records that are trained on.
class EvaluatedJobTest : public TrainingRunTest {
 protected:
  static constexpr int kRecords = 1000;

  /// `more`: lines of spec.training, each indented by four.
  void WriteJob(int epochs, const std::string& more) {
    std::string data;
    for (int i = 0; i < kRecords; ++i) {
      data += std::to_string(i % 2) + "," + std::to_string((i * 37 + i % 2 * 20) % 100) + "\n";
    }
    ASSERT_TRUE(WriteFileAtomically(dir_.File("data.csv"), data).ok());
    const std::string input =
        "{csv: {files: [data.csv], columns: [label, age], labelColumn: label}}";
    const std::string job =
        "apiVersion: pstrain.dev/v1alpha1\n"
        "kind: PSTrainingJob\n"
        "metadata: {name: small}\n"
        "spec:\n"
        "  strategy: {shards: 4}\n"
        "  replicaSpecs:\n"
        "    ps: {replicas: 2}\n"
        "    worker: {replicas: 2}\n"
        "    evaluator: {replicas: 1}\n"
        "  training:\n"
        "    model: {wideAndDeep: {}}\n"
        "    features: [{name: age, numeric: {}}]\n"
        "    input: " +
        input +
        "\n"
        "    evaluation: {input: " +
        input +
        "}\n"
        "    optimizer: {adagrad: {learningRate: 0.05}}\n"
        "    batchSize: 8\n"
        "    blockSize: 64\n"
        "    epochs: " +
        std::to_string(epochs) +
        "\n"
        "    checkpoint: {directory: checkpoints, everySteps: 50, keep: 2}\n" +
        more;
    ASSERT_TRUE(WriteFileAtomically(dir_.File("job.yaml"), job).ok());
  }

  /// `points`: PSTRAIN_FAIL_POINTS.
  Ended RunJob(const std::vector<std::string>& more = {}, const std::string& points = "") {
    std::vector<std::string> arguments = {"job.yaml", "--allow-test-only"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<std::string> environment;
    if (!points.empty()) environment.push_back("PSTRAIN_FAIL_POINTS=" + points);
    return Run(std::move(arguments), std::move(environment));
  }
  /// What `pstrain evaluate RUN --json` and `more` says.
  Json Evaluate(const std::string& run, const std::vector<std::string>& more) const {
    std::vector<std::string> command = {PSTRAIN_BIN_DIR "/pstrain", "evaluate", run, "--json"};
    command.insert(command.end(), more.begin(), more.end());
    Program evaluate(command, dir_.path());
    EXPECT_EQ(evaluate.Wait(std::chrono::seconds(60)), 0) << evaluate.Stderr();
    const Result<Json> scores = ParseJson(evaluate.Stdout());
    EXPECT_TRUE(scores.ok()) << evaluate.Stdout();
    return scores.ok() ? *scores : Json::Object();
  }
  static std::string RunIdOf(const Ended& ended) {
    return *ended.report.Find("run_id")->AsString();
  }
  std::string RunDirectory(const Ended& ended) const {
    return dir_.File("checkpoints/" + RunIdOf(ended));
  }
};

}  // namespace pstrain
