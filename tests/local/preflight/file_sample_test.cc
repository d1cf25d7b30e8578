#include "local/preflight/file_sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/os/files.h"
#include "tests/runtime/input/gzip_file.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain::preflight {
namespace {

using testing::HasSubstr;

class FileSampleTest : public testing::Test {
 protected:
  std::string Problem(Input::Compression compression = Input::Auto) const {
    const Result<FileSample> sample = SampleFile(path_, compression);
    return sample.ok() ? std::string() : sample.status().message();
  }
  void ExpectWhole(const std::string& text, Input::Compression compression) const {
    const Result<FileSample> sample = SampleFile(path_, compression);
    ASSERT_TRUE(sample.ok()) << sample.status().ToString();
    EXPECT_EQ(sample->text, text);
    EXPECT_FALSE(sample->cut);
  }
  void ExpectCut(Input::Compression compression) const {
    const Result<FileSample> sample = SampleFile(path_, compression);
    ASSERT_TRUE(sample.ok()) << sample.status().ToString();
    EXPECT_EQ(sample->text.size(), kSampleBytes);
    EXPECT_TRUE(sample->cut);
  }

  TempDir dir_;
  const std::string path_ = dir_.File("data.csv");
  const std::string long_text_ = std::string(3 * kSampleBytes, 'x');
};

TEST_F(FileSampleTest, OfALargeFile_IsItsFirstMiB) {
  WriteTestFile(path_, long_text_);
  ExpectCut(Input::Auto);
}

TEST_F(FileSampleTest, OfASmallFile_IsAllOfIt) {
  WriteTestFile(path_, "a,b\n");
  ExpectWhole("a,b\n", Input::Plain);
}

TEST_F(FileSampleTest, OfAPackedFile_IsWhatItUnpacksTo) {
  WriteGzipFile(path_, "a,b\n");
  ExpectWhole("a,b\n", Input::Auto);
  EXPECT_THAT(Problem(Input::Plain),
              HasSubstr("is compressed with gzip, but compression says Plain"));
  WriteGzipFile(path_, long_text_);
  ExpectCut(Input::Gzip);
}

TEST_F(FileSampleTest, WhenThePackedFileIsCutShortOrDamaged_SaysSo) {
  WriteGzipFile(path_, "label,age,city\n1,20,a\n0,30,b\n");
  const std::string packed = *ReadFile(path_);
  WriteTestFile(path_, packed.substr(0, packed.size() - 10));
  EXPECT_THAT(Problem(), HasSubstr("the gzip data are cut short"));
  WriteTestFile(path_, packed.substr(0, 10) + "\xff\xff\xff\xff\xff\xff\xff\xff");
  EXPECT_THAT(Problem(), HasSubstr("the gzip data are corrupt"));
}

}  // namespace
}  // namespace pstrain::preflight
