// An input that is named by a pattern, from the check before the start to a resume, as real
// processes.
#include <gmock/gmock.h>

#include "tests/process/small_job.h"

namespace pstrain {
namespace {

using testing::HasSubstr;
using testing::Not;

class PatternInput : public SmallJob {
 protected:
  void SetUp() override {
    SmallJob::SetUp();
    const std::string data = *ReadFile(dir_.File("data.csv"));
    const std::size_t half = data.find('\n', data.size() / 2) + 1;
    Write("part-0.csv", data.substr(0, half));
    Write("part-1.csv", data.substr(half));
    std::string job = *ReadFile(dir_.File("job.yaml"));
    job.replace(job.find("data.csv"), 8, "\"part-*.csv\"");
    Write("job.yaml", job);
  }
};

constexpr const char* kMatches =
    "spec.training.input.csv: \"part-*.csv\" matches 2 files, part-0.csv to part-1.csv\n";

TEST_F(PatternInput, Run_TrainsOnAllFilesThatMatch_EachRecordOnceInEachEpoch) {
  const ProgramEnd validated = Start("pstrain", {"validate", "--data", "job.yaml"});
  EXPECT_EQ(validated.code, 0) << validated.err;
  EXPECT_EQ(validated.out,
            std::string("job.yaml: ") + kMatches + "job.yaml: ok (2 features, 1 ps, 1 worker)\n");
  const ProgramEnd end = Run({"--chaos", "chief@50", "--set", "spec.runPolicy.backoffLimit=3"});
  ExpectAllAppliedOnce(end);
  EXPECT_THAT(end.err, HasSubstr(kMatches));
  const ProgramEnd evaluated =
      Start("pstrain", {"evaluate", "small", "--input", "part-[01].csv", "--json"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.Number("records"), kRecords);
}

TEST_F(PatternInput, Resume_WhenTheFilesAreOthers_IsRefusedByName) {
  ExpectAllAppliedOnce(Run());
  const std::vector<std::string> resume = {"--resume", "--set", "spec.training.epochs=3"};
  Write("part-2.csv", "1,5,a\n");
  const ProgramEnd more = Run(resume);
  EXPECT_EQ(more.code, 1) << more.out;
  EXPECT_THAT(more.err, HasSubstr("the number of files was 2, is 3: part-2.csv is new"));
  ASSERT_TRUE(RemoveFile(dir_.File("part-2.csv")).ok());
  const std::string part = *ReadFile(dir_.File("part-1.csv"));
  ASSERT_TRUE(RemoveFile(dir_.File("part-1.csv")).ok());
  const ProgramEnd less = Run(resume);
  EXPECT_EQ(less.code, 1) << less.out;
  EXPECT_THAT(less.err, HasSubstr("the number of files was 2, is 1: part-1.csv is gone"));
  Write("part-1.csv", part);
  const ProgramEnd same = Run(resume);
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.Number("applied_min"), kRecords * 3);
  EXPECT_EQ(same.Number("applied_max"), kRecords * 3);
  EXPECT_THAT(same.err, Not(HasSubstr("is new")));
}

}  // namespace
}  // namespace pstrain
