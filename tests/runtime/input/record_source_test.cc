#include "runtime/input/record_source.h"

#include <gtest/gtest.h>

#include "runtime/input/record_position.h"

namespace pstrain {
namespace {

TEST(RecordSource, ForEachKindOfInput_IsInTheTable) {
  const google::protobuf::OneofDescriptor& kinds = *Input::descriptor()->FindOneofByName("kind");
  for (int i = 0; i < kinds.field_count(); ++i) {
    Input input;
    input.GetReflection()->MutableMessage(&input, kinds.field(i));
    EXPECT_TRUE(CreateRecordSource(input).ok()) << kinds.field(i)->name();
  }
  EXPECT_EQ(CreateRecordSource(Input()).status().code(), StatusCode::kInvalidArgument);
}

TEST(RecordPosition, WhenEncoded_ComesBackAndNothingElseDoes) {
  const NumberedOffset position{0x0102030405060708, 0xf1f2f3f4f5f6f7f8};
  const RecordPosition bytes = EncodePosition(position);
  EXPECT_EQ(*DecodePosition("f", bytes), position);
  for (const RecordPosition& other : {RecordPosition(), bytes.substr(1), bytes + "x"}) {
    EXPECT_EQ(DecodePosition("f", other).status().code(), StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace pstrain
