#include <pstrain/tensor.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

namespace pstrain {
namespace {

// Calls `work` with std::type_identity of the dtype's C++ type.
template <typename Work>
decltype(auto) WithTensorElement(DType dtype, Work&& work) {
  switch (dtype) {
    case DType::kFloat64:
      return work(std::type_identity<double>());
    case DType::kInt32:
      return work(std::type_identity<std::int32_t>());
    case DType::kInt64:
      return work(std::type_identity<std::int64_t>());
    case DType::kBool:
      return work(std::type_identity<bool>());
    case DType::kString:
      return work(std::type_identity<std::string>());
    case DType::kFloat32:
      break;
  }
  return work(std::type_identity<float>());
}

// Bytes from one element in memory to the next.
std::size_t StrideOf(DType dtype) {
  return dtype == DType::kString ? sizeof(std::string) : DTypeSize(dtype);
}

// "float32 (2, 3)".
std::string Described(DType dtype, const Shape& shape) {
  return std::string(DTypeName(dtype)) + " " + shape.ToString();
}

// The number of elements of a tensor of that shape. Invariant: their bytes fit an object.
Result<std::size_t> ElementsOf(DType dtype, const Shape& shape) {
  PSTRAIN_RETURN_IF_ERROR(shape.Check());
  if (dtype > DType::kString) {
    return InvalidArgumentError("tensor: dtype " + std::to_string(static_cast<int>(dtype)) +
                                " is not known");
  }
  if (!shape.is_fully_defined()) {
    return InvalidArgumentError("tensor of " + Described(dtype, shape) +
                                ": all sizes have to be known");
  }
  constexpr auto kMostBytes = std::numeric_limits<std::ptrdiff_t>::max();
  const std::optional<std::int64_t> elements = shape.num_elements();
  if (!elements || *elements > kMostBytes / static_cast<std::int64_t>(StrideOf(dtype))) {
    return ResourceExhaustedError("tensor of " + Described(dtype, shape) +
                                  ": more than any memory holds");
  }
  return static_cast<std::size_t>(*elements);
}

// Elements of kBool are 0 or 1: C++ knows no other bool, and foreign memory may have one.
Status CheckBools(DType dtype, std::span<const std::byte> bytes) {
  if (dtype != DType::kBool) return OkStatus();
  if (std::ranges::all_of(bytes, [](std::byte byte) { return byte <= std::byte{1}; })) {
    return OkStatus();
  }
  return InvalidArgumentError("tensor of bool: an element is neither 0 nor 1");
}

// Zeros, with what keeps them.
template <TensorElement T>
Result<std::shared_ptr<T[]>> Allocate(const Shape& shape, std::size_t elements) {
  T* memory = new (std::nothrow) T[elements]();
  if (memory != nullptr) return std::shared_ptr<T[]>(memory);
  return ResourceExhaustedError("tensor of " + Described(kDTypeOf<T>, shape) +
                                ": there is not that much memory");
}

}  // namespace

Tensor Tensor::Adopted(Shape shape, const std::vector<bool>& values) {
  const auto kept = std::make_shared<bool[]>(values.size());
  std::ranges::copy(values, kept.get());
  return Tensor(DType::kBool, std::move(shape), values.size(), kept.get(), kept);
}

Result<Tensor> Tensor::Zeros(DType dtype, Shape shape) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t elements, ElementsOf(dtype, shape));
  return WithTensorElement(dtype, [&]<typename T>(std::type_identity<T>) -> Result<Tensor> {
    PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<T[]> kept, Allocate<T>(shape, elements));
    return Tensor(dtype, std::move(shape), elements, kept.get(), kept);
  });
}

Result<Tensor> Tensor::FromBytes(DType dtype, Shape shape, std::span<const std::byte> bytes) {
  if (dtype == DType::kString) {
    return InvalidArgumentError("tensor of string: it cannot be made from bytes");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t elements, ElementsOf(dtype, shape));
  if (bytes.size() != elements * DTypeSize(dtype)) {
    return InvalidArgumentError("tensor of " + Described(dtype, shape) + ": it has " +
                                std::to_string(elements * DTypeSize(dtype)) + " bytes, not " +
                                std::to_string(bytes.size()));
  }
  PSTRAIN_RETURN_IF_ERROR(CheckBools(dtype, bytes));
  return WithTensorElement(dtype, [&]<typename T>(std::type_identity<T>) -> Result<Tensor> {
    PSTRAIN_ASSIGN_OR_RETURN(const std::shared_ptr<T[]> kept, Allocate<T>(shape, elements));
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (!bytes.empty()) std::memcpy(kept.get(), bytes.data(), bytes.size());
    }
    return Tensor(dtype, std::move(shape), elements, kept.get(), kept);
  });
}

Result<Tensor> Tensor::Over(DType dtype, Shape shape, const void* data,
                            std::shared_ptr<const void> owner) {
  if (dtype == DType::kString) {
    return InvalidArgumentError("tensor of string: it cannot lie over memory of others");
  }
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t elements, ElementsOf(dtype, shape));
  if (elements > 0 && data == nullptr) {
    return InvalidArgumentError("tensor of " + Described(dtype, shape) + ": there is no memory");
  }
  if (reinterpret_cast<std::uintptr_t>(data) % DTypeSize(dtype) != 0) {
    return InvalidArgumentError("tensor of " + Described(dtype, shape) +
                                ": its memory is not aligned to its elements");
  }
  PSTRAIN_RETURN_IF_ERROR(
      CheckBools(dtype, {static_cast<const std::byte*>(data), elements * DTypeSize(dtype)}));
  return Tensor(dtype, std::move(shape), elements, data, std::move(owner));
}

