#include "library/cluster/accelerators.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/os/files.h"

namespace pstrain {
namespace {

class AcceleratorsTest : public testing::Test {
 protected:
  void Make(const std::string& name) {
    ASSERT_TRUE(WriteFileAtomically(devices_.File(name), "").ok());
  }
  int Count(const char* visible) const { return CountGpus(devices_.path(), visible).value(); }

  TempDir devices_;
};

TEST_F(AcceleratorsTest, WithoutDevices_AreNone) {
  Make("null");
  Make("nvidiactl");
  Make("nvidia-uvm");
  EXPECT_EQ(Count(nullptr), 0);
  EXPECT_EQ(Count("0"), 0);
  EXPECT_EQ(Count("GPU-5f2c"), 0);
}

TEST_F(AcceleratorsTest, CudaVisibleDevices_HidesSome) {
  // A container may have been given any of them; CUDA counts from 0.
  for (const char* name : {"nvidia2", "nvidia3", "nvidia11", "nvidiactl"}) Make(name);
  EXPECT_EQ(Count(nullptr), 3);
  EXPECT_EQ(Count(""), 0);
  EXPECT_EQ(Count("-1"), 0);
  EXPECT_EQ(Count("0"), 1);
  EXPECT_EQ(Count("2, 0"), 2);
  EXPECT_EQ(Count("0,1,2,3"), 3);
  EXPECT_EQ(Count("0,7,1"), 1) << "what comes after a wrong one is hidden";
  EXPECT_EQ(Count("1,none"), 1);
  EXPECT_EQ(Count("NoDevFiles"), 0);
  EXPECT_EQ(Count("0,0"), 1);
  EXPECT_EQ(Count("GPU-5f2c,MIG-77"), 2);
}

TEST_F(AcceleratorsTest, WhenTheFolderCannotBeRead_SaysWhich) {
  const Status status = CountGpus(devices_.File("absent"), nullptr).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find(devices_.File("absent")), std::string::npos) << status.message();
}

TEST_F(AcceleratorsTest, Here_FollowsTheEnvironment) {
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);
  EXPECT_EQ(CountGpusHere().value(), 0);
  ASSERT_EQ(unsetenv("CUDA_VISIBLE_DEVICES"), 0);
  EXPECT_EQ(CountGpusHere().value(), CountGpus("/dev", nullptr).value());
}

}  // namespace
}  // namespace pstrain
