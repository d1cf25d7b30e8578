// Blocks on a disk that fails while it is looked whether a record is bad or its file has changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>

#include "base/os/files.h"
#include "runtime/input/block_decoder.h"
#include "tests/runtime/input/failing_reads.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

TEST(BlockDecoderDisk, WhenTheBytesOfABadRecordCannotBeReadAgain_NoChangeIsSaid) {
  const TempDir dir;
  const std::string path = dir.File("a.csv");
  WriteTestFile(path, "30,cook,yes\nx,cook,no\n");
  const Training training = SmallTraining(path);
  Result<InputIndex> index = BuildInputIndex(training.input(), {4, 10, 3}, dir.File("scratch"));
  Result<FeatureSet> features = FeatureSet::Create(training.features());
  ASSERT_TRUE(index.ok() && features.ok());
  Result<BlockDecoder> decoder = BlockDecoder::Create(
      training.input(), std::make_shared<const FeatureSet>(*std::move(features)),
      std::make_shared<const InputIndex>(*std::move(index)), dir.File("scratch"), nullptr);
  ASSERT_TRUE(decoder.ok()) << decoder.status().ToString();
  std::set<StatusCode> codes;
  for (int good = 0; good < 8; ++good) {
    const input_test::FailingReads reads("/a.csv", EIO, good);
    const Status status = decoder->Decode(0).status();
    codes.insert(status.code());
    if (status.code() == StatusCode::kInvalidArgument) continue;
    EXPECT_EQ(status.code(), StatusCode::kUnavailable) << good << ": " << status.ToString();
    EXPECT_THAT(status.message(), ::testing::StartsWith(path));
  }
  // The last ones were read to the end.
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(StatusCode::kUnavailable,
                                                     StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace pstrain
