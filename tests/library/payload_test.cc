#include "library/payload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "library/payload.pb.h"

namespace pstrain::program {
namespace {

Values Sample() {
  const Tensor matrix = *Tensor::From(Shape{2, 3}, std::vector<float>{1, -2, 3, 4, 5, 0.5F});
  const Tensor none = *Tensor::From(Shape{0, 3}, std::vector<std::int32_t>());
  return {{"matrix", matrix},
          {"none", none},
          {"words", Tensor::From(std::vector<std::string>{"", "two", std::string(3, '\0')})},
          {"flags", Tensor::From(std::vector<bool>{true, false})},
          {"lowest", std::numeric_limits<std::int64_t>::min()}};
}

/// A call whose argument is a tensor that the test makes.
std::string CallWith(const WireTensor& tensor) {
  WireCall call;
  call.set_function("F");
  *call.add_arguments()->mutable_tensor() = tensor;
  return call.SerializeAsString();
}

TEST(Payload, WhenEncoded_ACallComesBack) {
  const Call call{"TrainStep", "values,float64", {Sample(), Tensor(0.25)}};
  const Result<Call> back = DecodeCall(EncodeCall(call));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, call);
}

TEST(Payload, WhenEncoded_ValuesComeBackInTheirOrder) {
  const Result<Values> back = DecodeValues(EncodeValues(Sample()));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, Sample());
  EXPECT_EQ(back->begin()->name, "matrix");
  EXPECT_EQ(EncodeValues(Values()), "");
}

TEST(Payload, WhenCallsAreEqual_TheirBytesAre) {
  EXPECT_EQ(EncodeCall({"F", "", {Sample()}}), EncodeCall({"F", "", {Sample()}}));
  EXPECT_NE(EncodeCall({"F", "", {Sample()}}), EncodeCall({"G", "", {Sample()}}));
}

TEST(Payload, WhenBytesAreForeign_TheyAreRefused) {
  EXPECT_EQ(DecodeCall("\x0a\xff").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeValues("\x0a\xff").status().code(), StatusCode::kInvalidArgument);
  WireTensor tensor;
  tensor.set_dtype(6);
  EXPECT_EQ(DecodeCall(CallWith(tensor)).status().code(), StatusCode::kInvalidArgument);
  tensor.set_dtype(0);
  tensor.add_shape(2);
  tensor.set_elements("1234567");
  EXPECT_EQ(DecodeCall(CallWith(tensor)).status().code(), StatusCode::kInvalidArgument);
  tensor.set_elements("12345678");
  EXPECT_TRUE(DecodeCall(CallWith(tensor)).ok());
  tensor.set_shape(0, -1);
  EXPECT_FALSE(DecodeCall(CallWith(tensor)).ok());
  tensor.set_shape(0, std::numeric_limits<std::int64_t>::max());
  tensor.add_shape(std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(DecodeCall(CallWith(tensor)).ok());
  WireCall empty;
  empty.add_arguments();
  EXPECT_EQ(DecodeCall(empty.SerializeAsString()).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pstrain::program
