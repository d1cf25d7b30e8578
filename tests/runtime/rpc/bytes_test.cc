#include "runtime/rpc/bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace pstrain {
namespace {

TEST(Bytes, FromString_KeepsTheTextAliveInCopies) {
  Bytes copy;
  {
    const Bytes bytes = Bytes::FromString("a text that is too long for the small string");
    copy = bytes;
  }
  EXPECT_EQ(copy.view(), "a text that is too long for the small string");
}

TEST(Bytes, FromVector_SharesTheMemory) {
  std::vector<float> values = {1, 2, 3};
  const void* memory = values.data();
  const Bytes bytes = Bytes::FromVector(std::move(values));
  EXPECT_EQ(bytes.data(), memory);
  EXPECT_EQ(bytes.size(), 12u);
}

TEST(Bytes, Join_PutsPiecesInOrderAndAligns) {
  const std::array<Bytes, 3> pieces = {Bytes::FromString("ab"), Bytes(), Bytes::FromString("c")};
  const Bytes joined = Bytes::Join(pieces);
  EXPECT_EQ(joined.view(), "abc");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(joined.data()) % kBytesAlignment, 0u);
}

TEST(Bytes, Join_OfNothing_IsEmpty) { EXPECT_TRUE(Bytes::Join({}).empty()); }

}  // namespace
}  // namespace pstrain
