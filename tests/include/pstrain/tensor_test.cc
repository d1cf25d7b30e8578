#include <gtest/gtest.h>
#include <pstrain/tensor.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

template <typename T>
std::vector<T> Elements(const Result<Tensor>& tensor) {
  if (!tensor.ok()) {
    ADD_FAILURE() << tensor.status().ToString();
    return {};
  }
  const Result<std::vector<T>> values = tensor->ToVector<T>();
  if (!values.ok()) {
    ADD_FAILURE() << values.status().ToString();
    return {};
  }
  return *values;
}

Tensor Counted(Shape shape) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(shape.num_elements().value_or(0)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  return Tensor::From(std::move(shape), std::move(values)).value();
}

TEST(Tensor, WhenMadeOfOneValue_IsAScalarOfItsDType) {
  EXPECT_EQ(Tensor(0.5F).dtype(), DType::kFloat32);
  EXPECT_EQ(*Tensor(0.5F).scalar<float>(), 0.5F);
  EXPECT_EQ(*Tensor(0.5).scalar<double>(), 0.5);
  EXPECT_EQ(*Tensor(-3).scalar<std::int32_t>(), -3);
  EXPECT_EQ(*Tensor(std::int64_t{1} << 40).scalar<std::int64_t>(), std::int64_t{1} << 40);
  EXPECT_TRUE(*Tensor(true).scalar<bool>());
  EXPECT_EQ(*Tensor("text").scalar<std::string>(), "text");
  EXPECT_TRUE(Tensor(1).shape().is_scalar());
  EXPECT_EQ(Tensor(1).size(), 1U);
}

TEST(Tensor, WhenMadeOfNothing_HasNoElements) {
  EXPECT_TRUE(Tensor().empty());
  EXPECT_EQ(Tensor().shape(), Shape{0});
  EXPECT_EQ(Tensor().dtype(), DType::kFloat32);
  EXPECT_TRUE(Tensor().data<float>()->empty());
  EXPECT_EQ(Tensor::From(std::vector<bool>()).shape(), Shape{0});
}

TEST(Tensor, From_TakesTheMemoryOfTheVector) {
  std::vector<double> values{1, 2, 3};
  const double* memory = values.data();
  const Tensor tensor = Tensor::From(std::move(values));
  EXPECT_EQ(tensor.data<double>()->data(), memory);
  EXPECT_EQ(tensor.shape(), Shape{3});
  EXPECT_EQ(tensor.bytes().size(), 3 * sizeof(double));
}

TEST(Tensor, From_OfBoolsAndTexts_KeepsTheirOrder) {
  EXPECT_EQ(Elements<bool>(Tensor::From(std::vector<bool>{true, false, true})),
            (std::vector<bool>{true, false, true}));
  EXPECT_EQ(Elements<std::string>(
                Tensor::From(Shape{2, 1}, std::vector<std::string>{"a", std::string("\0b", 2)})),
            (std::vector<std::string>{"a", std::string("\0b", 2)}));
}

TEST(Tensor, WhenCopied_SharesItsElementsAndKeepsThem) {
  auto first = std::make_unique<Tensor>(Tensor::From(std::vector<float>{1, 2}));
  const float* memory = first->data<float>()->data();
  const Tensor copy = *first;
  first.reset();
  EXPECT_EQ(copy.data<float>()->data(), memory);
  EXPECT_EQ(Elements<float>(copy), (std::vector<float>{1, 2}));
}

TEST(Tensor, WhenSeveralThreadsCopyAndDropIt_StaysWhole) {
  const Tensor tensor = Counted({100});
  std::array<std::int64_t, 4> sums{};
  {
    std::vector<std::jthread> threads;
    for (std::int64_t& sum : sums) {
      threads.emplace_back([&tensor, &sum] {
        for (int i = 0; i < 100; ++i) {
          const Tensor row = tensor.Slice(i, i + 1).value();
          sum += row.scalar<std::int32_t>().value();
        }
      });
    }
  }
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 4950);
}

