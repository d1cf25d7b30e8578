#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pstrain/dataset.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/runtime/input/gzip_file.h"
#include "tests/runtime/input/test_input.h"
#include "tests/runtime/input/tfrecord/tfrecord_file.h"

namespace pstrain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecordFilesTest : public testing::Test {
 protected:
  RecordFilesTest()
      : folder_(testing::TempDir() + "record_files_" +
                testing::UnitTest::GetInstance()->current_test_info()->name() + "/") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~RecordFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& content) const {
    WriteTestFile(folder_ + name, content);
    return folder_ + name;
  }
  /// `rows` lines "NUMBER,word NUMBER" from `first` on, below a header.
  std::string WriteRows(const std::string& name, int first, int rows) const {
    std::string text = "n,word\n";
    for (int i = first; i < first + rows; ++i) {
      text += std::to_string(i) + ",word " + std::to_string(i) + "\n";
    }
    return Write(name, text);
  }

  const std::string folder_;
};

const CsvOptions kRows{.select = {{.name = "n", .dtype = DType::kInt64}, {"word", DType::kString}}};

std::vector<Element> Read(const Dataset& dataset) {
  std::vector<Element> read;
  Result<Iterator> iterator = dataset.Iterate();
  EXPECT_TRUE(iterator.ok()) << iterator.status().ToString();
  while (iterator.ok()) {
    const Result<PerReplica<Element>> next = iterator->Next();
    if (!next.ok()) {
      EXPECT_EQ(next.status().code(), StatusCode::kOutOfRange) << next.status().ToString();
      break;
    }
    read.push_back(*next->Get(0));
  }
  return read;
}
Status ErrorOf(const Dataset& dataset) { return dataset.Cardinality().status(); }
Status FirstError(const Dataset& dataset) {
  Result<Iterator> iterator = dataset.Iterate();
  return iterator.ok() ? iterator->Next().status() : iterator.status();
}

TEST_F(RecordFilesTest, OfCsv_ElementsHaveTheColumnsThatWereSelected) {
  const std::string file = Write("a.csv", "x,word,label\n1.5, \"a, b\" ,1\n,c,-2\n+3e2,NA,3\n");
  const CsvOptions options{
      .select = {{.name = "label", .dtype = DType::kInt32},
                 {.name = "x", .default_value = Tensor(-1.0F)},
                 {.name = "word", .dtype = DType::kString, .default_value = Tensor("none")}},
      .missing = "NA"};
  EXPECT_THAT(Read(Dataset::Csv({file}, options)),
              ElementsAre(Element{{"label", 1}, {"x", 1.5F}, {"word", "a, b"}},
                          Element{{"label", -2}, {"x", -1.0F}, {"word", "c"}},
                          Element{{"label", 3}, {"x", 300.0F}, {"word", "none"}}));
}

TEST_F(RecordFilesTest, OfCsvWithoutASelection_AllColumnsAreTexts) {
  const std::string file = Write("a.csv", "1;2\n3;\n");
  EXPECT_THAT(
      Read(Dataset::Csv({file}, {.header = false, .columns = {"a", "b"}, .delimiter = ';'})),
      ElementsAre(Element{{"a", "1"}, {"b", "2"}}, Element{{"a", "3"}, {"b", ""}}));
}

TEST_F(RecordFilesTest, OfSeveralFilesShuffled_EachRecordComesOnce) {
  const std::vector<std::string> files = {WriteRows("a.csv", 0, 40), WriteRows("b.csv", 40, 0),
                                          WriteRows("c.csv", 40, 77)};
  const Dataset all = Dataset::Csv(files, kRows);
  EXPECT_EQ(*all.Cardinality(), 117);
  std::vector<std::int64_t> numbers;
  for (const Element& element : Read(all.Shuffle(5))) {
    numbers.push_back(*element.scalar<std::int64_t>("n"));
    EXPECT_EQ(*element.scalar<std::string>("word"), "word " + std::to_string(numbers.back()));
  }
  EXPECT_FALSE(std::ranges::is_sorted(numbers));
  std::ranges::sort(numbers);
  ASSERT_EQ(numbers.size(), 117U);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(Read(all).size(), 117U);
}

