#include "runtime/chief/disk/ps_count_file.h"

#include <gtest/gtest.h>

#include "base/manual_clock.h"
#include "base/os/files.h"

namespace pstrain {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PsCountFileTest : public testing::Test {
 protected:
  void Write(const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(dir_.File("ps-replicas"), text).ok());
  }
  std::optional<std::uint32_t> PollLater() {
    clock_.Advance(seconds(1));
    return file_.Poll();
  }

  TempDir dir_;
  ManualClock clock_{seconds(1000)};
  PsCountFile file_{dir_.File("ps-replicas"), clock_};
};

TEST_F(PsCountFileTest, WhenTheFileHoldsANumber_SaysItOnceASecond) {
  Write("3");
  EXPECT_EQ(file_.Poll(), 3u);
  Write("1\n");
  clock_.Advance(milliseconds(999));
  EXPECT_EQ(file_.Poll(), std::nullopt);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(file_.Poll(), 1u);
}

TEST_F(PsCountFileTest, WhenThereIsNoNumberOfPs_SaysNothing) {
  EXPECT_EQ(file_.Poll(), std::nullopt) << "no file";
  for (const char* text : {"", "0", "-1", "10001", "4294967297", "two", "2 3", " 2"}) {
    Write(text);
    EXPECT_EQ(PollLater(), std::nullopt) << text;
  }
  Write("10000");
  EXPECT_EQ(PollLater(), 10'000u);
  EXPECT_EQ(PsCountFile("", clock_).Poll(), std::nullopt);
}

}  // namespace
}  // namespace pstrain
