// Input files on a disk that fails: nothing is known of their content then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "base/os/files.h"
#include "runtime/input/plain_file.h"
#include "tests/runtime/input/failing_reads.h"
#include "tests/runtime/input/gzip_file.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

using input_test::FailingReads;

class PlainFileDiskTest : public ::testing::Test {
 protected:
  PlainFileDiskTest() { WriteGzipFile(packed_, text_); }

  Result<std::filesystem::path> Plain(const std::string& path,
                                      Input::Compression how = Input::Auto) {
    return PlainFileOf(path, how, dir_.File("scratch"));
  }
  std::string Text(int error) const { return std::generic_category().message(error); }

  TempDir dir_;
  const std::string packed_ = dir_.File("a.gz");
  // Does not pack well: several reads.
  const std::string text_ = [] {
    std::string text;
    for (std::uint32_t i = 0; i < 200000; ++i) text += std::to_string(i * 2654435761U) + ",";
    return text;
  }();
};

// One read of the magic number, the others to unpack.
TEST_F(PlainFileDiskTest, WhenAPackedFileCannotBeReadForAWhile_SaysSoAndUnpacksItLater) {
  for (const int error : {EIO, ESTALE}) {
    for (const int good : {0, 1, 2, 5}) {
      const FailingReads reads("/a.gz", error, good);
      const Status status = Plain(packed_).status();
      EXPECT_EQ(status.code(), StatusCode::kUnavailable) << good << ": " << status.ToString();
      EXPECT_THAT(status.message(), ::testing::StartsWith(packed_ + ": "));
      EXPECT_THAT(status.message(), ::testing::EndsWith(Text(error)));
    }
    const Result<std::vector<std::string>> left = ListDirectory(dir_.File("scratch"));
    EXPECT_TRUE(left.ok() && left->empty());
  }
  const Result<std::filesystem::path> plain = Plain(packed_);
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  EXPECT_EQ(*ReadFile(plain->string()), text_);
}

TEST_F(PlainFileDiskTest, WhenItCannotBeSeenWhetherAFileIsPacked_NothingIsSaidOfItsForm) {
  WriteTestFile(dir_.File("plain"), "text");
  for (const char* name : {"a.gz", "plain"}) {
    const FailingReads reads(dir_.File(name), EIO);
    for (const Input::Compression how : {Input::Auto, Input::Gzip}) {
      EXPECT_EQ(Plain(dir_.File(name), how).status().code(), StatusCode::kUnavailable) << name;
    }
  }
}

}  // namespace
}  // namespace pstrain
