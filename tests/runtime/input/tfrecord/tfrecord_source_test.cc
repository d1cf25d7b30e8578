#include "runtime/input/tfrecord/tfrecord_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/os/files.h"
#include "runtime/input/batch_reader.h"
#include "runtime/input/record_position.h"
#include "tests/runtime/input/gzip_file.h"
#include "tests/runtime/input/test_input.h"
#include "tests/runtime/input/tfrecord/tfrecord_file.h"
#include "tests/testing/golden.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;

constexpr const char* kAdvice =
    "; correct the record, or leave such records out with tfRecord.badRecords: Skip";

TfExample Person(const std::string& job, const std::string& label) {
  TfExample example;
  AddBytes(example, "job", job);
  AddBytes(example, "y", label);
  AddBytes(example, "unread", "x");
  return example;
}

/// The records of the small training by number, as a line and as an example: the age an integer, a
/// float or missing.
std::string LineOf(int i) {
  const std::string age = i % 3 == 0 ? std::to_string(i) : i % 3 == 1 ? "0.1" : "";
  return age + (i % 2 == 0 ? ",cook," : ",pilot,") + (i % 5 == 0 ? "yes\n" : "no\n");
}
TfExample ExampleOf(int i) {
  TfExample example = Person(i % 2 == 0 ? "cook" : "pilot", i % 5 == 0 ? "yes" : "no");
  if (i % 3 == 0) AddInteger(example, "age", i);
  if (i % 3 == 1) AddFloat(example, "age", 0.1F);
  return example;
}

Training SmallTfTraining(const std::string& file) {
  Training training = SmallTraining(file);
  const CsvInput csv = training.input().csv();
  TfRecordInput* input = training.mutable_input()->mutable_tf_record();
  input->add_files(file);
  input->set_label_feature("y");
  *input->mutable_label_map() = csv.label_map();
  return training;
}

class TfRecordSourceTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<BatchReader>> Open(const Training& training) {
    PSTRAIN_ASSIGN_OR_RETURN(FeatureSet set, FeatureSet::Create(training.features()));
    const BatchShape shape{static_cast<std::uint32_t>(training.batch_size()),
                           static_cast<std::uint32_t>(training.block_size()), 3};
    PSTRAIN_ASSIGN_OR_RETURN(InputIndex index,
                             BuildInputIndex(training.input(), shape, dir_.File("scratch")));
    index_ = std::make_shared<const InputIndex>(std::move(index));
    return BatchReader::Create(training.input(), std::make_shared<const FeatureSet>(std::move(set)),
                               index_, {.scratch = dir_.File("scratch")});
  }
  /// All batches of an epoch, in the order in which they are granted.
  std::vector<Batch> ReadEpoch(const Training& training, std::uint32_t epoch) {
    const auto reader = Open(training);
    EXPECT_TRUE(reader.ok()) << reader.status().ToString();
    std::vector<Batch> batches;
    if (!reader.ok()) return batches;
    for (const std::uint32_t batch : index_->WorkIdOrder(epoch)) {
      Result<Batch> read = (*reader)->Read({epoch, batch});
      EXPECT_TRUE(read.ok()) << read.status().ToString();
      if (read.ok()) batches.push_back(std::move(read).value());
    }
    return batches;
  }
  Result<Batch> ReadInOrder(const Training& training, FeatureSetOptions options = {},
                            Labels labels = Labels::kRequired) {
    PSTRAIN_ASSIGN_OR_RETURN(FeatureSet set, FeatureSet::Create(training.features(), options));
    PSTRAIN_ASSIGN_OR_RETURN(
        const auto reader,
        SequentialReader::Create(training.input(), std::make_shared<const FeatureSet>(set),
                                 {.scratch = dir_.File("scratch"), .labels = labels}));
    return reader->Next(100000);
  }
  Result<Batch> ReadExamples(const std::vector<TfExample>& examples,
                             Input::BadRecords policy = Input::Fail) {
    std::string bytes;
    for (const TfExample& example : examples) bytes += TfFrame(example.SerializeAsString());
    return ReadBytes(bytes, policy);
  }
  Result<Batch> ReadBytes(const std::string& bytes, Input::BadRecords policy = Input::Fail) {
    WriteTestFile(path_, bytes);
    Training training = SmallTfTraining(path_);
    training.mutable_input()->mutable_tf_record()->set_bad_records(policy);
    return ReadInOrder(training);
  }
  /// Reads `bad` between two good examples: under Fail it is refused, under Skip only the good
  /// come.
  void ExpectBadSecond(const TfExample& bad, const std::string& what) {
    TfExample good = Person("cook", "yes");
    AddInteger(good, "age", 7);
    const std::size_t size = TfFrame(good.SerializeAsString()).size();
    const Result<Batch> refused = ReadExamples({good, bad, good});
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(refused.status().message(),
              path_ + ": record 2 at byte " + std::to_string(size) + ": " + what + kAdvice);
    const Result<Batch> left_out = ReadExamples({good, bad, good}, Input::Skip);
    ASSERT_TRUE(left_out.ok()) << left_out.status().ToString();
    EXPECT_EQ(left_out->skipped, 1U);
    EXPECT_THAT(left_out->features[0].values, ElementsAre(7, 7));
  }

  TempDir dir_;
  std::string path_ = dir_.File("a.tfrecord");
  std::shared_ptr<const InputIndex> index_;
};