TEST_F(RecordFilesTest, OfAPackedFile_RecordsAreTheSame) {
  WriteGzipFile(folder_ + "a.csv.gz", "n,word\n1,one\n2,two\n");
  EXPECT_THAT(Read(Dataset::Csv({folder_ + "a.csv.gz"}, kRows)),
              ElementsAre(Element{{"n", std::int64_t{1}}, {"word", "one"}},
                          Element{{"n", std::int64_t{2}}, {"word", "two"}}));
}

TEST_F(RecordFilesTest, WhenACsvFileIsWrong_TheErrorNamesFileAndLine) {
  EXPECT_EQ(ErrorOf(Dataset::Csv({folder_ + "absent.csv"}, kRows)).code(), StatusCode::kNotFound);
  EXPECT_EQ(ErrorOf(Dataset::Csv({}, kRows)).code(), StatusCode::kInvalidArgument);
  const std::string short_line = Write("short.csv", "n,word\n1,one\n2\n");
  const Status fields = ErrorOf(Dataset::Csv({short_line}, kRows));
  EXPECT_EQ(fields.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(fields.message(), short_line + ":3: has 1 fields, expected 2");
  const std::string text = Write("text.csv", "n,word\nabc,one\n");
  const Status number = FirstError(Dataset::Csv({text}, kRows));
  EXPECT_EQ(number.message(), text + ":2: column n: \"abc\" is no int64");
  const std::string missing = Write("missing.csv", "n,word\n,one\n");
  EXPECT_THAT(FirstError(Dataset::Csv({missing}, kRows)).message(), HasSubstr("default_value"));
  const std::string other = Write("other.csv", "m,word\n1,one\n");
  EXPECT_THAT(ErrorOf(Dataset::Csv({text, other}, kRows)).message(), HasSubstr(other));
}

TEST_F(RecordFilesTest, WhenCsvOptionsAreWrong_TheErrorNamesThem) {
  const std::string file = WriteRows("a.csv", 0, 2);
  const auto error = [&file](CsvOptions options) {
    const Status status = ErrorOf(Dataset::Csv({file}, std::move(options)));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    return status.message();
  };
  EXPECT_THAT(error({.select = {{"absent"}}}), HasSubstr("no column \"absent\""));
  EXPECT_THAT(error({.select = {{"n"}, {"n"}}}), HasSubstr("is twice"));
  EXPECT_THAT(error({.select = {{"n", DType::kBool}}}), HasSubstr("is bool"));
  EXPECT_THAT(error({.select = {{.name = "n", .default_value = Tensor(std::int64_t{1})}}}),
              HasSubstr("its default_value is int64 ()"));
  EXPECT_THAT(error({.header = false}), HasSubstr("CsvOptions.columns"));
  EXPECT_THAT(error({.delimiter = '"'}), HasSubstr("CsvOptions.delimiter"));
  EXPECT_THAT(error({.columns = {"word", "n"}}), HasSubstr("CsvOptions.columns"));
}

TEST_F(RecordFilesTest, WhenAFileHasChanged_ItIsNotReadAnyMore) {
  const std::string file = WriteRows("a.csv", 0, 3);
  Iterator iterator = *Dataset::Csv({file}, kRows).Iterate();
  WriteRows("a.csv", 0, 4);
  const Status error = iterator.Next().status();
  EXPECT_EQ(error.code(), StatusCode::kFailedPrecondition) << error.ToString();
  EXPECT_THAT(error.message(), HasSubstr(file));
}

/// An example with "x" of two floats, "id" and "name".
std::string ExampleOf(std::int64_t id) {
  TfExample example;
  TfFloatList* floats = AddFeature(example, "x").mutable_float_list();
  floats->add_value(static_cast<float>(id));
  floats->add_value(0.5F);
  AddInteger(example, "id", id);
  AddBytes(example, "name", "n" + std::to_string(id));
  return example.SerializeAsString();
}

const TfRecordOptions kExamples{
    .features = {{.name = "x", .shape = {2}}, {"id", DType::kInt64}, {"name", DType::kString}}};

TEST_F(RecordFilesTest, OfTfRecords_ElementsHaveTheFeatures) {
  std::string frames;
  for (std::int64_t id = 0; id < 40; ++id) frames += TfFrame(ExampleOf(id));
  const std::string file = Write("a.tfrecord", frames);
  const std::vector<Element> read = Read(Dataset::TfRecord({file}, kExamples));
  ASSERT_EQ(read.size(), 40U);
  EXPECT_EQ(read[3], (Element{{"x", Tensor::From(std::vector<float>{3, 0.5F})},
                              {"id", std::int64_t{3}},
                              {"name", "n3"}}));
  Iterator last = *Dataset::TfRecord({file}, kExamples).Skip(39).Iterate();
  EXPECT_EQ(*last.Next()->Get(0)->scalar<std::int64_t>("id"), 39);
  EXPECT_THAT(Read(Dataset::TfRecord({file}).Take(1)),
              ElementsAre(Element{{"record", Tensor(ExampleOf(0))}}));
}

TEST_F(RecordFilesTest, WhenAFeatureIsAbsent_ItsDefaultCounts) {
  const std::string file = Write("a.tfrecord", TfFrame(ExampleOf(1)));
  const Tensor none = Tensor::From(std::vector<float>{-1, -1});
  EXPECT_THAT(Read(Dataset::TfRecord(
                  {file}, {.features = {{.name = "y", .shape = {2}, .default_value = none}}})),
              ElementsAre(Element{{"y", none}}));
  const auto error = [&file](FixedLenFeature feature) {
    return FirstError(Dataset::TfRecord({file}, {.features = {std::move(feature)}})).message();
  };
  EXPECT_THAT(error({"y"}), HasSubstr("record 1 at byte 0: feature y: the example does not have"));
  EXPECT_THAT(error({"x"}), HasSubstr("it has 2 values, and shape () is wanted"));
  EXPECT_THAT(error({"x", DType::kInt64}), HasSubstr("are not of int64"));
  EXPECT_THAT(error({"x", DType::kInt32}), HasSubstr("a feature is float32, int64 or string"));
  EXPECT_THAT(error({.name = "x", .shape = {Shape::kUnknown}}), HasSubstr("has to be known"));
  EXPECT_THAT(error({.name = "x", .default_value = none}), HasSubstr("its default_value is"));
  const std::string text = Write("b.tfrecord", TfFrame("no example"));
  EXPECT_THAT(FirstError(Dataset::TfRecord({text}, kExamples)).message(),
              HasSubstr("is no tf.Example"));
}

TEST_F(RecordFilesTest, WhenATfRecordFileIsDamaged_ItIsNotOpened) {
  std::string frames = TfFrame("first") + TfFrame("second");
  frames[frames.size() - 6] ^= 1;
  const Status error = ErrorOf(Dataset::TfRecord({Write("a.tfrecord", frames)}));
  EXPECT_EQ(error.code(), StatusCode::kDataLoss);
  EXPECT_THAT(error.message(), HasSubstr("record 2"));
  EXPECT_EQ(ErrorOf(Dataset::TfRecord({})).code(), StatusCode::kInvalidArgument);
}

TEST_F(RecordFilesTest, Listed_AreThoseThatMatchInOrder) {
  for (const char* name : {"b.csv", "a.csv", "c.txt"}) Write(name, "n\n");
  EXPECT_THAT(*Glob(folder_ + "*.csv"), ElementsAre(folder_ + "a.csv", folder_ + "b.csv"));
  EXPECT_THAT(
      Read(Dataset::ListFiles(folder_ + "*.csv")),
      ElementsAre(Element{{"file", folder_ + "a.csv"}}, Element{{"file", folder_ + "b.csv"}}));
  EXPECT_EQ(Read(Dataset::ListFiles(folder_ + "*", 3)).size(), 3U);
  EXPECT_EQ(Read(Dataset::ListFiles(folder_ + "*", 3)), Read(Dataset::ListFiles(folder_ + "*", 3)));
  EXPECT_EQ(Glob("").status().code(), StatusCode::kInvalidArgument);
  const Status none = ErrorOf(Dataset::ListFiles(folder_ + "*.none"));
  EXPECT_EQ(none.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(none.message(), HasSubstr("*.none"));
}

}  // namespace
}  // namespace pstrain
