#include "cli/scoring/score_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "base/os/files.h"

namespace pstrain {
namespace {

TEST(ScoreWriter, WhenFinished_TheFileHasEachScoreAsItWas) {
  const TempDir dir;
  const std::string path = dir.File("scores");
  const float third = 1.0F / 3;
  {
    Result<ScoreWriter> writer = ScoreWriter::Open(path);
    ASSERT_TRUE(writer.ok());
    for (const float score : {0.5F, third, 1e-12F}) ASSERT_TRUE(writer->Write(score).ok());
    EXPECT_FALSE(FileExists(path));
    ASSERT_TRUE(writer->Finish().ok());
  }
  const std::string text = *ReadFile(path);
  EXPECT_EQ(text, "0.5\n0.33333334\n1e-12\n");
  EXPECT_EQ(std::stof(text.substr(4)), third);
  EXPECT_FALSE(FileExists(path + ".part"));
}

TEST(ScoreWriter, WithoutFinish_LeavesTheFileAsItWas) {
  const TempDir dir;
  const std::string path = dir.File("scores");
  ASSERT_TRUE(WriteFileAtomically(path, "before").ok());
  {
    Result<ScoreWriter> writer = ScoreWriter::Open(path);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Write(0.5F).ok());
    const Status bad = writer->Write(std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(bad.code(), StatusCode::kOutOfRange);
    EXPECT_THAT(bad.message(), testing::HasSubstr("the score of record 2 is not a number"));
  }
  EXPECT_EQ(*ReadFile(path), "before");
  EXPECT_FALSE(FileExists(path + ".part"));
}

TEST(ScoreWriter, WhenTheFileCannotBeMade_NamesIt) {
  const TempDir dir;
  const Status status = ScoreWriter::Open(dir.File("absent/scores")).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(),
              testing::HasSubstr("--output: create " + dir.File("absent/scores")));
}

}  // namespace
}  // namespace pstrain
