#include "library/payload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "library/data/iterator_state.h"
#include "library/data/resources/resource_source.h"
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

TEST(Payload, WhenEncoded_AResultComesBackInItsOrder) {
  const CallResult result{Sample(), {{"loss", -0.5, 3}, {"accuracy", 2, 4}}};
  const Result<CallResult> back = DecodeResult(EncodeResult(result));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, result);
  EXPECT_EQ(back->values.begin()->name, "matrix");
  EXPECT_EQ(EncodeResult({}), "");
  EXPECT_EQ(*DecodeResult(""), CallResult());
}

TEST(Payload, WhenEncoded_TheElementsOfACallComeBack) {
  const Iterator known = BoundTo({.dataset = "Records",
                                  .workers = 3,
                                  .pipeline = 2,
                                  .pass = 5,
                                  .first = 7,
                                  .count = 4,
                                  .size = 9},
                                 nullptr);
  const Iterator unknown = BoundTo({.dataset = "Generated"}, nullptr);
  const Call call{"TrainStep", "iterator,iterator", {known, unknown}};
  const Result<Call> back = DecodeCall(EncodeCall(call));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, call);
  EXPECT_FALSE(back->arguments[0] == back->arguments[1]);
  Iterator sent = std::get<Iterator>(back->arguments[0]);
  EXPECT_EQ(sent.Next().status().code(), StatusCode::kInternal);
}

TEST(Payload, WhenEncoded_TheResourcesOfACallComeBackWithoutASource) {
  const Argument words = ResourceAccess::Make("Words", 3, nullptr);
  const Call call{"TrainStep", "resource", {words}};
  const Result<Call> back = DecodeCall(EncodeCall(call));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(*back, call);
  EXPECT_FALSE(back->arguments[0] == Argument(ResourceAccess::Make("Words", 2, nullptr)));
  const auto& handle = std::get<resource_internal::Handle>(back->arguments[0]);
  EXPECT_EQ(handle.Get(typeid(int)).status().code(), StatusCode::kUnimplemented);
}

TEST(Payload, WhenElementsCannotBe_TheyAreRefused) {
  WireCall call;
  WireElements* const elements = call.add_arguments()->mutable_elements();
  const auto code = [&call] { return DecodeCall(call.SerializeAsString()).status().code(); };
  EXPECT_EQ(code(), StatusCode::kInvalidArgument) << "no element";
  elements->set_workers(1);
  elements->set_count(2);
  EXPECT_EQ(code(), StatusCode::kOk);
  elements->set_first(std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(code(), StatusCode::kInvalidArgument);
  elements->set_first(0);
  elements->set_pipeline(1);
  EXPECT_EQ(code(), StatusCode::kInvalidArgument);
  WireResult result;
  result.add_metrics()->set_numerator(std::numeric_limits<double>::infinity());
  EXPECT_EQ(DecodeResult(result.SerializeAsString()).status().code(), StatusCode::kInvalidArgument);
}

TEST(Payload, WhenCallsAreEqual_TheirBytesAre) {
  EXPECT_EQ(EncodeCall({"F", "", {Sample()}}), EncodeCall({"F", "", {Sample()}}));
  EXPECT_NE(EncodeCall({"F", "", {Sample()}}), EncodeCall({"G", "", {Sample()}}));
}

TEST(Payload, WhenBytesAreForeign_TheyAreRefused) {
  EXPECT_EQ(DecodeCall("\x0a\xff").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DecodeResult("\x0a\xff").status().code(), StatusCode::kInvalidArgument);
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
