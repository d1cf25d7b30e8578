#include <gtest/gtest.h>
#include <pstrain/dlpack.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

// A tensor of another library over floats, that counts how often it is deleted.
struct Foreign {
  explicit Foreign(std::vector<std::int64_t> given_sizes,
                   std::vector<std::int64_t> given_strides = {})
      : sizes(std::move(given_sizes)), strides(std::move(given_strides)) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    managed.dl_tensor.data = values.data();
    managed.dl_tensor.device = {dlpack::kCpu, 0};
    managed.dl_tensor.ndim = static_cast<std::int32_t>(sizes.size());
    managed.dl_tensor.dtype = {dlpack::kFloat, 32, 1};
    managed.dl_tensor.shape = sizes.data();
    managed.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    managed.manager_ctx = this;
    managed.deleter = [](dlpack::ManagedTensor* self) {
      ++static_cast<Foreign*>(self->manager_ctx)->deleted;
    };
  }

  std::array<float, 12> values{};
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  dlpack::ManagedTensor managed{};
  int deleted = 0;
};

TEST(FromDlpack, WhenRowMajor_SharesTheMemoryUntilTheLastTensorIsGone) {
  Foreign foreign({2, 3});
  {
    Result<Tensor> tensor = FromDlpack(&foreign.managed);
    ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
    EXPECT_EQ(tensor->data<float>()->data(), foreign.values.data());
    EXPECT_EQ(tensor->shape(), (Shape{2, 3}));
    const Tensor row = tensor->Slice(1, 2).value();
    tensor = Tensor();
    EXPECT_EQ(foreign.deleted, 0);
    EXPECT_EQ(*row.ToVector<float>(), (std::vector<float>{3, 4, 5}));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(FromDlpack, WhenStridesSayRowMajor_SharesTheMemory) {
  Foreign foreign({2, 1, 3}, {3, 99, 1});
  EXPECT_EQ(FromDlpack(&foreign.managed)->data<float>()->data(), foreign.values.data());
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(FromDlpack, WhenTransposed_CopiesInRowOrder) {
  Foreign foreign({3, 2}, {1, 3});
  const Result<Tensor> tensor = FromDlpack(&foreign.managed);
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(*tensor->ToVector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(FromDlpack, WhenStridesAreNegativeOrZero_CopiesWhatTheySay) {
  Foreign backwards({4}, {-1});
  backwards.managed.dl_tensor.byte_offset = 3 * sizeof(float);
  EXPECT_EQ(*FromDlpack(&backwards.managed)->ToVector<float>(), (std::vector<float>{3, 2, 1, 0}));
  Foreign repeated({2, 2}, {0, 1});
  EXPECT_EQ(*FromDlpack(&repeated.managed)->ToVector<float>(), (std::vector<float>{0, 1, 0, 1}));
}

TEST(FromDlpack, WhenNotAligned_Copies) {
  Foreign foreign({2});
  auto* bytes = reinterpret_cast<std::byte*>(foreign.values.data());
  const std::array<float, 2> wanted{7, 8};
  std::memcpy(bytes + 1, wanted.data(), sizeof(wanted));
  foreign.managed.dl_tensor.byte_offset = 1;
  EXPECT_EQ(*FromDlpack(&foreign.managed)->ToVector<float>(), (std::vector<float>{7, 8}));
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(FromDlpack, OfAScalarAndOfNoElements_IsTaken) {
  Foreign scalar({});
  scalar.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(*FromDlpack(&scalar.managed)->scalar<float>(), 0);
  Foreign nothing({0, 3}, {7, 7});
  nothing.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(FromDlpack(&nothing.managed)->shape(), (Shape{0, 3}));
}

TEST(FromDlpack, WhenRefused_IsStillTheCallers) {
  const auto refused = [](auto change) {
    Foreign foreign({2, 3});
    change(foreign.managed.dl_tensor);
    const Status status = FromDlpack(&foreign.managed).status();
    EXPECT_EQ(foreign.deleted, 0) << status.ToString();
    return status.code();
  };
  using dlpack::DlTensor;
  EXPECT_EQ(refused([](DlTensor& t) { t.device.device_type = 2; }), StatusCode::kUnimplemented);
  EXPECT_EQ(refused([](DlTensor& t) { t.dtype.bits = 16; }), StatusCode::kUnimplemented);
  EXPECT_EQ(refused([](DlTensor& t) { t.dtype.code = 1; }), StatusCode::kUnimplemented);
  EXPECT_EQ(refused([](DlTensor& t) { t.dtype.lanes = 4; }), StatusCode::kUnimplemented);
  EXPECT_EQ(refused([](DlTensor& t) { t.data = nullptr; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused([](DlTensor& t) { t.ndim = -1; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused([](DlTensor& t) { t.shape = nullptr; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused([](DlTensor& t) { t.shape[0] = -2; }), StatusCode::kInvalidArgument);
  EXPECT_EQ(FromDlpack(static_cast<dlpack::ManagedTensor*>(nullptr)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(FromDlpack, WhenAByteIsNoBool_IsRefusedAndStillTheCallers) {
  Foreign foreign({2});
  foreign.managed.dl_tensor.dtype = {dlpack::kBool, 8, 1};
  foreign.values[0] = 1.0F;
  EXPECT_EQ(FromDlpack(&foreign.managed).status().code(), StatusCode::kOk);
  foreign.deleted = 0;
  std::memset(foreign.values.data(), 7, 2);
  EXPECT_EQ(FromDlpack(&foreign.managed).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(ToDlpack, KeepsTheMemoryUntilItIsDeleted) {
  dlpack::ManagedTensor* managed = nullptr;
  const void* memory = nullptr;
  {
    const Tensor tensor = Tensor::From(Shape{2, 2}, std::vector<std::int64_t>{1, 2, 3, 4}).value();
    memory = tensor.data<std::int64_t>()->data();
    managed = ToDlpack(tensor).value();
  }
  EXPECT_EQ(managed->dl_tensor.data, memory);
  EXPECT_EQ(static_cast<const std::int64_t*>(managed->dl_tensor.data)[3], 4);
  EXPECT_EQ(managed->dl_tensor.ndim, 2);
  EXPECT_EQ(managed->dl_tensor.strides[0], 2);
  EXPECT_EQ(managed->dl_tensor.strides[1], 1);
  EXPECT_EQ(managed->dl_tensor.dtype.code, dlpack::kInt);
  EXPECT_EQ(managed->dl_tensor.dtype.bits, 64);
  managed->deleter(managed);
}

TEST(ToDlpack, OfEveryDType_ComesBackTheSame) {
  const std::vector<Tensor> tensors{Tensor(0.5F),
                                    Tensor(0.5),
                                    Tensor(-3),
                                    Tensor(std::int64_t{-3}),
                                    Tensor::From(std::vector<bool>{true, false}),
                                    Tensor()};
  for (const Tensor& tensor : tensors) {
    EXPECT_EQ(FromDlpack(ToDlpack(tensor).value()).value(), tensor) << tensor.ToString();
    EXPECT_EQ(FromDlpack(ToDlpackVersioned(tensor).value()).value(), tensor) << tensor.ToString();
  }
  EXPECT_EQ(ToDlpack(Tensor("text")).status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(ToDlpackVersioned(Tensor("text")).status().code(), StatusCode::kUnimplemented);
}

TEST(ToDlpackVersioned, SaysThatNobodyMayWrite) {
  dlpack::ManagedTensorVersioned* managed = ToDlpackVersioned(Tensor(1)).value();
  EXPECT_EQ(managed->version.major, 1U);
  EXPECT_EQ(managed->flags & dlpack::kReadOnly, dlpack::kReadOnly);
  managed->version.major = 2;
  EXPECT_EQ(FromDlpack(managed).status().code(), StatusCode::kUnimplemented);
  managed->deleter(managed);
}

// The sizes and places that a compiler of C gives to DLPack's structs on a machine of 64 bits.
static_assert(sizeof(dlpack::DlTensor) == 48 && offsetof(dlpack::DlTensor, ndim) == 16 &&
              offsetof(dlpack::DlTensor, dtype) == 20 && offsetof(dlpack::DlTensor, shape) == 24 &&
              offsetof(dlpack::DlTensor, byte_offset) == 40);
static_assert(sizeof(dlpack::ManagedTensor) == 64);
static_assert(offsetof(dlpack::ManagedTensorVersioned, manager_ctx) == 8 &&
              offsetof(dlpack::ManagedTensorVersioned, flags) == 24 &&
              offsetof(dlpack::ManagedTensorVersioned, dl_tensor) == 32);

}  // namespace
}  // namespace pstrain
