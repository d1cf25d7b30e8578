#include <pstrain/dlpack.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

// More axes than any library has; a number beyond it is no number of axes.
constexpr std::int32_t kMostAxes = 1024;

Result<DType> DTypeOf(const dlpack::DataType& type) {
  const std::string text = "code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
                           " bits, " + std::to_string(type.lanes) + " lanes";
  if (type.lanes == 1) {
    if (type.code == dlpack::kFloat && type.bits == 32) return DType::kFloat32;
    if (type.code == dlpack::kFloat && type.bits == 64) return DType::kFloat64;
    if (type.code == dlpack::kInt && type.bits == 32) return DType::kInt32;
    if (type.code == dlpack::kInt && type.bits == 64) return DType::kInt64;
    if (type.code == dlpack::kBool && type.bits == 8) return DType::kBool;
  }
  return UnimplementedError("dlpack: elements of " + text +
                            " are not taken; convert them to float32, float64, int32, int64 or "
                            "bool first");
}

// REQUIRES: not kString.
dlpack::DataType DataTypeOf(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(DTypeSize(dtype) * 8);
  const bool is_float = dtype == DType::kFloat32 || dtype == DType::kFloat64;
  const std::uint8_t code = dtype == DType::kBool ? dlpack::kBool
                            : is_float            ? dlpack::kFloat
                                                  : dlpack::kInt;
  return {code, bits, 1};
}

// Whether elements lie in row-major order without gaps. Strides along axes of one element, and of
// a tensor without any, count for nothing.
bool IsRowMajor(const std::vector<std::int64_t>& sizes, const std::int64_t* strides) {
  if (strides == nullptr || std::ranges::find(sizes, 0) != sizes.end()) return true;
  std::int64_t expected = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (sizes[axis] != 1 && strides[axis] != expected) return false;
    expected *= sizes[axis];
  }
  return true;
}

// The elements one after the other in row-major order. REQUIRES: there is one at least.
std::vector<std::byte> Gathered(const std::byte* data, const std::vector<std::int64_t>& sizes,
                                const std::int64_t* strides, std::size_t elements,
                                std::size_t bytes) {
  std::vector<std::byte> gathered(elements * bytes);
  if (IsRowMajor(sizes, strides)) {
    std::memcpy(gathered.data(), data, gathered.size());
    return gathered;
  }
  std::vector<std::int64_t> place(sizes.size());
  std::int64_t offset = 0;  // in elements
  for (std::size_t element = 0; element < elements; ++element) {
    std::memcpy(gathered.data() + element * bytes, data + offset * static_cast<std::int64_t>(bytes),
                bytes);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++place[axis] < sizes[axis]) break;
      offset -= strides[axis] * sizes[axis];
      place[axis] = 0;
    }
  }
  return gathered;
}

// What is checked before anything is read.
Status Check(const dlpack::DlTensor& tensor) {
  if (tensor.device.device_type != dlpack::kCpu && tensor.device.device_type != dlpack::kCudaHost) {
    return UnimplementedError("dlpack: memory of device type " +
                              std::to_string(tensor.device.device_type) +
                              " is not read; copy the tensor to the CPU first");
  }
  if (tensor.ndim < 0 || tensor.ndim > kMostAxes || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return InvalidArgumentError("dlpack: a tensor of " + std::to_string(tensor.ndim) +
                                " axes without their sizes");
  }
  return OkStatus();
}

template <typename Managed>
Result<Tensor> Take(Managed* managed) {
  const dlpack::DlTensor& from = managed->dl_tensor;
  PSTRAIN_RETURN_IF_ERROR(Check(from));
  PSTRAIN_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(from.dtype));
  std::vector<std::int64_t> sizes(from.shape, from.shape + from.ndim);
  const Shape shape(sizes);
  const std::optional<std::int64_t> elements = shape.num_elements();
  if (!elements) return InvalidArgumentError("dlpack: no tensor has the shape " + shape.ToString());
  if (*elements > 0 && from.data == nullptr) {
    return InvalidArgumentError("dlpack: the tensor of shape " + shape.ToString() +
                                " has no memory");
  }
  const std::byte* data =
      from.data == nullptr ? nullptr : static_cast<const std::byte*>(from.data) + from.byte_offset;
  const auto release = [](Managed* done) {
    if (done->deleter != nullptr) done->deleter(done);
  };
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % DTypeSize(dtype) == 0;
  if (aligned && IsRowMajor(sizes, from.strides)) {
    // The owner takes `managed` once nothing can be refused any more.
    const auto owner =
        std::make_shared<std::unique_ptr<Managed, decltype(release)>>(nullptr, release);
    PSTRAIN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Over(dtype, shape, data, owner));
    owner->reset(managed);
    return tensor;
  }
  const std::vector<std::byte> gathered =
      Gathered(data, sizes, from.strides, static_cast<std::size_t>(*elements), DTypeSize(dtype));
  PSTRAIN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromBytes(dtype, shape, gathered));
  release(managed);
  return tensor;
}

// A tensor that is given away, with what its fields point to.
template <typename Managed>
struct Given {
  Managed managed{};
  Tensor tensor;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

template <typename Managed>
Result<Managed*> Give(const Tensor& tensor) {
  if (tensor.dtype() == DType::kString) {
    return UnimplementedError("dlpack: " + tensor.ToString() + " has no form there");
  }
  auto given = std::make_unique<Given<Managed>>();
  given->tensor = tensor;
  given->sizes = tensor.shape().sizes();
  given->strides.resize(given->sizes.size());
  std::int64_t stride = 1;
  for (std::size_t axis = given->sizes.size(); axis-- > 0;) {
    given->strides[axis] = stride;
    stride *= std::max<std::int64_t>(1, given->sizes[axis]);
  }
  dlpack::DlTensor& to = given->managed.dl_tensor;
  // The ABI has no pointer to const; kReadOnly says it where there is a place for it.
  to.data = const_cast<std::byte*>(tensor.bytes().data());
  to.device = {dlpack::kCpu, 0};
  to.ndim = static_cast<std::int32_t>(given->sizes.size());
  to.dtype = DataTypeOf(tensor.dtype());
  to.shape = given->sizes.data();
  to.strides = given->strides.data();
  given->managed.manager_ctx = given.get();
  given->managed.deleter = [](Managed* self) {
    delete static_cast<Given<Managed>*>(self->manager_ctx);
  };
  return &given.release()->managed;
}

}  // namespace

Result<Tensor> FromDlpack(dlpack::ManagedTensor* managed) {
  if (managed == nullptr) return InvalidArgumentError("dlpack: there is no tensor");
  return Take(managed);
}

Result<Tensor> FromDlpack(dlpack::ManagedTensorVersioned* managed) {
  if (managed == nullptr) return InvalidArgumentError("dlpack: there is no tensor");
  if (managed->version.major != dlpack::kMajorVersion) {
    return UnimplementedError("dlpack: version " + std::to_string(managed->version.major) +
                              " is not known, only 1 is");
  }
  return Take(managed);
}

Result<dlpack::ManagedTensor*> ToDlpack(const Tensor& tensor) {
  return Give<dlpack::ManagedTensor>(tensor);
}

Result<dlpack::ManagedTensorVersioned*> ToDlpackVersioned(const Tensor& tensor) {
  PSTRAIN_ASSIGN_OR_RETURN(dlpack::ManagedTensorVersioned * managed,
                           Give<dlpack::ManagedTensorVersioned>(tensor));
  managed->version = {dlpack::kMajorVersion, 0};
  managed->flags = dlpack::kReadOnly;
  return managed;
}

}  // namespace pstrain
