#pragma once

#include <pstrain/dtype.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/tensor.h>
#include <pstrain/variable.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

namespace program {
class SavedState;
}  // namespace program

/// A variable or table, as a checkpoint has it. Mirrors an entry of tf.train.list_variables.
struct SavedVariable {
  std::string name;
  /// Of a table (rows, dimension).
  Shape shape;
  DType dtype = DType::kFloat32;
  /// An EmbeddingTable: it has rows that were never made, and is read by rows alone.
  bool table = false;
};

/// The variables of a program as one of its checkpoints has them, to be read: those that are
/// divided are whole here, whatever their partitions, and shards and ps play no part. Mirrors what
/// tf.train.load_checkpoint returns. What is read stays in memory as long as this lives, but for
/// the optimizers' slots, which it does not give. A value: copies are of the same. One thread at a
/// time.
class SavedVariables {
 public:
  /// The name of the checkpoint's folder, as "3-17".
  const std::string& checkpoint() const;
  /// What SaveOptions::mark has called it; nothing: a checkpoint that the job has taken by itself,
  /// by spec.program.checkpoint or at the end. Of such a one, functions that run meanwhile may be
  /// in some variables and not yet in others.
  std::optional<std::int64_t> mark() const;
  /// SaveOptions::user_bytes of the mark; empty without one.
  const std::string& user_bytes() const;
  /// The last checkpoint of the run: every variable has every call.
  bool is_final() const;

  /// In the order in which they were declared. Mirrors tf.train.list_variables.
  std::vector<SavedVariable> variables() const;

  /// The values of a variable. Mirrors CheckpointReader.get_tensor. NOT_FOUND: the checkpoint has
  /// no such variable. INVALID_ARGUMENT: it is an embedding table. DATA_LOSS: the checkpoint is
  /// damaged; others: its disk.
  Result<Tensor> Read(const VariableRef& variable) const;
  /// Rows of an embedding table or of a variable, as Step::Lookup: the shape of `ids`, followed by
  /// that of a row. A row that no function has touched has its initial values. OUT_OF_RANGE names
  /// an id that is no row. INVALID_ARGUMENT: ids that are not int32 or int64, or a scalar variable.
  /// Others as Read.
  Result<Tensor> Lookup(const VariableRef& variable, const Tensor& ids) const;
  /// The ids of the rows of a table that functions have touched: int64 of one axis, ascending.
  /// INVALID_ARGUMENT: it is no table. Others as Read.
  Result<Tensor> RowIds(const VariableRef& table) const;

  /// This process was told to stop: an evaluation may end with any error, and none counts.
  bool told_to_stop() const;

  /// Of what implements it.
  explicit SavedVariables(std::shared_ptr<program::SavedState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<program::SavedState> state_;
};

}  // namespace pstrain
