#include "agent/oom_watch.h"

#include <gtest/gtest.h>

#include "base/os/files.h"

namespace pstrain {
namespace {

void Put(const TempDir& temp, const std::string& folder, const std::string& name,
         const std::string& content) {
  ASSERT_TRUE(CreateDirectories(temp.File(folder)).ok());
  ASSERT_TRUE(WriteFileSynced(temp.File(folder + "/" + name), content).ok());
}

TEST(OomWatch, WhenVersion2_ReadsMemoryEvents) {
  const TempDir temp;
  Put(temp, "pod/c", "memory.events", "low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\n");
  const OomWatch watch(temp.path(), "0::/pod/c\n");
  EXPECT_EQ(watch.Kills(), 2U);
  Put(temp, "pod/c", "memory.events", "oom_kill 3\noom_group_kill 0\n");
  EXPECT_EQ(watch.Kills(), 3U);
}

TEST(OomWatch, WhenVersion1_ReadsOomControl) {
  const TempDir temp;
  Put(temp, "memory/pod", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  const OomWatch watch(temp.path(), "4:cpu,cpuacct:/pod\n3:memory:/pod\n0::/\n");
  EXPECT_EQ(watch.Kills(), 5U);
}

TEST(OomWatch, WhenThePathIsOfTheHost_TakesTheMountsRoot) {
  const TempDir temp;
  Put(temp, "memory", "memory.oom_control", "oom_kill 1\n");
  const OomWatch watch(temp.path(), "3:memory:/kubepods/pod1/c1\n");
  EXPECT_EQ(watch.Kills(), 1U);
}

TEST(OomWatch, WhenThereIsNoCounter_SaysZero) {
  const TempDir temp;
  EXPECT_EQ(OomWatch(temp.path(), "").Kills(), 0U);
  EXPECT_EQ(OomWatch(temp.path(), "nonsense\n::\n0::/x").Kills(), 0U);
  Put(temp, "x", "memory.events", "oom_kill many\n");
  EXPECT_EQ(OomWatch(temp.path(), "0::/x").Kills(), 0U);
}

}  // namespace
}  // namespace pstrain
