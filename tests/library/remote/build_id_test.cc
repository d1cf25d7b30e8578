#include "library/remote/build_id.h"

#include <gtest/gtest.h>

namespace pstrain {
namespace {

TEST(BuildIdOfProgram, IsTheLinkersAndTheSameEachTime) {
  const std::string id = BuildIdOfProgram();
  // 20 bytes of SHA-1, for which this test's program asks the linker.
  EXPECT_EQ(id.size(), 40U) << id;
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
  EXPECT_EQ(BuildIdOfProgram(), id);
}

}  // namespace
}  // namespace pstrain
