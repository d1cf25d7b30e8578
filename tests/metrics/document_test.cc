#include "metrics/document.h"

#include <gtest/gtest.h>

#include <string>

#include "base/os/files.h"

namespace pstrain {
namespace {

TEST(MetricsDocument_InTheTree, IsWhatTheGeneratorWrites) {
  const auto text = ReadFile(std::string(PSTRAIN_SOURCE_DIR) + "/docs/metrics.md");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(*text, WriteMetricsDocument(MetricTable()))
      << "the file is stale: run scripts/generate.sh";
}

TEST(MetricsDocument, ListsAFamilyUnderWhoServesIt) {
  const std::string text = WriteMetricsDocument({{.source = "ps",
                                                  .name = "pstrain_ps_wait_seconds_total",
                                                  .type = MetricType::kCounter,
                                                  .labels = {"method", "job_name"},
                                                  .help = "Time."}});
  const std::size_t section = text.find("## Ps\n");
  const std::size_t row = text.find(
      "| `pstrain_ps_wait_seconds_total` | counter | seconds | `method`, `job_name` | Time. |");
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_LT(section, row);
  EXPECT_LT(row, text.find("## Worker\n"));
}

}  // namespace
}  // namespace pstrain
