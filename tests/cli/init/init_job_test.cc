#include "cli/init/init_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "cli/init/manifest_text.h"
#include "cli/init/table_profile.h"
#include "proto/job/job_manifest.h"

namespace pstrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

InitOptions Options(const std::string& label = "label") {
  InitOptions options;
  options.file = "data.csv";
  options.label = label;
  return options;
}

/// A table with a header and `records` records: %i is their number, %b its parity.
std::string Table(const std::string& header, const std::string& record, int records = 200) {
  std::string text = header + "\n";
  for (int i = 0; i < records; ++i) {
    std::string line = record;
    for (const auto& [mark, value] :
         {std::pair("%i", i), std::pair("%b", i % 2), std::pair("%m", i % 7)}) {
      for (std::size_t at; (at = line.find(mark)) != std::string::npos;) {
        line.replace(at, 2, std::to_string(value));
      }
    }
    text += line + "\n";
  }
  return text;
}

Result<InitJob> Make(const std::string& text, const InitOptions& options, bool cut = false) {
  return MakeInitJob({"data.csv", text, cut}, text.size(), options);
}

/// The job that the manifest says; fails the test where there is none.
Training Read(const std::string& text, const InitOptions& options = Options()) {
  const Result<InitJob> made = Make(text, options);
  EXPECT_TRUE(made.ok()) << made.status().message();
  if (!made.ok()) return {};
  const Result<PSTrainingJob> job = ReadJobManifest(made->manifest);
  EXPECT_TRUE(job.ok()) << job.status().message() << made->manifest;
  return job.ok() ? job->spec().training() : Training();
}

TEST(MakeInitJob, OfNumbers_NormalisesByTheirMeanAndDeviation) {
  const Training training = Read("label,age\n0,1\n1,3\n0,\n1,5\n");
  ASSERT_EQ(training.features_size(), 1);
  const NumericFeature& age = training.features(0).numeric();
  EXPECT_DOUBLE_EQ(age.transform().standardize().mean(), 3);
  EXPECT_NEAR(age.transform().standardize().stddev(), 1.63299, 1e-5);
  EXPECT_DOUBLE_EQ(age.default_value(), 3);
  EXPECT_TRUE(training.input().csv().header());
  EXPECT_EQ(training.input().csv().label_column(), "label");
  EXPECT_TRUE(training.input().csv().label_map().empty());
}

TEST(MakeInitJob, OfALongTail_TakesLogarithms) {
  std::string text = Table("label,gain", "%b,%i");
  text += "1,100000\n0,5\n";
  const Training training = Read(text);
  EXPECT_TRUE(training.features(0).numeric().transform().has_log());
}

TEST(MakeInitJob, OfFewTexts_ListsThemByFrequency) {
  const Training training = Read("label,city\n0,b\n1,a\n0,b\n1,c\n0,c\n1,b\n");
  EXPECT_THAT(training.features(0).vocabulary().values(), ElementsAre("b", "c", "a"));
  EXPECT_GT(training.features(0).embedding_dimension(), 0);
}

TEST(MakeInitJob, OfManyTexts_HashesThem) {
  std::string text = "label,city\n";
  for (int i = 0; i < 400; ++i) {
    text.append(i % 2 == 0 ? "0" : "1").append(",city").append(std::to_string(i % 100) + "\n");
  }
  EXPECT_EQ(Read(text).features(0).hashed().buckets(), 256);
}

TEST(MakeInitJob, OfSmallIntegers_MakesCategories) {
  EXPECT_EQ(Read(Table("label,stars", "%b,%m")).features(0).vocabulary().values_size(), 7);
}

TEST(MakeInitJob, OfIdsThatComeAgain_MakesCategories) {
  std::string text = "label,user_id\n";
  for (int i = 0; i < 400; ++i) {
    text.append(i % 2 == 0 ? "0," : "1,").append(std::to_string((i * 37) % 100)).append("\n");
  }
  EXPECT_TRUE(Read(text).features(0).has_hashed());
}

TEST(MakeInitJob, LeavesOutWhatSaysNothing) {
  const Result<InitJob> made =
      Make(Table("row,label,same,note,size", "%i,%b,x,note %i,%m.5"), Options());
  ASSERT_TRUE(made.ok()) << made.status().message();
  const Result<PSTrainingJob> job = ReadJobManifest(made->manifest);
  ASSERT_TRUE(job.ok());
  ASSERT_EQ(job->spec().training().features_size(), 1) << made->manifest;
  EXPECT_EQ(job->spec().training().features(0).name(), "size");
  EXPECT_THAT(made->manifest, HasSubstr("\"row\": counts the records"));
  EXPECT_THAT(made->manifest, HasSubstr("\"same\": has one value alone"));
  EXPECT_THAT(made->manifest, HasSubstr("\"note\": nearly every record has a text of its own"));
}

TEST(MakeInitJob, OptionsDecideOverWhatIsSeen) {
  InitOptions options = Options();
  options.ignore = {"age"};
  options.categories = {"size"};
  const Training training = Read(Table("label,age,size", "%b,%m.5,%i"), options);
  ASSERT_EQ(training.features_size(), 1);
  EXPECT_EQ(training.features(0).name(), "size");
  EXPECT_TRUE(training.features(0).has_hashed());
}

TEST(MakeInitJob, FindsDelimiterMissingAndByteOrderMark) {
  const Training training =
      Read("\xef\xbb\xbf" + Table("label;age;b", "%b;%m,5;x%m") + "1;?;?\n0;?;x1\n");
  const CsvInput& csv = training.input().csv();
  EXPECT_EQ(csv.delimiter(), ";");
  EXPECT_EQ(csv.missing(), "?");
  EXPECT_EQ(csv.label_column(), "label");
}

