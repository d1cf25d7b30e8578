#include "runtime/input/batch_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

#include "base/os/files.h"
#include "tests/runtime/input/gzip_file.h"
#include "tests/runtime/input/test_input.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;

class BatchReaderTest : public ::testing::Test {
 protected:
  static std::string Records(int count, int bad_every = 0) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const bool bad = bad_every > 0 && i % bad_every == 0;
      text +=
          (bad ? "bad" : std::to_string(i)) + ",\"co\nok\"," + (i % 2 == 0 ? "no" : "yes") + "\n";
    }
    return text;
  }
  Result<std::unique_ptr<BatchReader>> Open(const Training& training, std::size_t cached = 2) {
    PSTRAIN_ASSIGN_OR_RETURN(FeatureSet set, FeatureSet::Create(training.features()));
    const BatchShape shape{static_cast<std::uint32_t>(training.batch_size()),
                           static_cast<std::uint32_t>(training.block_size()), 3};
    PSTRAIN_ASSIGN_OR_RETURN(InputIndex index,
                             BuildInputIndex(training.input(), shape, dir_.File("scratch")));
    index_ = std::make_shared<const InputIndex>(std::move(index));
    return BatchReader::Create(training.input(), std::make_shared<const FeatureSet>(std::move(set)),
                               index_, {dir_.File("scratch"), cached});
  }
  std::vector<float> ReadEpoch(BatchReader& reader, std::uint32_t epoch) {
    std::vector<float> ages;
    for (const std::uint32_t batch : index_->WorkIdOrder(epoch)) {
      const Result<Batch> read = reader.Read({epoch, batch});
      EXPECT_TRUE(read.ok()) << read.status().ToString();
      EXPECT_EQ(read->records + read->skipped, index_->RecordCount({epoch, batch}));
      const std::vector<float>& values = read->features[0].values;
      ages.insert(ages.end(), values.begin(), values.end());
      for (std::size_t i = 0; i < read->records; ++i) {
        EXPECT_EQ(read->labels[i], static_cast<float>(static_cast<int>(values[i]) % 2));
      }
    }
    return ages;
  }

  TempDir dir_;
  std::string path_ = dir_.File("a.csv");
  std::shared_ptr<const InputIndex> index_;
};

TEST_F(BatchReaderTest, WhenAnEpochIsRead_EveryRecordComesOnceInShuffledOrder) {
  WriteTestFile(path_, Records(9003));
  Training training = SmallTraining(path_);
  training.set_batch_size(64);
  training.set_block_size(1000);
  auto reader = Open(training);
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  std::vector<float> first = ReadEpoch(**reader, 0);
  EXPECT_EQ((*reader)->blocks_decoded(), index_->blocks().size());
  std::vector<float> second = ReadEpoch(**reader, 1);
  EXPECT_NE(first, second);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  std::sort(first.begin(), first.end());
  for (int i = 0; i < 9003; ++i)
    ASSERT_EQ(first[static_cast<std::size_t>(i)], static_cast<float>(i));
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);
}

TEST_F(BatchReaderTest, WhenReadAgain_ABatchHoldsTheSame) {
  WriteTestFile(path_, Records(50));
  auto one = Open(SmallTraining(path_));
  auto other = Open(SmallTraining(path_), 1);
  ASSERT_TRUE(one.ok() && other.ok());
  const std::vector<float> epoch = ReadEpoch(**one, 4);
  ReadEpoch(**other, 2);
  EXPECT_EQ(ReadEpoch(**other, 4), epoch);
}

TEST_F(BatchReaderTest, WhenGzip_GivesTheSameBatchesAsPlain) {
  WriteTestFile(path_, Records(50));
  auto plain = Open(SmallTraining(path_));
  ASSERT_TRUE(plain.ok());
  const std::vector<float> epoch = ReadEpoch(**plain, 0);
  const std::string packed = dir_.File("a.csv.gz");
  gzFile file = gzopen(packed.c_str(), "wb");
  gzputs(file, Records(50).c_str());
  gzclose(file);
  auto reader = Open(SmallTraining(packed));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(ReadEpoch(**reader, 0), epoch);
}

