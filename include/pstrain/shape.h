#pragma once

#include <pstrain/status.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

/// The sizes of a tensor or a variable along each axis; no axes is a scalar. Mirrors
/// tf.TensorShape. What a tensor holds has known sizes only; kUnknown is for what is not there yet
/// (the batch of an input) and for Tensor::Reshape. A value; any thread.
class Shape {
 public:
  /// The size of an axis that is not known; TensorFlow's None.
  static constexpr std::int64_t kUnknown = -1;

  /// A scalar.
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  explicit Shape(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}

  /// Axes; 0 for a scalar. Mirrors tf.TensorShape.rank.
  std::size_t rank() const { return sizes_.size(); }
  bool is_scalar() const { return sizes_.empty(); }
  /// The size along an axis. REQUIRES: axis < rank().
  std::int64_t operator[](std::size_t axis) const { return sizes_[axis]; }
  /// Mirrors tf.TensorShape.as_list.
  const std::vector<std::int64_t>& sizes() const { return sizes_; }

  /// No axis is unknown. Mirrors tf.TensorShape.is_fully_defined.
  bool is_fully_defined() const;
  /// The product of all sizes, 1 for a scalar; nothing where a size is not known or the product is
  /// beyond 64 bits. Mirrors tf.TensorShape.num_elements.
  std::optional<std::int64_t> num_elements() const;
  /// The same of all axes but the first: the elements of one row. REQUIRES: rank() > 0.
  std::optional<std::int64_t> row_elements() const;
  /// The shape of one row, which is that of all axes but the first. REQUIRES: rank() > 0.
  Shape row() const { return Shape(std::vector<std::int64_t>(sizes_.begin() + 1, sizes_.end())); }

  /// INVALID_ARGUMENT where a size is negative and not kUnknown, as tf.TensorShape refuses it.
  /// Every call that takes a shape checks it so.
  Status Check() const;

  /// "(2, 3)", "(?, 3)" with an unknown size, "()" for a scalar.
  std::string ToString() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> sizes_;
};

}  // namespace pstrain
