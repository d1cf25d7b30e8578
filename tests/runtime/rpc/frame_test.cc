#include "runtime/rpc/frame.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

FrameHeader Sample() {
  FrameHeader header;
  header.op = 0x0102;
  header.flags = kFrameReply;
  header.status = StatusCode::kUnavailable;
  header.request_id = 0x1122334455667788;
  header.body_length = 5;
  return header;
}

TEST(Frame, EncodeThenDecode_GivesTheSame) {
  const auto bytes = EncodeFrameHeader(Sample());
  const auto decoded = DecodeFrameHeader(bytes, kFrameHeaderSize + 5);
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(*decoded, Sample());
}

TEST(Frame, Encode_IsLittleEndian) {
  const auto bytes = EncodeFrameHeader(Sample());
  EXPECT_EQ(bytes[0], std::byte{'p'});
  EXPECT_EQ(bytes[3], std::byte{'F'});
  EXPECT_EQ(bytes[6], std::byte{0x02});
  EXPECT_EQ(bytes[7], std::byte{0x01});
  EXPECT_EQ(bytes[16], std::byte{0x88});
  EXPECT_EQ(bytes[24], std::byte{5});
}

TEST(Frame, WhenShorterThanTheHeader_IsRefused) {
  const auto bytes = EncodeFrameHeader(Sample());
  for (std::size_t size = 0; size < kFrameHeaderSize; ++size) {
    const auto decoded = DecodeFrameHeader(std::span(bytes).first(size), size);
    EXPECT_EQ(decoded.status().code(), StatusCode::kInvalidArgument) << size;
  }
}

TEST(Frame, WhenTheBodyLengthDiffers_IsRefused) {
  const auto bytes = EncodeFrameHeader(Sample());
  EXPECT_FALSE(DecodeFrameHeader(bytes, kFrameHeaderSize + 4).ok());
  EXPECT_FALSE(DecodeFrameHeader(bytes, kFrameHeaderSize + 6).ok());
}

TEST(Frame, WhenAFieldIsWrong_IsRefused) {
  for (const std::size_t at : {0u, 3u, 4u, 8u, 11u, 12u, 14u}) {
    auto bytes = EncodeFrameHeader(Sample());
    bytes[at] ^= std::byte{0x40};
    EXPECT_FALSE(DecodeFrameHeader(bytes, kFrameHeaderSize + 5).ok()) << at;
  }
}

TEST(Frame, WhenARequestHasAStatus_IsRefused) {
  FrameHeader header = Sample();
  header.flags = 0;
  EXPECT_FALSE(DecodeFrameHeader(EncodeFrameHeader(header), kFrameHeaderSize + 5).ok());
}

}  // namespace
}  // namespace pstrain
