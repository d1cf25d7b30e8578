#include "local/replicas/workspace.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/os/files.h"

namespace pstrain::local {
namespace {

TEST(Workspace_IdentityKey, IsOfItsUserAloneAndNewForEachRun) {
  const TempDir dir;
  const Result<Workspace> workspace = Workspace::Open(dir.path(), "job");
  ASSERT_TRUE(workspace.ok()) << workspace.status().ToString();
  ASSERT_TRUE(workspace->WriteIdentityKey().ok());
  const Result<std::string> first = ReadFile(workspace->IdentityKeyFile());
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->size(), 32u);
  struct stat info{};
  ASSERT_EQ(stat(workspace->IdentityKeyFile().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_TRUE(workspace->WriteIdentityKey().ok());
  EXPECT_NE(*ReadFile(workspace->IdentityKeyFile()), *first);
}

}  // namespace
}  // namespace pstrain::local