TEST(Tensor, WhenTheShapeHasAnotherNumberOfElements_IsRefused) {
  const Result<Tensor> tensor = Tensor::From(Shape{2, 2}, std::vector<float>{1, 2, 3});
  EXPECT_EQ(tensor.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(tensor.status().message().find("float32 (2, 2)"), std::string::npos);
}

TEST(Tensor, WhenASizeIsUnknownOrNegative_IsRefused) {
  for (const Shape& shape : {Shape{Shape::kUnknown}, Shape{-2, 3}}) {
    EXPECT_EQ(Tensor::Zeros(DType::kFloat32, shape).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Tensor::FromBytes(DType::kInt32, shape, {}).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(Tensor, Zeros_OfEveryDType_AreZero) {
  EXPECT_EQ(Elements<float>(Tensor::Zeros(DType::kFloat32, {2})), std::vector<float>(2));
  EXPECT_EQ(Elements<double>(Tensor::Zeros(DType::kFloat64, {2})), std::vector<double>(2));
  EXPECT_EQ(Elements<std::int32_t>(Tensor::Zeros(DType::kInt32, {2})),
            std::vector<std::int32_t>(2));
  EXPECT_EQ(Elements<std::int64_t>(Tensor::Zeros(DType::kInt64, {2})),
            std::vector<std::int64_t>(2));
  EXPECT_EQ(Elements<bool>(Tensor::Zeros(DType::kBool, {2})), std::vector<bool>(2));
  EXPECT_EQ(Elements<std::string>(Tensor::Zeros(DType::kString, {2})), std::vector<std::string>(2));
  EXPECT_EQ(Tensor::Zeros(static_cast<DType>(9), {2}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Tensor, WhenNoMemoryHoldsIt_IsRefused) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Tensor::Zeros(DType::kFloat32, {most}).status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(Tensor::Zeros(DType::kBool, {most, most}).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(Elements<bool>(Tensor::Zeros(DType::kBool, {most, most, 0})), std::vector<bool>());
}

TEST(Tensor, FromBytes_CopiesWholeElements) {
  std::vector<std::int64_t> values{5, -6};
  const auto bytes = std::as_bytes(std::span(values));
  const Result<Tensor> tensor = Tensor::FromBytes(DType::kInt64, {2}, bytes);
  values = {0, 0};
  EXPECT_EQ(Elements<std::int64_t>(tensor), (std::vector<std::int64_t>{5, -6}));
  EXPECT_EQ(Tensor::FromBytes(DType::kInt64, {2}, bytes.first(15)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::FromBytes(DType::kString, {0}, {}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Tensor, WhenAByteIsNoBool_IsRefused) {
  const std::array<std::byte, 2> bytes{std::byte{1}, std::byte{2}};
  EXPECT_EQ(Tensor::FromBytes(DType::kBool, {2}, bytes).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Over(DType::kBool, {2}, bytes.data(), nullptr).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Elements<bool>(Tensor::Over(DType::kBool, {1}, bytes.data(), nullptr)),
            std::vector<bool>{true});
}

TEST(Tensor, Over_KeepsTheOwnerAsLongAsASliceLives) {
  auto owner = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<const std::vector<float>> seen = owner;
  Result<Tensor> rows = Tensor::Over(DType::kFloat32, {2, 2}, owner->data(), owner);
  const float* memory = owner->data();
  owner.reset();
  Result<Tensor> second = rows->Slice(1, 2);
  rows = Tensor();
  EXPECT_FALSE(seen.expired());
  EXPECT_EQ(Elements<float>(second), (std::vector<float>{3, 4}));
  EXPECT_EQ(second->data<float>()->data(), memory + 2);
  second = Tensor();
  EXPECT_TRUE(seen.expired());
}

TEST(Tensor, Over_RefusesWhatCannotBeReadThere) {
  alignas(8) const std::array<std::byte, 16> bytes{};
  EXPECT_EQ(Tensor::Over(DType::kFloat64, {1}, bytes.data() + 4, nullptr).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Over(DType::kFloat64, {1}, nullptr, nullptr).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Over(DType::kString, {1}, bytes.data(), nullptr).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_TRUE(Tensor::Over(DType::kFloat64, {0}, nullptr, nullptr).ok());
}

TEST(Tensor, WhenReadAsAnotherDType_IsRefused) {
  const Status status = Counted({2, 3}).data<float>().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("int32 (2, 3)"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("not float32"), std::string::npos) << status.message();
}

TEST(Tensor, Scalar_TakesOneElementOfAnyShapeAndNoMore) {
  EXPECT_EQ(*Counted({1, 1}).scalar<std::int32_t>(), 0);
  EXPECT_EQ(Counted({2}).scalar<std::int32_t>().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Counted({0}).scalar<std::int32_t>().status().code(), StatusCode::kInvalidArgument);
}

TEST(Tensor, Reshape_KeepsElementsAndInfersOneSize) {
  const Tensor tensor = Counted({2, 6});
  EXPECT_EQ(tensor.Reshape({3, 4})->shape(), (Shape{3, 4}));
  EXPECT_EQ(tensor.Reshape({4, Shape::kUnknown})->shape(), (Shape{4, 3}));
  EXPECT_EQ(tensor.Reshape({Shape::kUnknown})->data<std::int32_t>()->data(),
            tensor.data<std::int32_t>()->data());
  EXPECT_EQ(Counted({1}).Reshape({})->shape(), Shape());
  EXPECT_EQ(Counted({0}).Reshape({Shape::kUnknown, 2})->shape(), (Shape{0, 2}));
}

TEST(Tensor, Reshape_ToAnotherNumberOfElements_IsRefused) {
  const Tensor tensor = Counted({2, 6});
  for (const Shape& shape : {Shape{5}, Shape{5, -1}, Shape{-1, -1}, Shape{-1, 0}, Shape{-3, -4}}) {
    EXPECT_EQ(tensor.Reshape(shape).status().code(), StatusCode::kInvalidArgument)
        << shape.ToString();
  }
}

TEST(Tensor, Reshape_OfNoElementsToAnUnknownSizeBesideNone_IsRefused) {
  EXPECT_EQ(Counted({0}).Reshape({Shape::kUnknown, 0}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Counted({0}).Reshape({3, 0})->shape(), (Shape{3, 0}));
}

TEST(Tensor, Slice_TakesRowsOfTheSameBuffer) {
  const Tensor tensor = Counted({3, 2});
  EXPECT_EQ(Elements<std::int32_t>(tensor.Slice(1, 3)), (std::vector<std::int32_t>{2, 3, 4, 5}));
  EXPECT_EQ(tensor.Slice(1, 3)->shape(), (Shape{2, 2}));
  EXPECT_EQ(tensor.Slice(3, 3)->shape(), (Shape{0, 2}));
  EXPECT_EQ(Counted({0, 2}).Slice(0, 0)->shape(), (Shape{0, 2}));
  const Tensor texts = Tensor::From(std::vector<std::string>{"a", "b", "c"});
  EXPECT_EQ(Elements<std::string>(texts.Slice(1, 2)), std::vector<std::string>{"b"});
}

TEST(Tensor, Slice_BeyondTheRows_IsRefused) {
  const Tensor tensor = Counted({3, 2});
  EXPECT_EQ(tensor.Slice(-1, 2).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(tensor.Slice(2, 1).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(tensor.Slice(0, 4).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(Tensor(1).Slice(0, 1).status().code(), StatusCode::kInvalidArgument);
}

TEST(Tensor, AreEqual_WhenDTypeShapeAndElementsAre) {
  EXPECT_EQ(Counted({2, 3}), Counted({2, 3}));
  EXPECT_NE(Counted({2, 3}), Counted({3, 2}));
  EXPECT_NE(Tensor(1), Tensor(std::int64_t{1}));
  EXPECT_NE(Tensor("a"), Tensor("b"));
  EXPECT_NE(Tensor(std::nanf("")), Tensor(std::nanf("")));
}

TEST(Concat, PutsRowsOneBehindTheOther) {
  const std::vector<Tensor> parts{Counted({2, 2}), Counted({0, 2}), Counted({1, 2})};
  const Result<Tensor> whole = Concat(parts);
  EXPECT_EQ(Elements<std::int32_t>(whole), (std::vector<std::int32_t>{0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(whole->shape(), (Shape{3, 2}));
  const std::vector<Tensor> bools{Tensor::From(std::vector<bool>{true}),
                                  Tensor::From(std::vector<bool>{false})};
  EXPECT_EQ(Elements<bool>(Concat(bools)), (std::vector<bool>{true, false}));
}

TEST(Concat, WhenTheyDoNotFit_IsRefused) {
  const std::vector<std::vector<Tensor>> bad{
      {}, {Tensor(1)}, {Counted({1, 2}), Counted({1, 3})}, {Counted({1}), Tensor()}};
  for (const std::vector<Tensor>& parts : bad) {
    EXPECT_EQ(Concat(parts).status().code(), StatusCode::kInvalidArgument) << parts.size();
  }
}

}  // namespace
}  // namespace pstrain
