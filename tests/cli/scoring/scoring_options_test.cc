#include "cli/scoring/scoring_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "proto/contract/exit_codes.h"

namespace pstrain {
namespace {

using testing::HasSubstr;

/// The exit code of a command that must refuse its arguments, and what it says.
void ExpectUsage(int (*command)(const std::vector<std::string>&),
                 const std::vector<std::string>& arguments, const std::string& what) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(command(arguments), kExitUsage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(what));
}

TEST(TakeRun, TakesOneRunAndOneStandardInput) {
  ScoringOptions options;
  EXPECT_TRUE(TakeRun({"adult"}, options).ok());
  EXPECT_EQ(options.model.run, "adult");
  EXPECT_EQ(options.model.checkpoint, "");
  EXPECT_EQ(TakeRun({}, options).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(TakeRun({"adult", "records.csv"}, options).message(),
              HasSubstr("not also records.csv; files with records follow --input"));
  options.inputs = {"-", "a.csv", "-"};
  EXPECT_THAT(TakeRun({"adult"}, options).message(), HasSubstr("--input - is given twice"));
}

TEST(TakeRun, WhenTheCommandLineIsWrong_EachCommandSaysWhy) {
  ExpectUsage(PredictCommand, {}, "pstrain predict: no RUN is given");
  ExpectUsage(EvaluateCommand, {}, "pstrain evaluate: no RUN is given");
  ExpectUsage(PredictCommand, {"adult"}, "pstrain predict: no --input is given");
  ExpectUsage(PredictCommand, {"adult", "--inptu", "x"}, "--input");
  ExpectUsage(EvaluateCommand, {"adult", "--output", "x"}, "--output");
  ExpectUsage(ExportCommand, {}, "pstrain export: no RUN is given");
  ExpectUsage(ExportCommand, {"adult", "out"}, "not also out; the folder to write follows");
  ExpectUsage(ExportCommand, {"adult"}, "pstrain export: no --format is given: it is safetensors");
  ExpectUsage(ExportCommand, {"adult", "--format", "safetensors"}, "no --output is given");
  ExpectUsage(ExportCommand, {"adult", "--format", "h5", "--output", "x"},
              "pstrain export: --format h5: it is safetensors");
}

}  // namespace
}  // namespace pstrain
