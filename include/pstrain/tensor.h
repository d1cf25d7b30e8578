#pragma once

#include <pstrain/dtype.h>
#include <pstrain/shape.h>
#include <pstrain/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {

/// Elements of one dtype in row-major order, with a shape. Mirrors tf.Tensor as a container: it
/// computes nothing (Eigen, libtorch and others do, over the same memory). Its elements never
/// change, so that copies share one buffer and cost no more than the shape; the buffer lives as
/// long as the last tensor, slice or DLPack capsule over it. A value; any thread may read one, and
/// several threads copies of one.
///
/// To fill one, fill a vector and move it in: its memory becomes the buffer. Errors are
/// INVALID_ARGUMENT and name dtype and shape.
class Tensor {
 public:
  /// Of float32, shape (0): no elements.
  Tensor() : Tensor(DType::kFloat32, Shape{0}, 0, nullptr, nullptr) {}
  /// A scalar. Mirrors tf.constant of a number, a bool or a string.
  template <TensorElement T>
  Tensor(T value) : Tensor(Adopted(Shape{}, One(std::move(value)))) {}
  Tensor(const char* text) : Tensor(std::string(text)) {}

  /// One axis with these elements, whose memory is taken over (that of vector<bool> is copied, as
  /// its elements are bits). Mirrors tf.constant of a list.
  template <TensorElement T>
  static Tensor From(std::vector<T> values) {
    Shape shape{static_cast<std::int64_t>(values.size())};
    return Adopted(std::move(shape), std::move(values));
  }
  /// The same with a shape. Mirrors tf.constant(values, shape=...). INVALID_ARGUMENT: the shape has
  /// another number of elements, or a size that is not known.
  template <TensorElement T>
  static Result<Tensor> From(Shape shape, std::vector<T> values) {
    PSTRAIN_RETURN_IF_ERROR(CheckElements(kDTypeOf<T>, shape, values.size()));
    return Adopted(std::move(shape), std::move(values));
  }
  /// Zeros, false, or empty strings. Mirrors tf.zeros. INVALID_ARGUMENT: a size that is not known
  /// or negative; RESOURCE_EXHAUSTED: that much memory is not there.
  static Result<Tensor> Zeros(DType dtype, Shape shape);
  /// A copy of `bytes`. INVALID_ARGUMENT: they are not the elements of that shape (a bool is 0
  /// or 1), or dtype is kString.
  static Result<Tensor> FromBytes(DType dtype, Shape shape, std::span<const std::byte> bytes);
  /// Over memory of others, which `owner` keeps alive; nothing is copied and nobody may change the
  /// elements any more. INVALID_ARGUMENT: kString, memory that is not aligned to an element, or a
  /// size that is not known.
  static Result<Tensor> Over(DType dtype, Shape shape, const void* data,
                             std::shared_ptr<const void> owner);

  /// Mirrors tf.Tensor.dtype.
  DType dtype() const { return dtype_; }
  /// Mirrors tf.Tensor.shape.
  const Shape& shape() const { return shape_; }
  /// Elements. Mirrors tf.size.
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// The elements in row-major order, for as long as this tensor or a copy lives. INVALID_ARGUMENT:
  /// the tensor is of another dtype; nothing is converted. Mirrors tf.Tensor.numpy.
  template <TensorElement T>
  Result<std::span<const T>> data() const {
    PSTRAIN_RETURN_IF_ERROR(CheckDType(kDTypeOf<T>));
    return std::span<const T>(static_cast<const T*>(data_), size_);
  }
  /// A copy of them.
  template <TensorElement T>
  Result<std::vector<T>> ToVector() const {
    PSTRAIN_ASSIGN_OR_RETURN(const std::span<const T> values, data<T>());
    return std::vector<T>(values.begin(), values.end());
  }
  /// The one element of a tensor of any shape. INVALID_ARGUMENT: another dtype, or not one element.
  template <TensorElement T>
  Result<T> scalar() const {
    PSTRAIN_ASSIGN_OR_RETURN(const std::span<const T> values, data<T>());
    PSTRAIN_RETURN_IF_ERROR(CheckOneElement());
    return T(values.front());
  }
  /// The elements as they lie in memory. REQUIRES: dtype() != kString.
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(data_), size_ * DTypeSize(dtype_)};
  }
  /// What keeps the elements alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

  /// The same elements with another shape, of which one size may be kUnknown: it follows from the
  /// others. Mirrors tf.reshape. INVALID_ARGUMENT: another number of elements.
  Result<Tensor> Reshape(Shape shape) const;
  /// Rows [begin, end) along the first axis, over the same buffer. Mirrors tensor[begin:end] with
  /// 0 <= begin <= end <= rows. INVALID_ARGUMENT: a scalar; OUT_OF_RANGE: other bounds.
  Result<Tensor> Slice(std::int64_t begin, std::int64_t end) const;

  /// "float32 (2, 3)".
  std::string ToString() const;

  /// The same dtype, shape and elements; as for all floats, NaN equals nothing.
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  Tensor(DType dtype, Shape shape, std::size_t size, const void* data,
         std::shared_ptr<const void> owner)
      : dtype_(dtype),
        shape_(std::move(shape)),
        size_(size),
        data_(data),
        owner_(std::move(owner)) {}

  // REQUIRES: the shape has as many elements.
  template <TensorElement T>
  static Tensor Adopted(Shape shape, std::vector<T> values) {
    auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    const void* data = kept->data();
    const std::size_t size = kept->size();
    return Tensor(kDTypeOf<T>, std::move(shape), size, data, std::move(kept));
  }
  static Tensor Adopted(Shape shape, const std::vector<bool>& values);
  template <TensorElement T>
  static std::vector<T> One(T value) {
    std::vector<T> values;
    values.push_back(std::move(value));
    return values;
  }
  static Status CheckElements(DType dtype, const Shape& shape, std::size_t elements);
  Status CheckDType(DType wanted) const;
  Status CheckOneElement() const;

  DType dtype_;
  Shape shape_;
  std::size_t size_;
  const void* data_;
  std::shared_ptr<const void> owner_;
};

/// The rows of all of them, one after the other, along the first axis. Mirrors tf.concat(axis=0).
/// INVALID_ARGUMENT: none is given, a scalar, or dtypes or rows that differ. Any thread.
Result<Tensor> Concat(std::span<const Tensor> tensors);

}  // namespace pstrain
