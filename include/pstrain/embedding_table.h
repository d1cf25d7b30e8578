#pragma once

#include <pstrain/dtype.h>
#include <pstrain/initializers.h>
#include <pstrain/optimizers.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>
#include <pstrain/variable.h>

#include <cstdint>
#include <string>
#include <utility>

namespace pstrain {

/// A table of rows that lies on all ps, each row in the shard that a hash of the table's name and
/// the row's id says. A row is made, with its initial values, when a function first looks it up or
/// changes it: rows that nobody touches cost nothing, so the number of rows may be as large as the
/// ids are. Functions read rows by Step::Lookup and change them by IndexedSlices; a table is never
/// read whole. Mirrors a tf.Variable that only tf.nn.embedding_lookup reads, and the weights of
/// tf.keras.layers.Embedding. A value: copies name the same table. Any thread.
///
///   const VariableRef kUsers{"users"};
///   EmbeddingTable::Create(kUsers, Shape{kMostUsers, 16}, initializers::RandomUniform(0.05, 1),
///                          optimizers::Adagrad{.learning_rate = 0.1});
class EmbeddingTable {
 public:
  /// Declares a table of the strategy whose scope this thread is in, as Variable::Create does a
  /// variable; tables and variables share one space of names. `shape` is (rows, dimension): ids go
  /// from 0 to rows - 1. What a row starts with follows from seed, name and id alone. A row's
  /// optimizer steps when the row has a gradient, and counts its own steps.
  ///
  /// FAILED_PRECONDITION: no scope. ALREADY_EXISTS: that name with another shape, initializer,
  /// optimizer or dtype, or as a variable. INVALID_ARGUMENT: a shape that is not two sizes from 1
  /// on, more than 2^56 elements, rows of more than 2^24, a dtype that no variable can have, or an
  /// initializer or optimizer that the dtype does not take. UNAVAILABLE: the run has ended.
  static Result<EmbeddingTable> Create(
      const VariableRef& ref, Shape shape,
      initializers::Initializer initializer = initializers::Zeros(),
      optimizers::Optimizer optimizer = optimizers::None{}, DType dtype = DType::kFloat32);

  /// Mirrors tf.Variable.name.
  const std::string& name() const { return name_; }
  /// (rows, dimension).
  const Shape& shape() const { return shape_; }
  /// The length of a row. Mirrors output_dim of tf.keras.layers.Embedding.
  std::int64_t dimension() const { return shape_[1]; }
  /// Mirrors tf.Variable.dtype.
  DType dtype() const { return dtype_; }

 private:
  EmbeddingTable(std::string name, Shape shape, DType dtype)
      : name_(std::move(name)), shape_(std::move(shape)), dtype_(dtype) {}

  std::string name_;
  Shape shape_;
  DType dtype_;
};

}  // namespace pstrain
