// docs/guide/first-model.md is what a reader types: every command of it is run in its order.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

constexpr const char* kGuide = PSTRAIN_SOURCE_DIR "/docs/guide/first-model.md";

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class FirstModelTest : public SmallJob {
 protected:
  void SetUp() override {
    std::error_code error;
    std::filesystem::create_directory_symlink(PSTRAIN_SOURCE_DIR "/tests", dir_.File("tests"),
                                              error);
    ASSERT_FALSE(error) << error.message();
    const Result<std::string> guide = ReadFile(kGuide);
    ASSERT_TRUE(guide.ok()) << guide.status().message();
    ReadGuide(*guide);
  }

  /// Commands are lines that begin with `    $ `; the one block of YAML is by-hand.yaml.
  void ReadGuide(const std::string& guide) {
    bool yaml = false;
    std::string manifest;
    for (const std::string& line : LinesOf(guide)) {
      if (line.starts_with("```")) {
        yaml = line == "```yaml";
      } else if (yaml) {
        manifest += line + "\n";
      } else if (line.starts_with("    $ ")) {
        commands_.push_back(line.substr(6));
      }
    }
    Write("by-hand.yaml", manifest);
  }

  ProgramEnd Type(const std::string& command) {
    Program program({"/bin/sh", "-c", "PATH=" PSTRAIN_BIN_DIR ":$PATH; " + command}, dir_.path());
    return Finish(program);
  }

  std::vector<std::string> commands_;
};

TEST_F(FirstModelTest, EveryCommandOfTheGuideWorks) {
  ASSERT_GE(commands_.size(), 10U);
  for (const std::string& command : commands_) {
    const ProgramEnd end = Type(command);
    ASSERT_EQ(end.code, 0) << command << "\n" << end.out << end.err;
    if (command.starts_with("pstrain run") && command.ends_with("--json")) {
      EXPECT_GT(end.Number("auc"), 0.98) << end.out;
    }
  }
  // What five commands have made of a file: scores that part the classes of records that were not
  // trained on.
  const std::vector<std::string> scores = LinesOf(*ReadFile(dir_.File("scores.txt")));
  const std::vector<std::string> records = LinesOf(*ReadFile(dir_.File("test.csv")));
  ASSERT_EQ(scores.size() + 1, records.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool malignant = records[i + 1].ends_with("malignant");
    if ((std::stod(scores[i]) > 0.5) == malignant) ++right;
  }
  EXPECT_GT(right, scores.size() * 93 / 100);
}

TEST_F(FirstModelTest, OfThePackedFile_TheSameJobComes) {
  ASSERT_EQ(Type(commands_[0]).code, 0);
  const ProgramEnd plain = Type("pstrain init train.csv --label diagnosis --output -");
  const ProgramEnd packed =
      Type("pstrain init tests/golden/breast_cancer/train.csv.gz --label diagnosis --output -");
  ASSERT_EQ(packed.code, 0) << packed.err;
  const auto from = [](const std::string& text) { return text.substr(text.find("    model:")); };
  std::string expected = from(plain.out);
  const std::string name = "files: [train.csv]";
  ASSERT_THAT(expected, HasSubstr(name));
  expected.replace(expected.find(name), name.size(),
                   "files: [tests/golden/breast_cancer/train.csv.gz]");
  EXPECT_EQ(from(packed.out), expected);
}

}  // namespace
}  // namespace pstrain
