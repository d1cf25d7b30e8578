#include "base/os/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

namespace pstrain {
namespace {

int OpenNull() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, Destructor_OfAnOpenOne_Closes) {
  int number = -1;
  {
    const UniqueFd fd(OpenNull());
    ASSERT_TRUE(fd.valid());
    number = fd.get();
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFd, Moves_HandTheDescriptorOver) {
  UniqueFd first(OpenNull());
  const int number = first.get();
  UniqueFd second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): what is left is tested
  EXPECT_EQ(second.get(), number);
  UniqueFd third(OpenNull());
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_EQ(third.get(), number);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_TRUE(IsOpen(number));
}

TEST(UniqueFd, Release_LeavesItOpen) {
  UniqueFd fd(OpenNull());
  const UniqueFd released(fd.Release());
  EXPECT_FALSE(fd.valid());
  EXPECT_TRUE(IsOpen(released.get()));
}

TEST(UniqueFd, Reset_KeepsErrno) {
  UniqueFd fd(OpenNull());
  ASSERT_EQ(::close(fd.get()), 0);
  errno = ENOENT;
  fd.Reset();  // close(2) fails with EBADF
  EXPECT_EQ(errno, ENOENT);
}

TEST(UniqueFd, Close_SaysWhatTheKernelSays) {
  UniqueFd fd(OpenNull());
  const int number = fd.get();
  EXPECT_EQ(fd.Close(), 0);
  EXPECT_FALSE(fd.valid());
  EXPECT_FALSE(IsOpen(number));
}

}  // namespace
}  // namespace pstrain
