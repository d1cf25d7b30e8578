#include "base/os/file_faults.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
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
  EXPECT_EQ(synced, (std::vector<std::string>{dir.path(), dir.File("a")}));
  synced.clear();
  ASSERT_TRUE(CreateDirectories(dir.File("a/b")).ok());
  EXPECT_TRUE(synced.empty());
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
