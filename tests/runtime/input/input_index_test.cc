#include "runtime/input/input_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/os/files.h"
#include "runtime/input/record_position.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

using ::testing::HasSubstr;

constexpr BatchShape kShape{4, 10, 3};

class InputIndexTest : public ::testing::Test {
 protected:
  InputIndexTest() {
    input_.mutable_csv()->add_columns("x");
    input_.mutable_csv()->set_delimiter(",");
    AddFile("a.csv", 23);
    AddFile("b.csv", 10);
  }
  void AddFile(const std::string& name, int records) {
    std::string text;
    for (int i = 0; i < records; ++i) text += std::to_string(i) + "\n";
    WriteTestFile(dir_.File(name), text);
    input_.mutable_csv()->add_files(dir_.File(name));
  }
  InputIndex Build() {
    Result<InputIndex> index = BuildInputIndex(input_, kShape, dir_.File("scratch"));
    EXPECT_TRUE(index.ok()) << index.status().ToString();
    return *index;
  }

  TempDir dir_;
  Input input_;
};

TEST_F(InputIndexTest, WhenBuilt_BlocksDoNotCrossFilesAndTheLastIsShort) {
  const InputIndex index = Build();
  EXPECT_EQ(index.total_records(), 33U);
  ASSERT_EQ(index.blocks().size(), 4U);
  EXPECT_EQ(index.blocks()[2].records, 3U);
  EXPECT_EQ(index.blocks()[3].file, 1U);
  EXPECT_EQ(index.batches_per_epoch(), 3U + 3U + 1U + 3U);
  EXPECT_EQ(index.RecordCount({0, 2}), 2U);
  EXPECT_EQ(index.RecordCount({0, 6}), 3U);
  EXPECT_EQ(index.RecordCount({9, 9}), 2U);
  EXPECT_EQ(index.RecordCount({0, 10}), 0U);
  EXPECT_EQ(index.Place({0, 10}).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(index.Place({0, 7})->block, 3U);
}

TEST_F(InputIndexTest, WhenAnEpochIsGranted_EveryRecordComesOnce) {
  const InputIndex index = Build();
  for (std::uint32_t epoch = 0; epoch < 5; ++epoch) {
    std::vector<std::uint32_t> order = index.WorkIdOrder(epoch);
    std::uint64_t records = 0;
    for (const std::uint32_t batch : order) records += index.RecordCount({epoch, batch});
    EXPECT_EQ(records, index.total_records());
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> all(index.batches_per_epoch());
    std::iota(all.begin(), all.end(), 0U);
    EXPECT_EQ(order, all);
    std::vector<std::uint32_t> shuffled = index.RecordOrder(epoch, 0);
    std::sort(shuffled.begin(), shuffled.end());
    EXPECT_TRUE(std::equal(shuffled.begin(), shuffled.end(), all.begin()));
  }
  EXPECT_NE(index.RecordOrder(0, 0), index.RecordOrder(1, 0));
  EXPECT_EQ(index.WorkIdOrder(2), Build().WorkIdOrder(2));
}

TEST_F(InputIndexTest, WhenStored_ComesBackTheSame) {
  AddFile("long.csv", 10000);
  const InputIndex index = Build();
  ASSERT_EQ(index.files()[2].positions.size(), 3U);
  EXPECT_EQ(*DecodePosition("long.csv", index.files()[2].positions[1]),
            (NumberedOffset{10 * 2 + 90 * 3 + 900 * 4 + 3096 * 5, 4097}));
  ASSERT_TRUE(SaveInputIndex(index, dir_.File("index")).ok());
  const Result<InputIndex> loaded = LoadInputIndex(dir_.File("index"));
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(loaded->files(), index.files());
  EXPECT_EQ(loaded->shape(), index.shape());
  EXPECT_EQ(loaded->columns(), index.columns());
  EXPECT_EQ(loaded->kind(), "csv");
  EXPECT_EQ(loaded->WorkIdOrder(1), index.WorkIdOrder(1));
}

TEST_F(InputIndexTest, WhenBytesAreDamaged_IsDataLoss) {
  const std::string bytes = Build().Serialize();
  EXPECT_EQ(InputIndex::Parse("").status().code(), StatusCode::kDataLoss);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    EXPECT_EQ(InputIndex::Parse(damaged).status().code(), StatusCode::kDataLoss) << i;
    EXPECT_EQ(InputIndex::Parse(bytes.substr(0, i)).status().code(), StatusCode::kDataLoss) << i;
  }
  EXPECT_EQ(LoadInputIndex(dir_.File("none")).status().code(), StatusCode::kNotFound);
}