bool Same(const std::vector<Batch>& one, const std::vector<Batch>& other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [](const Batch& a, const Batch& b) {
        return a.records == b.records && a.skipped == b.skipped && a.labels == b.labels &&
               std::equal(a.features.begin(), a.features.end(), b.features.begin(),
                          b.features.end(), [](const FeatureColumn& x, const FeatureColumn& y) {
                            return x.values == y.values && x.ids == y.ids && x.offsets == y.offsets;
                          });
      });
}

TEST_F(TfRecordSourceTest, WhenTheRecordsAreThoseOfACsvFile_SoAreTheShuffledBatches) {
  std::string lines;
  std::string frames;
  for (int i = 0; i < 10000; ++i) {
    lines += LineOf(i);
    frames += TfFrame(ExampleOf(i).SerializeAsString());
  }
  WriteTestFile(dir_.File("a.csv"), lines);
  WriteTestFile(path_, frames);
  Training csv = SmallTraining(dir_.File("a.csv"));
  Training tf = SmallTfTraining(path_);
  for (Training* training : {&csv, &tf}) {
    training->set_batch_size(64);
    training->set_block_size(1000);
  }
  for (const std::uint32_t epoch : {0U, 1U}) {
    const std::vector<Batch> expected = ReadEpoch(csv, epoch);
    ASSERT_EQ(expected.size(), 160U);
    EXPECT_TRUE(Same(ReadEpoch(tf, epoch), expected)) << epoch;
  }
  EXPECT_FALSE(Same(ReadEpoch(tf, 0), ReadEpoch(tf, 1)));
  const IndexedFile& file = index_->files()[0];
  ASSERT_EQ(file.positions.size(), 3U);
  std::size_t offset = 0;
  for (int i = 0; i < 4096; ++i) offset += TfFrame(ExampleOf(i).SerializeAsString()).size();
  EXPECT_EQ(*DecodePosition("a", file.positions[1]), (NumberedOffset{offset, 4097}));
  // The index knows whose positions it holds.
  Status changed = CheckUnchanged(*index_, csv.input(), index_->shape());
  EXPECT_THAT(changed.message(), ::testing::HasSubstr("training.input was tfRecord, is csv"));

  const std::string packed = dir_.File("a.tfrecord.gz");
  WriteGzipFile(packed, frames);
  tf.mutable_input()->mutable_tf_record()->set_files(0, packed);
  EXPECT_TRUE(Same(ReadEpoch(tf, 0), ReadEpoch(csv, 0)));
}