TEST_F(BatchReaderTest, WhenRecordsAreSkipped_TheyStillCountInTheWorkId) {
  WriteTestFile(path_, Records(33, 3));
  Training training = SmallTraining(path_);
  training.mutable_input()->mutable_csv()->set_bad_records(Input::Skip);
  auto reader = Open(training);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(ReadEpoch(**reader, 0).size(), 22U);
  WriteTestFile(path_, Records(8, 1));
  auto nothing = Open(training);
  ASSERT_TRUE(nothing.ok());
  const Result<Batch> batch = (*nothing)->Read({0, 0});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->records, 0U);
  EXPECT_EQ(batch->skipped, 4U);
  EXPECT_THAT(batch->features[1].offsets, ElementsAre(0));
}

TEST_F(BatchReaderTest, WhenARecordIsBad_NamesItsLine) {
  WriteTestFile(path_, Records(5000) + "x,cook,no\n");
  auto reader = Open(SmallTraining(path_));
  ASSERT_TRUE(reader.ok());
  ASSERT_TRUE((*reader)->Read({0, 0}).ok());  // so that the bad record is not all that was seen
  const Result<Batch> batch = (*reader)->Read({0, index_->batches_per_epoch() - 1});
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.status().message(),
            path_ +
                ":10001: column age: \"x\" is not a number; correct the record, or leave such "
                "records out with csv.badRecords: Skip");
  EXPECT_EQ((*reader)->Read({0, index_->batches_per_epoch()}).status().code(),
            StatusCode::kOutOfRange);
}

TEST_F(BatchReaderTest, WhenTheFileShrinksUnderway_IsDataLoss) {
  WriteTestFile(path_, Records(50));
  auto reader = Open(SmallTraining(path_));
  ASSERT_TRUE(reader.ok());
  WriteTestFile(path_, Records(20));
  EXPECT_EQ((*reader)->Read({0, 0}).status().code(), StatusCode::kDataLoss);
}

/// Every block is refused that differs, and all others are read.
void ExpectOneBlockRefused(const InputIndex& index, BatchReader& reader, std::uint32_t changed,
                           const std::string& what) {
  for (std::uint32_t batch = 0; batch < index.batches_per_epoch(); ++batch) {
    const Result<Batch> read = reader.Read({0, batch});
    if (index.Place({0, batch})->block != changed) {
      EXPECT_TRUE(read.ok()) << read.status().ToString();
      continue;
    }
    EXPECT_EQ(read.status().code(), StatusCode::kDataLoss);
    EXPECT_THAT(read.status().message(), testing::HasSubstr(what));
    EXPECT_THAT(read.status().message(), testing::HasSubstr("put it back, or start a new run"));
  }
}

TEST_F(BatchReaderTest, WhenLabelsAreFlippedUnderway_TheirBlockIsNotRead) {
  std::string text = Records(50);
  WriteTestFile(path_, text);
  auto reader = Open(SmallTraining(path_));
  ASSERT_TRUE(reader.ok());
  const std::size_t label = text.find("no\n", text.find("\n24,"));
  const std::size_t other = text.find("yes\n", label);
  text.replace(label, other + 3 - label, "yes" + text.substr(label + 2, other - label - 2) + "no");
  WriteTestFile(path_, text);
  const PassedBytes& bytes = index_->files()[0].blocks[2];
  ExpectOneBlockRefused(*index_, **reader, 2,
                        path_ + ": the file has changed since the run began, in bytes " +
                            std::to_string(bytes.begin) + " to " + std::to_string(bytes.end) +
                            " (records 21 to 30");
}

TEST_F(BatchReaderTest, WhenAChangedRecordCannotBeRead_TheChangeIsSaid) {
  std::string text = Records(50);
  WriteTestFile(path_, text);
  auto reader = Open(SmallTraining(path_));
  ASSERT_TRUE(reader.ok());
  text.replace(text.find("\n41,") + 1, 2, "xx");
  WriteTestFile(path_, text);
  ExpectOneBlockRefused(*index_, **reader, 4, "the file has changed since the run began");
}

