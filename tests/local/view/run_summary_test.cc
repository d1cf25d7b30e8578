#include "local/view/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/os/files.h"
#include "local/view/number_text.h"

namespace pstrain::local {
namespace {

using testing::HasSubstr;
using testing::Not;

Json Report() {
  return *ParseJson(
      R"({"job":"tumours","state":"Succeeded","examples_expected":300000,)"
      R"("examples_committed":300000,"applied_min":300000,"applied_max":300000,)"
      R"("records_skipped":3,"batches_reopened":0,"duplicates_refused":64,"steps":9400,)"
      R"("checkpoints":9,"seconds":131.2,"examples_per_second":2286.6,)"
      R"("kills":[{"role":"ps","index":1,"at_examples":120000,"first_step_after_s":0.251}],)"
      R"("ps":[{"shards":32,"bytes_received":3481200,"bytes_sent":2880000},)"
      R"({"shards":32,"bytes_received":3381200,"bytes_sent":2780000}],)"
      R"("workers":[{"examples":150128},{"examples":149872}],"run_id":"02548be90c944c78"})");
}

SummaryFacts Facts() {
  return {{{"auc", 0.98812, 0.99123, 12.5},
           {"log_loss", 0.0312, 0.0298, 28},
           {"loss", 0.00011, std::nullopt, 0}},
          {"ps-1 ended with exit code 137; attempt 1 starts"},
          "checkpoints/02548be90c944c78/checkpoints/1-9",
          {"pstrain evaluate tumours", "pstrain predict tumours --input FILE"}};
}

/// tests/golden/terminal/summary-COLUMNS.txt.
TEST(RunSummary, IsAsItWasLookedAt) {
  for (const std::size_t columns : {40U, 80U, 120U}) {
    const std::string text = RunSummary(Report(), Facts(), columns);
    const Result<std::string> golden = ReadFile(
        PSTRAIN_SOURCE_DIR "/tests/golden/terminal/summary-" + std::to_string(columns) + ".txt");
    ASSERT_TRUE(golden.ok()) << golden.status().message() << "\n" << text;
    EXPECT_EQ(text, *golden) << text;
    std::istringstream lines(text.substr(0, text.find("\ncheckpoint\n")));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("tumours: ")) continue;
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(RunSummary, OfAFailedRun_HasItsReasonAndNoEmptyTables) {
  const Json report =
      *ParseJson(R"({"job":"j","state":"Failed","seconds":1.5,"kills":[],"ps":[],"workers":[],)"
                 R"("run_id":"x","reason":"InvalidInput: no such file"})");
  const std::string text = RunSummary(report, {}, 80);
  EXPECT_EQ(text, "j: Failed after 2s (run x)\n  InvalidInput: no such file\n");
}

}  // namespace
}  // namespace pstrain::local
