#include "base/os/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Files, ReadFile_AfterWrite_GivesTheSameBytes) {
  const TempDir dir;
  const std::string content("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomically(dir.File("x"), content).ok());
  EXPECT_EQ(ReadFile(dir.File("x")).value(), content);
}

TEST(Files, ReadFile_WhenEmptyOrLarge_IsWhole) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileSynced(dir.File("empty"), "").ok());
  EXPECT_EQ(ReadFile(dir.File("empty")).value(), "");
  const std::string large(1'000'003, 'x');
  ASSERT_TRUE(WriteFileSynced(dir.File("large"), large).ok());
  EXPECT_EQ(ReadFile(dir.File("large")).value(), large);
}

TEST(Files, ReadFile_OfProc_DoesNotTrustTheSize) {
  EXPECT_THAT(ReadFile("/proc/self/status").value(), HasSubstr("VmRSS"));
}

TEST(Files, ReadFile_WhenAbsent_NamesThePath) {
  const TempDir dir;
  const Status status = ReadFile(dir.File("none")).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(dir.File("none")));
  EXPECT_FALSE(ReadFile(dir.path()).ok());
}

TEST(Files, WriteFileAtomically_OverAFile_ReplacesItAndLeavesNoOther) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("x"), "old").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.File("x"), "new").ok());
  EXPECT_EQ(ReadFile(dir.File("x")).value(), "new");
  EXPECT_THAT(ListDirectory(dir.path()).value(), ElementsAre("x"));
}

TEST(Files, WriteFileAtomically_WhenTheRenameFails_LeavesNothing) {
  const TempDir dir;
  ASSERT_TRUE(CreateDirectories(dir.File("taken/inside")).ok());
  EXPECT_FALSE(WriteFileAtomically(dir.File("taken"), "x").ok());
  EXPECT_THAT(ListDirectory(dir.path()).value(), ElementsAre("taken"));
}

TEST(Files, WriteFileAtomically_WhenTheLastCheckRefuses_KeepsTheOld) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("x"), "old").ok());
  const auto refuse = [&] {
    EXPECT_EQ(ListDirectory(dir.path()).value().size(), 2U);
    return AbortedError("another one's");
  };
  EXPECT_EQ(WriteFileAtomically(dir.File("x"), "new", refuse), AbortedError("another one's"));
  EXPECT_EQ(ReadFile(dir.File("x")).value(), "old");
  EXPECT_THAT(ListDirectory(dir.path()).value(), ElementsAre("x"));
}

TEST(Files, WriteFileAtomically_WhenTheFileMayNotGrow_KeepsTheOld) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("x"), "old").ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status status = WriteFileAtomically(dir.File("x"), std::string(100, 'y'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(ReadFile(dir.File("x")).value(), "old");
  EXPECT_THAT(ListDirectory(dir.path()).value(), ElementsAre("x"));
}

TEST(Files, WriteFileAtomically_WithoutTheDirectory_IsNotFound) {
  const TempDir dir;
  EXPECT_EQ(WriteFileAtomically(dir.File("no/x"), "x").code(), StatusCode::kNotFound);
}

TEST(Files, WriteFileSynced_OnAFullDisk_IsResourceExhausted) {
  if (!FileExists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  // Through a link, so that the clean-up after the failure takes the link away, not the device.
  const TempDir dir;
  ASSERT_EQ(::symlink("/dev/full", dir.File("link").c_str()), 0);
  EXPECT_EQ(WriteFileSynced(dir.File("link"), "x").code(), StatusCode::kResourceExhausted);
}

TEST(Files, CreateExclusive_ByManyThreads_SucceedsOnce) {
  const TempDir dir;
  std::vector<Status> outcomes(8);
  std::vector<std::thread> threads;
  for (Status& outcome : outcomes) {
    threads.emplace_back([&] { outcome = CreateExclusive(dir.File("epoch"), "mine"); });
  }
  for (std::thread& thread : threads) thread.join();
  int created = 0;
  for (const Status& outcome : outcomes) {
    created += outcome.ok() ? 1 : 0;
    EXPECT_TRUE(outcome.ok() || outcome.code() == StatusCode::kAlreadyExists);
  }
  EXPECT_EQ(created, 1);
}

TEST(Files, CreateDirectories_WhenThere_IsOk) {
  const TempDir dir;
  EXPECT_TRUE(CreateDirectories(dir.File("a/b/c")).ok());
  EXPECT_TRUE(CreateDirectories(dir.File("a/b/c")).ok());
  EXPECT_TRUE(IsDirectory(dir.File("a/b/c")));
  ASSERT_TRUE(WriteFileSynced(dir.File("file"), "").ok());
  EXPECT_FALSE(CreateDirectories(dir.File("file")).ok());
  EXPECT_FALSE(CreateDirectories(dir.File("file/below")).ok());
  // The error names what was asked for, not the parent that is in the way.
  const Status below = CreateDirectories(dir.File("file/below/more"));
  EXPECT_EQ(below.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(below.message(), HasSubstr("create directory " + dir.File("file/below/more")));
}

TEST(Files, ListDirectory_SortsNames) {
  const TempDir dir;
  EXPECT_THAT(ListDirectory(dir.path()).value(), IsEmpty());
  for (const char* name : {"b", "a", "10", "9"}) {
    ASSERT_TRUE(WriteFileSynced(dir.File(name), "").ok());
  }
  EXPECT_THAT(ListDirectory(dir.path()).value(), ElementsAre("10", "9", "a", "b"));
  EXPECT_EQ(ListDirectory(dir.File("none")).status().code(), StatusCode::kNotFound);
}

TEST(Files, RemoveAll_OfATree_TakesItAndIsIdempotent) {
  const TempDir dir;
  ASSERT_TRUE(CreateDirectories(dir.File("a/b")).ok());
  ASSERT_TRUE(WriteFileSynced(dir.File("a/b/c"), "x").ok());
  EXPECT_TRUE(RemoveAll(dir.File("a")).ok());
  EXPECT_FALSE(FileExists(dir.File("a")));
  EXPECT_TRUE(RemoveAll(dir.File("a")).ok());
  EXPECT_EQ(RemoveFile(dir.File("a")).code(), StatusCode::kNotFound);
}

TEST(Files, RenameFile_MovesTheContent) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileSynced(dir.File("a"), "x").ok());
  ASSERT_TRUE(RenameFile(dir.File("a"), dir.File("b")).ok());
  EXPECT_FALSE(FileExists(dir.File("a")));
  const FileInfo info = GetFileInfo(dir.File("b")).value();
  EXPECT_EQ(info.size_bytes, 1U);
  EXPECT_FALSE(info.is_directory);
  EXPECT_GT(info.modified_unix_ms, 1'700'000'000'000);
  EXPECT_EQ(RenameFile(dir.File("a"), dir.File("b")).code(), StatusCode::kNotFound);
}

TEST(Files, TempDir_AtItsEnd_IsGone) {
  std::string path;
  {
    const TempDir dir;
    path = dir.path();
    ASSERT_TRUE(WriteFileSynced(dir.File("x"), "").ok());
  }
  EXPECT_FALSE(FileExists(path));
}

TEST(Files, Paths_JoinAndSplit) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(JoinPath("a", ""), "a");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(ParentPath("a/b"), "a");
  EXPECT_EQ(ParentPath("a"), ".");
  EXPECT_EQ(ParentPath("/a"), "/");
  EXPECT_EQ(BaseName("a/b"), "b");
  EXPECT_EQ(BaseName("b"), "b");
}

}  // namespace
}  // namespace pstrain
