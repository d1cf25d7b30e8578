// A training program that the kernel kills for memory, as the termination message tells it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/os/files.h"
#include "base/text/json.h"
#include "tests/agent/agent_process.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr const char* kChild = PSTRAIN_AGENT_TEST_CHILD;

void ExpectOomKilled(const std::string& termination_log) {
  const Result<std::string> text = ReadFile(termination_log);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  const Result<Json> message = ParseJson(*text);
  ASSERT_TRUE(message.ok()) << *text;
  EXPECT_EQ(*message->Find("reason")->AsString(), "OOMKilled");
  EXPECT_EQ(message->Find("oom")->AsBool(), true);
  EXPECT_EQ(message->Find("signal")->AsInt64(), SIGKILL);
  EXPECT_THAT(*message->Find("message")->AsString(), HasSubstr("out of memory"));
}

TEST(AgentOom, WhenTheCounterRises_TheTerminationMessageSaysSo) {
  const TempDir temp;
  // One file for each version of cgroups: which is read depends on the machine.
  const std::string v1 = temp.File("memory/memory.oom_control");
  const std::string v2 = temp.File("memory.events");
  ASSERT_TRUE(CreateDirectories(temp.File("memory")).ok());
  for (const std::string& file : {v1, v2}) {
    ASSERT_TRUE(WriteFileSynced(file, "oom_kill 4\n").ok());
  }
  const std::string program =
      "echo oom_kill 5 > " + v1 + "; echo oom_kill 5 > " + v2 + "; kill -KILL $$";
  AgentProcess agent({"--cgroup-root", temp.path(), "--termination-log", temp.File("log")},
                     {"sh", "-c", program});
  EXPECT_EQ(agent.Wait(), 128 + SIGKILL);
  ExpectOomKilled(temp.File("log"));
}

/// A memory cgroup (version 1) below this process's own with a limit; removed at the end.
class MemoryCgroup {
 public:
  explicit MemoryCgroup(const std::string& limit_bytes) {
    const Result<std::string> own = ReadFile("/proc/self/cgroup");
    if (!own.ok()) return;
    constexpr std::string_view kMark = ":memory:";
    const std::size_t at = own->find(kMark);
    if (at == std::string::npos) return;
    const std::size_t begin = at + kMark.size();
    const std::string path = "/sys/fs/cgroup/memory" +
                             own->substr(begin, own->find('\n', begin) - begin) + "/pstrain-" +
                             std::to_string(getpid());
    if (mkdir(path.c_str(), 0755) != 0) return;
    path_ = path;
    usable_ = Set("memory.limit_in_bytes", limit_bytes);
    static_cast<void>(Set("memory.memsw.limit_in_bytes", limit_bytes));  // absent without swap
  }
  ~MemoryCgroup() {
    if (!path_.empty()) rmdir(path_.c_str());
  }
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  bool usable() const { return usable_; }
  const std::string& path() const { return path_; }

 private:
  bool Set(const std::string& name, const std::string& value) const {
    std::FILE* const file = std::fopen(JoinPath(path_, name).c_str(), "we");
    if (file == nullptr) return false;
    const bool written = std::fputs(value.c_str(), file) >= 0;
    return std::fclose(file) == 0 && written;
  }

  std::string path_;
  bool usable_ = false;
};

TEST(AgentOom, WhenTheKernelKillsTheProgramForMemory_TheTerminationMessageSaysSo) {
  const MemoryCgroup cgroup("134217728");
  if (!cgroup.usable()) GTEST_SKIP() << "no memory cgroup of version 1 may be made here";
  const TempDir temp;
  const std::vector<std::string> launcher = {
      "/bin/sh", "-c", "echo $$ > " + cgroup.path() + "/cgroup.procs && exec \"$0\" \"$@\""};
  AgentProcess agent({"--termination-log", temp.File("log")}, {kChild, "hog"}, {}, launcher);
  EXPECT_EQ(agent.Wait(), 128 + SIGKILL);
  ExpectOomKilled(temp.File("log"));
}

}  // namespace
}  // namespace pstrain
