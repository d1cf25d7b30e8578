#include "base/os/file_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/os/files.h"

namespace pstrain {
namespace {

TEST(FileFaults, WhileOneLives_TheCallsThatItNamesFail) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileSynced(dir.File("x"), "1").ok());
  {
    const ScopedFileFaults faults([](std::string_view call, const std::string& path) {
      if (call == "read" && path.ends_with("x")) return EIO;
      return call == "write" ? ENOSPC : 0;
    });
    EXPECT_EQ(ReadFile(dir.File("x")).status().code(), StatusCode::kUnavailable);
    const Status full = WriteFileAtomically(dir.File("y"), "2");
    EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
    EXPECT_NE(full.message().find("No space left on device"), std::string::npos);
  }
  EXPECT_EQ(ReadFile(dir.File("x")).value(), "1");
  EXPECT_FALSE(FileExists(dir.File("y")));
}

TEST(FileFaults, CreateDirectories_SyncsTheParentOfEachThatItMakes) {
  const TempDir dir;
  std::vector<std::string> synced;
  const ScopedFileFaults faults([&](std::string_view call, const std::string& path) {
    if (call == "fsync") synced.push_back(path);
    return 0;
  });
  ASSERT_TRUE(CreateDirectories(dir.File("a/b")).ok());
  // Of the one that was there already too: whoever made it may have died before its sync.
  EXPECT_EQ(synced, (std::vector<std::string>{ParentPath(dir.path()), dir.path(), dir.File("a")}));
  for (const char* again : {"a/b", "a/b/"}) {
    synced.clear();
    ASSERT_TRUE(CreateDirectories(dir.File(again)).ok());
    EXPECT_EQ(synced, std::vector<std::string>{dir.File("a")}) << again;
  }
}

// A name that is not durable is lost with all that is below it when the power fails.
TEST(FileFaults, CreateDirectories_WhenASyncHasFailed_SyncsThatParentTheNextTime) {
  const TempDir dir;
  for (const char* unsynced : {"a", "a/b"}) {
    ASSERT_TRUE(RemoveAll(dir.File("a")).ok());
    const std::string parent = ParentPath(dir.File(unsynced));
    std::vector<std::string> synced;
    bool failed = false;
    const ScopedFileFaults faults([&](std::string_view call, const std::string& path) {
      if (call != "fsync") return 0;
      if (path == parent && !std::exchange(failed, true)) return EIO;
      synced.push_back(path);
      return 0;
    });
    EXPECT_EQ(CreateDirectories(dir.File("a/b")).code(), StatusCode::kUnavailable) << unsynced;
    synced.clear();
    ASSERT_TRUE(CreateDirectories(dir.File("a/b")).ok()) << unsynced;
    EXPECT_NE(std::find(synced.begin(), synced.end(), parent), synced.end()) << unsynced;
  }
}

// It may be seen again in a moment: not a file that is in the way for good.
TEST(FileFaults, CreateDirectories_WhenWhatIsThereCannotBeSeen_SaysWhatTheDiskSays) {
  const TempDir dir;
  ASSERT_TRUE(CreateDirectories(dir.File("a/b")).ok());
  for (const int error : {EIO, EACCES}) {
    const ScopedFileFaults faults([error, &dir](std::string_view call, const std::string& path) {
      return call == "stat" && path == dir.File("a/b") ? error : 0;
    });
    const Status status = CreateDirectories(dir.File("a/b"));
    EXPECT_EQ(status, ErrnoError(error, "create directory " + dir.File("a/b")));
  }
}

TEST(FileFaults, Listed_TakesNamesAway) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("old"), "1").ok());
  ASSERT_TRUE(WriteFileAtomically(dir.File("new"), "2").ok());
  {
    const ScopedFileFaults faults([](std::string_view, const std::string&) { return 0; },
                                  [&dir](const std::string& path, std::vector<std::string>& names) {
                                    EXPECT_EQ(path, dir.path());
                                    std::erase(names, "new");
                                  });
    EXPECT_EQ(ListDirectory(dir.path()).value(), std::vector<std::string>{"old"});
  }
  EXPECT_EQ(ListDirectory(dir.path()).value(), (std::vector<std::string>{"new", "old"}));
}

}  // namespace
}  // namespace pstrain
