#include <gtest/gtest.h>
#include <pstrain/dtype.h>

#include <cstdint>
#include <string>

#include "proto/contract/checkpoint.pb.h"

namespace pstrain {
namespace {

TEST(DType, NumbersOfWhatAVariableMayHave_AreThoseOfCheckpoints) {
  EXPECT_EQ(static_cast<int>(DType::kFloat32), VariableSpec::FLOAT32);
  EXPECT_EQ(static_cast<int>(DType::kFloat64), VariableSpec::FLOAT64);
  EXPECT_EQ(static_cast<int>(DType::kInt32), VariableSpec::INT32);
  EXPECT_EQ(static_cast<int>(DType::kInt64), VariableSpec::INT64);
}

TEST(DType, OfEachElement_HasItsSizeAndName) {
  EXPECT_EQ(kDTypeOf<float>, DType::kFloat32);
  EXPECT_EQ(kDTypeOf<std::int64_t>, DType::kInt64);
  EXPECT_EQ(DTypeSize(kDTypeOf<float>), sizeof(float));
  EXPECT_EQ(DTypeSize(kDTypeOf<double>), sizeof(double));
  EXPECT_EQ(DTypeSize(kDTypeOf<std::int32_t>), sizeof(std::int32_t));
  EXPECT_EQ(DTypeSize(kDTypeOf<std::int64_t>), sizeof(std::int64_t));
  EXPECT_EQ(DTypeSize(kDTypeOf<bool>), sizeof(bool));
  EXPECT_EQ(DTypeSize(kDTypeOf<std::string>), 0U);
  EXPECT_STREQ(DTypeName(DType::kFloat64), "float64");
  EXPECT_STREQ(DTypeName(DType::kInt32), "int32");
  EXPECT_STREQ(DTypeName(DType::kBool), "bool");
  EXPECT_STREQ(DTypeName(DType::kString), "string");
  EXPECT_STREQ(DTypeName(static_cast<DType>(6)), "an unknown dtype");
}

static_assert(TensorElement<bool> && TensorElement<std::string>);
static_assert(!TensorElement<char> && !TensorElement<unsigned> && !TensorElement<const char*>);

}  // namespace
}  // namespace pstrain
