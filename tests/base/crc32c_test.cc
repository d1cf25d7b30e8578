#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace pstrain {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, PublishedVectors_Agree) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(Crc32c(std::string(ascending.rbegin(), ascending.rend())), 0x113fdb5cU);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(""), 0U);
}

TEST(Crc32c, Extend_InPieces_EqualsTheWhole) {
  Rng rng(7);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(rng.Next());
  for (std::size_t cut = 0; cut <= text.size(); cut += 37) {
    const std::uint32_t head = Crc32c(text.data(), cut);
    EXPECT_EQ(ExtendCrc32c(head, text.data() + cut, text.size() - cut), Crc32c(text));
  }
}

TEST(Crc32c, TableAndInstruction_OnAllLengthsAndAlignments_Agree) {
  Rng rng(11);
  std::string text;
  for (int i = 0; i < 96; ++i) text += static_cast<char>(rng.Next());
  for (std::size_t start = 0; start < 16; ++start) {
    for (std::size_t size = 0; size + start <= text.size(); ++size) {
      ASSERT_EQ(ExtendCrc32c(5, text.data() + start, size),
                ExtendCrc32cByTableForTest(5, text.data() + start, size));
    }
  }
}

TEST(Crc32c, Mask_ThenUnmask_GivesItBack) {
  for (const std::uint32_t crc : {0U, 1U, 0xffffffffU, 0xe3069283U}) {
    EXPECT_NE(MaskCrc32c(crc), crc);
    EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(crc)), crc);
  }
  EXPECT_EQ(MaskCrc32c(0), 0xa282ead8U);
}

}  // namespace
}  // namespace pstrain