TEST_F(TfRecordSourceTest, WhenValuesHaveKinds_TheyBecomeTheTextThatFeaturesRead) {
  TfExample missing = Person("", "no");
  AddFeature(missing, "age");
  TfExample empty_list = Person("clerk", "no");
  AddFeature(empty_list, "age").mutable_float_list();
  TfExample number = Person("clerk", "yes");
  AddFloat(number, "age", 1.5e-7F);
  TfExample text = Person("clerk", "yes");
  AddBytes(text, "age", "-3");
  const Result<Batch> batch = ReadExamples({missing, empty_list, number, text});
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_THAT(batch->features[0].values, ElementsAre(-1, -1, 1.5e-7F, -3));
  EXPECT_THAT(batch->features[1].offsets, ElementsAre(0, 0, 1, 2, 3));
  EXPECT_THAT(batch->labels, ElementsAre(0, 0, 1, 1));
}

TEST_F(TfRecordSourceTest, WhenLabelsAreNumbers_TakesIntegersAndFloats) {
  TfExample integer;
  AddInteger(integer, "y", 1);
  TfExample fraction;
  AddFloat(fraction, "y", 0.1F);
  WriteTestFile(path_,
                TfFrame(integer.SerializeAsString()) + TfFrame(fraction.SerializeAsString()));
  Training training = SmallTfTraining(path_);
  training.mutable_input()->mutable_tf_record()->clear_label_map();
  const Result<Batch> batch = ReadInOrder(training);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  EXPECT_THAT(batch->labels, ElementsAre(1, 0.1F));
}

TEST_F(TfRecordSourceTest, WhenLabelsAreNotRead_AnythingMayStandThere) {
  TfExample unlabelled;
  AddBytes(unlabelled, "job", "cook");
  WriteTestFile(path_, TfFrame(Person("cook", "maybe").SerializeAsString()) +
                           TfFrame(unlabelled.SerializeAsString()));
  for (const Labels labels : {Labels::kIgnored, Labels::kAbsent}) {
    const Result<Batch> batch = ReadInOrder(SmallTfTraining(path_), {}, labels);
    ASSERT_TRUE(batch.ok()) << batch.status().ToString();
    EXPECT_EQ(batch->records, 2U);
    EXPECT_THAT(batch->labels, ElementsAre(0, 0));
    EXPECT_THAT(batch->features[1].ids, ElementsAre(1, 1));
  }
}

TEST_F(TfRecordSourceTest, WhenARecordIsBad_NamesItOrLeavesItOut) {
  TfExample several = Person("cook", "no");
  AddFeature(several, "age").mutable_int64_list()->add_value(1);
  several.mutable_features()->mutable_feature(3)->mutable_value()->mutable_int64_list()->add_value(
      2);
  ExpectBadSecond(several, "feature age has 2 values; one can be read");
  TfExample word = Person("cook", "no");
  AddBytes(word, "age", "old");
  ExpectBadSecond(word, "column age: \"old\" is not a number");
  ExpectBadSecond(Person("cook", "maybe"),
                  "column y: unknown label \"maybe\", not in tfRecord.labelMap");
  ExpectBadSecond(TfExample(), "column y: the label is missing");
}

TEST_F(TfRecordSourceTest, WhenARecordIsNoExample_IsABadRecord) {
  EXPECT_EQ(ReadBytes(TfFrame("not a proto \a")).status().message(),
            path_ +
                ": record 1 at byte 0: is no tf.Example; correct the record, or what the job "
                "says of the input");
  const Result<Batch> skipped = ReadBytes(TfFrame("not a proto \a"), Input::Skip);
  ASSERT_TRUE(skipped.ok());
  EXPECT_EQ(skipped->skipped, 1U);
}

TEST_F(TfRecordSourceTest, WhenAFileIsDamaged_SkipDoesNotHelp) {
  std::string bytes = TfFrame(ExampleOf(0).SerializeAsString());
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  const std::string error =
      path_ + ": record 1 at byte 0: the checksum of its data does not match; the file is damaged";
  const Status status = ReadBytes(bytes, Input::Skip).status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), error);
  // The chief notices before it grants anything.
  Training training = SmallTfTraining(path_);
  training.mutable_input()->mutable_tf_record()->set_bad_records(Input::Skip);
  EXPECT_EQ(Open(training).status().message(), error);
}