TEST(MakeInitJob, WithoutAHeader_NamesTheColumns) {
  InitOptions options = Options();
  options.columns = {"label", "age"};
  const CsvInput csv = Read("0,1.5\n1,2.5\n0,3\n1,2\n", options).input().csv();
  EXPECT_FALSE(csv.header());
  EXPECT_THAT(csv.columns(), ElementsAre("label", "age"));
}

TEST(MakeInitJob, NamesThatAreNoNamesOfFeatures_AreChangedAndStayUnique) {
  const Training training =
      Read("label,a b,a-b,2nd,\"x: [y] \"\"#\",true,\xc3\xa4\n0,1,2,3,4,5,6\n1,2,3,4,5,6,7\n");
  ASSERT_EQ(training.features_size(), 6);
  EXPECT_EQ(training.features(0).name(), "a_b");
  EXPECT_EQ(training.features(1).name(), "a_b_2");
  EXPECT_EQ(training.features(2).name(), "column_2nd");
  EXPECT_EQ(training.features(3).column(), "x: [y] \"#");
  EXPECT_EQ(training.features(5).column(), "\xc3\xa4");
}

TEST(MakeInitJob, OfLabels_MapsTwoTexts) {
  const auto map = [](const std::string& one, const std::string& other) {
    const Training training = Read("label,age\n" + one + ",1\n" + other + ",2\n" + other + ",3\n" +
                                   one + ",1.5\n" + one + ",1\n");
    const auto& labels = training.input().csv().label_map();
    return std::pair(labels.at(one), labels.at(other));
  };
  EXPECT_EQ(map("no", "yes"), std::pair(0.0, 1.0));
  EXPECT_EQ(map("yes", "no"), std::pair(1.0, 0.0));
  EXPECT_EQ(map("-1", "1"), std::pair(0.0, 1.0));
  EXPECT_EQ(map("2", "1"), std::pair(1.0, 0.0));
  EXPECT_EQ(map("cat", "dog"), std::pair(0.0, 1.0));  // the rarer one
}

TEST(MakeInitJob, OfLabelsDividedByPositive_MapsThemAll) {
  InitOptions options = Options();
  options.positive = {"7", "8"};
  const Training training = Read("label,age\n5,1\n6,2\n7,3\n8,4\n5,1.5\n", options);
  EXPECT_EQ(training.input().csv().label_map().size(), 4U);
  EXPECT_EQ(training.input().csv().label_map().at("7"), 1);
  EXPECT_EQ(training.input().csv().label_map().at("5"), 0);
}

TEST(MakeInitJob, OfFewBadRecords_SkipsThem) {
  const Training training = Read(Table("label,age", "%b,%m.5") + "1\n");
  EXPECT_EQ(training.input().csv().bad_records(), Input::Skip);
  EXPECT_EQ(Read(Table("label,age", "%b,%m.5")).input().csv().bad_records(), Input::Fail);
}

TEST(MakeInitJob, OfABeginning_SaysSoAndLeavesOutTheRecordThatIsCut) {
  const std::string text = Table("label,age", "%b,%m.5");
  const Result<InitJob> made =
      MakeInitJob({"data.csv", text + "1,3", true}, 1000 * text.size(), Options());
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_THAT(made->manifest, HasSubstr("the first 200 records (16 MiB; what comes behind"));
  EXPECT_THAT(made->manifest, HasSubstr("batchSize: 512"));
}

TEST(MakeInitJob, WithAHeldOutFile_EvaluatesOnIt) {
  InitOptions options = Options();
  options.eval_file = "held out.csv";
  const Result<InitJob> made = Make("label,age\nyes,1\nno,3\n", options);
  ASSERT_TRUE(made.ok()) << made.status().message();
  const Result<PSTrainingJob> job = ReadJobManifest(made->manifest);
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_EQ(job->spec().replica_specs().evaluator().replicas(), 1);
  const CsvInput& csv = job->spec().training().evaluation().input().csv();
  EXPECT_THAT(csv.files(), ElementsAre("held out.csv"));
  EXPECT_EQ(csv.label_map().size(), 2U);
}

/// Whatever the bytes: a refusal in one line, or a manifest that the product takes.
TEST(MakeInitJob, OfAnyText_RefusesOrWritesAGoodManifest) {
  constexpr std::string_view kLetters = "01ab#:'{}[]-.\xc3\xa4\\?%&*!>@` ,;\n\"\t|";
  constexpr std::size_t kHarmless = 26;
  std::mt19937 random(7);
  std::size_t made = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t letters = i % 2 == 0 ? kHarmless : kLetters.size();
    std::string text = "label,a\n";
    for (int record = 0; record < 4; ++record) {
      text += record % 2 == 0 ? "0," : "1,";
      const std::size_t length = 1 + random() % 8;
      for (std::size_t j = 0; j < length; ++j) text += kLetters[random() % letters];
      text += "\n";
    }
    // Now and then another header.
    if (i % 5 == 0) text.insert(random() % 8, 1, kLetters[random() % letters]);
    const Result<InitJob> job = Make(text, Options());
    if (!job.ok()) {
      EXPECT_THAT(job.status().message(), Not(HasSubstr("no manifest can say this"))) << text;
      EXPECT_THAT(job.status().message(), Not(HasSubstr("\n"))) << text;
      continue;
    }
    ++made;
    EXPECT_TRUE(ReadJobManifest(job->manifest).ok()) << text;
  }
  EXPECT_GT(made, 100U);
}

}  // namespace
}  // namespace pstrain
