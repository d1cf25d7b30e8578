#include "runtime/input/plain_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "base/os/files.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

class PlainFileTest : public ::testing::Test {
 protected:
  std::string Pack(const std::string& name, const std::string& content) {
    const std::string path = dir_.File(name);
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
    return path;
  }
  Result<std::filesystem::path> Plain(const std::string& path,
                                      Input::Compression how = Input::Auto) {
    return PlainFileOf(path, how, dir_.File("scratch"));
  }

  TempDir dir_;
  std::string long_text_ = [] {
    std::string text;
    for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919) + ",";
    return text;
  }();
};

TEST_F(PlainFileTest, WhenPlain_IsTheFileItself) {
  WriteTestFile(dir_.File("a"), "x");
  Result<std::filesystem::path> text = Plain(dir_.File("a"));
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->string(), dir_.File("a"));
}

TEST_F(PlainFileTest, WhenGzip_UnpacksOnce) {
  const std::string path = Pack("a.gz", long_text_);
  Result<std::filesystem::path> first = Plain(path);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  EXPECT_EQ(*ReadFile(first->string()), long_text_);
  EXPECT_EQ(*Plain(path), *first);
  EXPECT_EQ(ListDirectory(dir_.File("scratch"))->size(), 1U);
}

TEST_F(PlainFileTest, WhenGzipIsCutShortOrCorrupt_IsDataLossAndLeavesNothing) {
  const std::string packed = *ReadFile(Pack("a.gz", long_text_));
  std::string corrupt = packed;
  corrupt[corrupt.size() / 2] = static_cast<char>(corrupt[corrupt.size() / 2] ^ 0x55);
  for (const std::string& content :
       {packed.substr(0, packed.size() / 2), corrupt, packed.substr(0, packed.size() - 3)}) {
    WriteTestFile(dir_.File("b.gz"), content);
    const Status status = Plain(dir_.File("b.gz")).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.ToString();
    EXPECT_THAT(status.message(), ::testing::StartsWith(dir_.File("b.gz") + ": "));
    EXPECT_TRUE(ListDirectory(dir_.File("scratch"))->empty());
  }
}

TEST_F(PlainFileTest, WhenAbsentEmptyOrNotGzip_SaysSo) {
  EXPECT_EQ(Plain(dir_.File("none")).status().code(), StatusCode::kNotFound);
  WriteTestFile(dir_.File("empty"), "");
  EXPECT_EQ(Plain(dir_.File("empty")).status().message(),
            dir_.File("empty") + ": the file is empty");
  WriteTestFile(dir_.File("plain"), "text");
  EXPECT_EQ(Plain(dir_.File("plain"), Input::Gzip).status().message(),
            dir_.File("plain") + ": is not a gzip file");
}

}  // namespace
}  // namespace pstrain
