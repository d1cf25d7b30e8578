#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "tests/process/training_fixture.h"

namespace pstrain {

/// A small job, job.yaml, whose gradients are integers that do not depend on the parameters: its
/// final weights have a closed form. 2 ps, 2 workers, no evaluator.
class ExactRunTest : public TrainingRunTest {
 protected:
  static constexpr int kRecords = 20000;

  void SetUp() override;
  /// Input with that many records; every `bad_every`-th cannot be read (0: none).
  void WriteData(int records, int bad_every = 0);
  /// `input`: more members of spec.training.input.csv.
  void WriteJob(const std::string& input = "");

  /// PATH=VALUE of every run of job.yaml from now on.
  std::vector<std::string> overrides_;
  /// Runs job.yaml; `environment`: NAME=VALUE.
  Ended RunExact(const std::vector<std::string>& more, std::vector<std::string> environment = {});
  /// The weights of the final checkpoint are those of the closed form, bit for bit.
  void ExpectClosedForm(const Ended& ended) const;

  std::string RunDirectory(const Ended& ended) const;
  /// The newest checkpoint of the run.
  Result<std::string> NewestCheckpoint(const Ended& ended) const;
};

}  // namespace pstrain