Result<Tensor> Tensor::Reshape(Shape shape) const {
  PSTRAIN_RETURN_IF_ERROR(shape.Check());
  std::vector<std::int64_t> sizes = shape.sizes();
  const auto unknown = std::ranges::find(sizes, Shape::kUnknown);
  if (unknown != sizes.end()) {
    *unknown = 1;
    const std::int64_t others = Shape(sizes).num_elements().value_or(0);
    if (others == 0) {  // any size would do, or none
      return InvalidArgumentError("tensor of " + ToString() + ": reshape to " + shape.ToString() +
                                  " does not say which size is meant");
    }
    *unknown = static_cast<std::int64_t>(size_) / others;
  }
  Shape known(std::move(sizes));
  if (known.num_elements() != static_cast<std::int64_t>(size_)) {
    return InvalidArgumentError("tensor of " + ToString() + ": reshape to " + shape.ToString() +
                                " needs another number of elements");
  }
  return Tensor(dtype_, std::move(known), size_, data_, owner_);
}

Result<Tensor> Tensor::Slice(std::int64_t begin, std::int64_t end) const {
  if (shape_.is_scalar()) {
    return InvalidArgumentError("tensor of " + ToString() + ": a scalar has no rows");
  }
  if (begin < 0 || begin > end || end > shape_[0]) {
    return OutOfRangeError("tensor of " + ToString() + ": it has no rows [" +
                           std::to_string(begin) + ", " + std::to_string(end) + ")");
  }
  std::vector<std::int64_t> sizes = shape_.sizes();
  sizes[0] = end - begin;
  const std::size_t row = shape_[0] == 0 ? 0 : size_ / static_cast<std::size_t>(shape_[0]);
  const std::size_t skipped = static_cast<std::size_t>(begin) * row * StrideOf(dtype_);
  const void* data = skipped == 0 ? data_ : static_cast<const std::byte*>(data_) + skipped;
  return Tensor(dtype_, Shape(std::move(sizes)), static_cast<std::size_t>(end - begin) * row, data,
                owner_);
}

std::string Tensor::ToString() const { return Described(dtype_, shape_); }

Status Tensor::CheckElements(DType dtype, const Shape& shape, std::size_t elements) {
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t wanted, ElementsOf(dtype, shape));
  if (wanted == elements) return OkStatus();
  return InvalidArgumentError("tensor of " + Described(dtype, shape) + ": it has " +
                              std::to_string(wanted) + " elements, not " +
                              std::to_string(elements));
}

Status Tensor::CheckDType(DType wanted) const {
  if (wanted == dtype_) return OkStatus();
  return InvalidArgumentError("tensor of " + ToString() + ": its elements are not " +
                              DTypeName(wanted));
}

Status Tensor::CheckOneElement() const {
  if (size_ == 1) return OkStatus();
  return InvalidArgumentError("tensor of " + ToString() + ": it has " + std::to_string(size_) +
                              " elements, not one");
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.dtype_ != b.dtype_ || a.shape_ != b.shape_) return false;
  return WithTensorElement(a.dtype_, [&]<typename T>(std::type_identity<T>) {
    return std::ranges::equal(std::span(static_cast<const T*>(a.data_), a.size_),
                              std::span(static_cast<const T*>(b.data_), b.size_));
  });
}

Result<Tensor> Concat(std::span<const Tensor> tensors) {
  if (tensors.empty()) return InvalidArgumentError("concat: no tensor is given");
  const Tensor& first = tensors.front();
  std::int64_t rows = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.shape().is_scalar()) {
      return InvalidArgumentError("concat: " + tensor.ToString() + " has no rows");
    }
    if (tensor.dtype() != first.dtype() || tensor.shape().row() != first.shape().row()) {
      return InvalidArgumentError("concat: " + tensor.ToString() + " does not fit behind " +
                                  first.ToString());
    }
    if (__builtin_add_overflow(rows, tensor.shape()[0], &rows)) {
      return ResourceExhaustedError("concat: more rows than can be counted");
    }
  }
  std::vector<std::int64_t> sizes = first.shape().sizes();
  sizes[0] = rows;
  PSTRAIN_ASSIGN_OR_RETURN(const std::size_t elements, ElementsOf(first.dtype(), Shape(sizes)));
  return WithTensorElement(first.dtype(), [&]<typename T>(std::type_identity<T>) -> Result<Tensor> {
    std::vector<T> all;
    all.reserve(elements);
    for (const Tensor& tensor : tensors) {
      PSTRAIN_ASSIGN_OR_RETURN(const std::span<const T> values, tensor.data<T>());
      all.insert(all.end(), values.begin(), values.end());
    }
    return Tensor::From(Shape(std::move(sizes)), std::move(all));
  });
}

}  // namespace pstrain
