#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "proto/job/psjob.pb.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/model/model.h"

namespace pstrain {

/// A model together with all values of one checkpoint, as other programs are to get it: every
/// variable is a whole tensor of float32, row-major. A row of a table that was never trained has
/// its initial values, as it has when records are scored here. One thread at a time.
class TrainedModel {
 public:
  /// `training` is what made the checkpoint. Errors as CreateModel and CheckpointReader::Open.
  static Result<TrainedModel> Open(const std::string& checkpoint_directory,
                                   const Training& training);

  const Training& training() const { return training_; }
  const Model& model() const { return *model_; }
  const CheckpointManifest& manifest() const { return checkpoint_.manifest(); }

  /// Bytes of a variable's values, and of those of all variables; the greatest number where there
  /// are more.
  static std::uint64_t BytesOf(const VariableSpec& variable);
  std::uint64_t bytes() const;

  /// Takes the values of a variable of the model, in order and in parts of 1 MiB at the most for a
  /// table, whose rows may be more than fit into memory. The first error of `take` ends it;
  /// otherwise errors as CheckpointReader::Dense and Rows.
  using TakePart = std::function<Status(std::span<const float> part)>;
  Status Read(const VariableSpec& variable, const TakePart& take);
  /// Appends the bytes of all values, little-endian, to `out`. Errors as above.
  Status AppendTo(const VariableSpec& variable, std::string& out);
  /// The table of that place in BatchPlan::requests.
  const VariableSpec& Table(std::size_t request) const;
  /// Of a table: errors as CheckpointReader::HeldRows.
  Result<std::uint64_t> HeldRows(const VariableSpec& variable);

 private:
  TrainedModel(Training training, std::unique_ptr<Model> model, CheckpointReader checkpoint)
      : training_(std::move(training)),
        model_(std::move(model)),
        checkpoint_(std::move(checkpoint)) {}

  Training training_;
  std::unique_ptr<Model> model_;
  CheckpointReader checkpoint_;
};

}  // namespace pstrain