// A folder stands for a disk that fails in a read; which errno it is decides who tries again.
TEST_F(BatchReaderTest, WhenTheFileCannotBeReadUnderway_NoChangeIsSaidAndItIsReadLater) {
  WriteTestFile(path_, Records(50));
  auto reader = Open(SmallTraining(path_));
  ASSERT_TRUE(reader.ok());
  const auto batch_of = [this](bool first_block) {
    std::uint32_t batch = 0;
    while ((index_->Place({0, batch})->block == 0) != first_block) ++batch;
    return WorkId{0, batch};
  };
  ASSERT_TRUE((*reader)->Read(batch_of(false)).ok());
  ASSERT_TRUE(RenameFile(path_, path_ + ".away").ok());
  ASSERT_TRUE(CreateDirectories(path_).ok());
  const Result<Batch> batch = (*reader)->Read(batch_of(true));
  EXPECT_EQ(batch.status(), ErrnoError(EISDIR, path_ + ": read"));
  ASSERT_TRUE(RemoveFile(path_).ok());
  ASSERT_TRUE(RenameFile(path_ + ".away", path_).ok());
  EXPECT_TRUE((*reader)->Read(batch_of(true)).ok());
}

TEST_F(BatchReaderTest, WhenAPackedFileIsChangedUnderway_ItsBlockIsNotRead) {
  const std::string packed = dir_.File("a.csv.gz");
  std::string text = Records(50);
  WriteGzipFile(packed, text);
  auto indexed = Open(SmallTraining(packed));
  ASSERT_TRUE(indexed.ok());
  text.replace(text.find("\n14,") + 1, 2, "99");
  WriteGzipFile(packed, text);
  const Training training = SmallTraining(packed);
  Result<FeatureSet> set = FeatureSet::Create(training.features());
  ASSERT_TRUE(set.ok());
  // Another machine: nothing is unpacked there yet.
  auto reader = BatchReader::Create(training.input(), std::make_shared<const FeatureSet>(*set),
                                    index_, {dir_.File("elsewhere"), 2});
  ASSERT_TRUE(reader.ok());
  ExpectOneBlockRefused(*index_, **reader, 1, "(records 11 to 20");
}

TEST_F(BatchReaderTest, WithAByteOrderMarkEmptyLinesAndLongBlocks_EveryBlockIsReadAsIndexed) {
  std::string text = "\xef\xbb\xbf\n\n";
  for (int i = 0; i < 9000; ++i) {
    text += std::to_string(i) + ",cook," + (i % 2 == 0 ? "no" : "yes") + "\n";
    if (i % 7 == 0) text += std::string(static_cast<std::size_t>(i % 100), '\n');
  }
  WriteTestFile(path_, text + std::string(400'000, '\n'));
  for (const bool header : {false, true}) {
    if (header)
      WriteTestFile(path_,
                    "\xef\xbb\xbf"
                    "age,job,y\n\n" +
                        text.substr(3));
    Training training = SmallTraining(path_);
    training.set_block_size(700);
    training.mutable_input()->mutable_csv()->set_header(header);
    auto reader = Open(training);
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    EXPECT_EQ(ReadEpoch(**reader, 0).size(), 9000U);
  }
}

TEST_F(BatchReaderTest, WhenReadInSequence_GivesFileOrderAndRewinds) {
  WriteTestFile(path_, Records(7));
  WriteTestFile(dir_.File("b.csv"), Records(3));
  Training training = SmallTraining(path_);
  training.mutable_input()->mutable_csv()->add_files(dir_.File("b.csv"));
  Result<FeatureSet> set = FeatureSet::Create(training.features());
  ASSERT_TRUE(set.ok());
  auto reader = SequentialReader::Create(training.input(), std::make_shared<const FeatureSet>(*set),
                                         {.scratch = dir_.File("scratch")});
  ASSERT_TRUE(reader.ok());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT((*reader)->Next(5)->features[0].values, ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT((*reader)->Next(4)->features[0].values, ElementsAre(5, 6, 0, 1));
    EXPECT_THAT((*reader)->Next(5)->features[0].values, ElementsAre(2));
    EXPECT_EQ((*reader)->Next(5)->records, 0U);
    ASSERT_TRUE((*reader)->Rewind().ok());
  }
}

}  // namespace
}  // namespace pstrain
