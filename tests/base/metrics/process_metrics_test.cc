#include "base/metrics/process_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/os/files.h"

namespace pstrain {
namespace {

std::map<std::string, double> Values(const std::vector<MetricFamily>& families) {
  std::map<std::string, double> values;
  for (const MetricFamily& family : families) values[family.name] = family.samples.at(0).value;
  return values;
}

TEST(ProcessMetrics, OfThisProcess_ArePlausible) {
  auto values = Values(CollectProcessMetrics());
  EXPECT_GT(values["process_resident_memory_bytes"], 1e6);
  EXPECT_GE(values["process_virtual_memory_bytes"], values["process_resident_memory_bytes"]);
  EXPECT_GE(values["process_open_fds"], 3);
  EXPECT_GE(values["process_max_fds"], values["process_open_fds"]);
  EXPECT_GE(values["process_threads"], 1);
  EXPECT_GT(values["process_start_time_seconds"], 1.7e9);
  EXPECT_EQ(values.count("process_cpu_seconds_total"), 1U);
}

TEST(ProcessMetrics, NameWithSpacesAndParentheses_IsSkipped) {
  const TempDir dir;
  std::string stat = "7 (a) b) S";
  for (int field = 4; field <= 52; ++field) stat += " " + std::to_string(field);
  ASSERT_TRUE(WriteFileSynced(dir.File("stat"), stat).ok());
  auto values = Values(CollectProcessMetrics(dir.path()));
  EXPECT_EQ(values["process_threads"], 20);
  EXPECT_EQ(values["process_virtual_memory_bytes"], 23);
}

TEST(ProcessMetrics, OfNoProcess_AreNone) {
  const TempDir dir;
  EXPECT_TRUE(CollectProcessMetrics(dir.File("none")).empty());
  ASSERT_TRUE(WriteFileSynced(dir.File("stat"), "7 (short").ok());
  EXPECT_TRUE(CollectProcessMetrics(dir.path()).empty());
}

}  // namespace
}  // namespace pstrain