TEST_F(InputIndexTest, WhenTheInputChanges_NamesTheFileAndWhatDiffers) {
  const InputIndex index = Build();
  EXPECT_TRUE(CheckUnchanged(index, input_, kShape).ok());
  const auto expect = [&](const Status& status, const std::string& text) {
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  expect(CheckUnchanged(index, input_, {5, 10, 3}), "training.batchSize was 4, is 5");
  expect(CheckUnchanged(index, input_, {4, 11, 3}), "training.blockSize was 10, is 11");
  expect(CheckUnchanged(index, input_, {4, 10, 4}), "training.seed was 3, is 4");
  std::string text = *ReadFile(dir_.File("b.csv"));
  text[0] = '7';
  WriteTestFile(dir_.File("b.csv"), text);
  expect(CheckUnchanged(index, input_, kShape), "the CRC-32C of " + dir_.File("b.csv") + " was ");
  WriteTestFile(dir_.File("b.csv"), text + "1\n");
  expect(CheckUnchanged(index, input_, kShape), "the size of " + dir_.File("b.csv") + " was 20");
  std::filesystem::remove(dir_.File("b.csv"));
  expect(CheckUnchanged(index, input_, kShape), dir_.File("b.csv") + ": No such file");
  input_.mutable_csv()->mutable_files()->RemoveLast();
  expect(CheckUnchanged(index, input_, kShape), "the number of files was 2, is 1");
}

TEST_F(InputIndexTest, WhenAPatternMatchesOtherFiles_NamesTheFirstThatDiffers) {
  input_.mutable_csv()->clear_files();
  input_.mutable_csv()->add_files(dir_.File("?.csv"));
  const InputIndex index = Build();
  EXPECT_EQ(index.total_records(), 33U);
  EXPECT_TRUE(CheckUnchanged(index, input_, kShape).ok());
  const auto says = [&](const std::string& text) {
    const Status status = CheckUnchanged(index, input_, kShape);
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  const std::string b = dir_.File("b.csv");
  WriteTestFile(dir_.File("c.csv"), "1\n");
  says("the number of files was 2, is 3: " + dir_.File("c.csv") + " is new; ");
  std::filesystem::remove(b);
  says("file " + dir_.File("c.csv") + " was " + b);
  std::filesystem::remove(dir_.File("c.csv"));
  says("the number of files was 2, is 1: " + b + " is gone; ");
  std::filesystem::remove(dir_.File("a.csv"));
  says("no file matches \"" + dir_.File("?.csv") + "\"; ");
}

TEST_F(InputIndexTest, WhenAFileHasNoRecords_IsRefused) {
  AddFile("none.csv", 0);
  EXPECT_EQ(BuildInputIndex(input_, kShape, dir_.File("scratch")).status().message(),
            dir_.File("none.csv") + ": the file is empty");
  WriteTestFile(dir_.File("none.csv"), "\n\n");
  EXPECT_EQ(BuildInputIndex(input_, kShape, dir_.File("scratch")).status().message(),
            dir_.File("none.csv") + ": the file has no records");
  std::filesystem::remove(dir_.File("none.csv"));
  EXPECT_EQ(BuildInputIndex(input_, kShape, dir_.File("scratch")).status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace pstrain
