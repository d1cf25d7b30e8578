#include "cli/cluster/bundle/tar_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/os/files.h"
#include "operator/kube/http/child_output.h"

namespace pstrain::cluster {
namespace {

using ::testing::HasSubstr;

std::string Tar(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {"tar"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto end = kube::RunForOutput({.command = command, .environment = {{"TZ", "UTC"}}});
  EXPECT_TRUE(end.ok() && end->exit_code == 0);
  return end.ok() ? end->output : "";
}

TEST(TarWriter, Archive_IsReadByTar) {
  const TempDir dir;
  const std::string path = dir.File("a.tar");
  {
    auto tar = TarWriter::Create(path, 86'400);
    ASSERT_TRUE(tar.ok()) << tar.status().ToString();
    EXPECT_TRUE(tar->Add("one.txt", "first\n").ok());
    EXPECT_TRUE(tar->Add("logs/empty", "").ok());
    EXPECT_TRUE(tar->Add("logs/block", std::string(512, 'b')).ok());
    EXPECT_TRUE(tar->Add("long", std::string(100'000, 'x')).ok());
    EXPECT_EQ(tar->Add(std::string(101, 'n'), "").code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(tar->Finish().ok());
  }
  EXPECT_EQ(Tar({"-tf", path}), "one.txt\nlogs/empty\nlogs/block\nlong\n");
  EXPECT_THAT(Tar({"-tvf", path}), HasSubstr("6 1970-01-02 00:00 one.txt"));
  EXPECT_EQ(Tar({"-xOf", path, "one.txt"}), "first\n");
  EXPECT_EQ(Tar({"-xOf", path, "long"}), std::string(100'000, 'x'));
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(TarWriter, Archive_ThatIsNotFinished_IsRemoved) {
  const TempDir dir;
  {
    auto tar = TarWriter::Create(dir.File("a.tar"), 0);
    EXPECT_TRUE(tar->Add("one", "1").ok());
    const TarWriter moved = std::move(*tar);
    EXPECT_TRUE(FileExists(dir.File("a.tar")));
  }
  EXPECT_FALSE(FileExists(dir.File("a.tar")));
}

TEST(TarWriter, Create_OverAFile_IsRefused) {
  const TempDir dir;
  ASSERT_TRUE(WriteFileAtomically(dir.File("a.tar"), "mine").ok());
  EXPECT_EQ(TarWriter::Create(dir.File("a.tar"), 0).status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ReadFile(dir.File("a.tar")).value(), "mine");
}

}  // namespace
}  // namespace pstrain::cluster
