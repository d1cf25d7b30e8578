#pragma once

#include <pstrain/status.h>
#include <pstrain/tensor.h>

#include <cstdint>

/// The structs of DLPack's C ABI under names of our own, so that a program may include DLPack's
/// header too: a pointer to one of these is a pointer to DLPack's struct (reinterpret_cast), and a
/// Python capsule "dltensor" or "dltensor_versioned" holds one. Source of layout and numbers:
/// DLPack 1.0, C API.
namespace pstrain::dlpack {

/// DLDevice. Of the types only those whose memory a CPU reads are taken.
struct Device {
  std::int32_t device_type;
  std::int32_t device_id;
};
inline constexpr std::int32_t kCpu = 1;
inline constexpr std::int32_t kCudaHost = 3;

/// DLDataType: `lanes` elements of `bits` each.
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
inline constexpr std::uint8_t kInt = 0;
inline constexpr std::uint8_t kFloat = 2;
inline constexpr std::uint8_t kBool = 6;

/// DLTensor. Strides count elements; without strides it is row-major.
struct DlTensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// DLManagedTensor: who is done with it calls `deleter` once.
struct ManagedTensor {
  DlTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(ManagedTensor* self);
};

/// DLPackVersion. Another major number is another layout.
struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
inline constexpr std::uint32_t kMajorVersion = 1;

/// DLManagedTensorVersioned.
struct ManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  DlTensor dl_tensor;
};
/// A flag: nobody may write to the elements.
inline constexpr std::uint64_t kReadOnly = 1;

}  // namespace pstrain::dlpack

namespace pstrain {

/// A tensor over the memory of another library. Mirrors tf.experimental.dlpack.from_dlpack. Nothing
/// is copied where the memory is row-major and aligned; `managed` is deleted when the last tensor
/// over it is gone, by whichever thread that is, and until then nobody may write to the elements.
/// Other strides, and memory that is not aligned, are copied, and `managed` is deleted at once.
///
/// On an error the caller still owns `managed`. INVALID_ARGUMENT: no tensor, a size or an offset
/// that cannot be. UNIMPLEMENTED names what is not taken: memory of a device, a dtype without a
/// DType of ours, lanes, another major version. Any thread.
Result<Tensor> FromDlpack(dlpack::ManagedTensor* managed);
Result<Tensor> FromDlpack(dlpack::ManagedTensorVersioned* managed);

/// The tensor's memory for another library, which calls `deleter` when it is done with it; the
/// memory lives as long. Nothing is copied. Mirrors tf.experimental.dlpack.to_dlpack. It must not
/// be written to, which only the versioned form can say. UNIMPLEMENTED: kString. Any thread.
Result<dlpack::ManagedTensor*> ToDlpack(const Tensor& tensor);
Result<dlpack::ManagedTensorVersioned*> ToDlpackVersioned(const Tensor& tensor);

}  // namespace pstrain