TEST_F(TfRecordSourceTest, WhenTensorFlowWroteTheFile_ReadsItsExamples) {
  const std::string golden = GoldenPath("tfrecord/");
  Training training = SmallTfTraining(golden + "plain.tfrecord");
  TfRecordInput& input = *training.mutable_input()->mutable_tf_record();
  input.set_label_feature("label");
  input.clear_label_map();
  input.set_bad_records(Input::Skip);
  const Result<Batch> plain = ReadInOrder(training);
  ASSERT_TRUE(plain.ok()) << plain.status().ToString();
  // Five examples have a label of 0.0; two records are empty and two are no examples.
  EXPECT_THAT(plain->labels, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_EQ(plain->skipped, 4U);
  input.set_files(0, golden + "gzip.tfrecord.gz");
  EXPECT_TRUE(Same({*ReadInOrder(training)}, {*plain}));
  input.set_files(0, golden + "truncated.tfrecord.gz");
  EXPECT_EQ(ReadInOrder(training).status().message(),
            golden + "truncated.tfrecord.gz: the gzip data are cut short");
  input.set_files(0, golden + "empty.tfrecord");
  EXPECT_EQ(ReadInOrder(training).status().message(), golden + "empty.tfrecord: the file is empty");
  input.set_files(0, golden + "plain.tfrecord");
  input.set_bad_records(Input::Fail);
  EXPECT_EQ(ReadInOrder(training).status().message(),
            golden + "plain.tfrecord: record 2 at byte 123: column label: the label is missing" +
                kAdvice);
}

TEST_F(TfRecordSourceTest, WhenAFeatureReadsTheLabel_IsRefused) {
  Training training = SmallTfTraining(path_);
  training.mutable_input()->mutable_tf_record()->set_label_feature("job");
  WriteTestFile(path_, TfFrame(ExampleOf(0).SerializeAsString()));
  EXPECT_EQ(Open(training).status().message(), "model features: column \"job\" is the label");
}

TEST_F(TfRecordSourceTest, WhenTheModelWantsFingerprints_TheyDependOnTheRecord) {
  Training training = SmallTfTraining(path_);
  training.clear_features();
  WriteTestFile(path_, TfFrame(ExampleOf(1).SerializeAsString()) +
                           TfFrame(ExampleOf(1).SerializeAsString()) +
                           TfFrame(ExampleOf(2).SerializeAsString()));
  const Result<Batch> batch = ReadInOrder(training, {.fingerprints = true});
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  ASSERT_EQ(batch->fingerprints.size(), 3U);
  EXPECT_EQ(batch->fingerprints[0], batch->fingerprints[1]);
  EXPECT_NE(batch->fingerprints[0], batch->fingerprints[2]);
}

TEST_F(TfRecordSourceTest, WhenALabelIsFlippedUnderway_ItsBlockIsNotRead) {
  const auto content = [](int flipped) {
    std::string text;
    for (int i = 0; i < 30; ++i) {
      text += TfFrame(Person("cook", i == flipped ? "yes" : "no ").SerializeAsString());
    }
    return text;
  };
  Training training = SmallTfTraining(path_);
  (*training.mutable_input()->mutable_tf_record()->mutable_label_map())["no "] = 0;
  WriteTestFile(path_, content(-1));
  const auto reader = Open(training);
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  // Of the same length, and every checksum of the file itself is right.
  WriteTestFile(path_, content(15));
  for (std::uint32_t batch = 0; batch < index_->batches_per_epoch(); ++batch) {
    const Result<Batch> read = (*reader)->Read({0, batch});
    EXPECT_EQ(read.ok(), index_->Place({0, batch})->block != 1);
    if (read.ok()) continue;
    EXPECT_EQ(read.status().code(), StatusCode::kDataLoss);
    EXPECT_THAT(read.status().message(), testing::HasSubstr("(records 11 to 20"));
  }
}

}  // namespace
}  // namespace pstrain
