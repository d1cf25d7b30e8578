#include "metrics/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace pstrain {
namespace {

// As prometheus.io, "Metric and label naming", has it.
TEST(MetricTable, EveryRow_IsNamedAsPrometheusAsks) {
  const std::vector<MetricRow> table = MetricTable();
  EXPECT_GT(table.size(), 120U);
  std::set<std::pair<std::string, std::string>> names;
  for (const MetricRow& row : table) {
    SCOPED_TRACE(row.source + " " + row.name);
    EXPECT_TRUE(names.emplace(row.source, row.name).second) << "twice";
    EXPECT_EQ(row.name.ends_with("_total"), row.type == MetricType::kCounter);
    for (const char* part : {"_bucket", "_sum", "_count"}) EXPECT_FALSE(row.name.ends_with(part));
    EXPECT_TRUE(row.help.ends_with(".")) << "a sentence";
    EXPECT_EQ(row.help.find('|'), std::string::npos) << "would end a column";
    const std::set<std::string> labels(row.labels.begin(), row.labels.end());
    EXPECT_EQ(labels.size(), row.labels.size());
    for (const char* taken : {"job", "instance", "pod", "le"}) EXPECT_FALSE(labels.contains(taken));
  }
}

// A page joins families of one name: agents and roles of several replicas meet in one Prometheus.
TEST(MetricTable, RowsOfOneName_SayTheSame) {
  std::map<std::string, MetricRow> known;
  for (const MetricRow& row : MetricTable()) {
    const MetricRow& first = known.try_emplace(row.name, row).first->second;
    EXPECT_EQ(first.type, row.type) << row.name;
    EXPECT_EQ(first.help, row.help) << row.name;
  }
}

TEST(MetricTable, WhatAReplicaServes_SaysWhichItIs) {
  for (const MetricRow& row : MetricTable()) {
    if (row.source == "operator") continue;
    for (const char* label : {"job_name", "replica_type", "replica_index"}) {
      EXPECT_EQ(std::ranges::count(row.labels, label), 1) << row.name << " " << label;
    }
  }
}

TEST(MetricTable, UnitOf_IsTheNamesLastWord) {
  const auto unit = [](std::string name) {
    MetricRow row;
    row.name = std::move(name);
    return std::string(UnitOf(row));
  };
  EXPECT_EQ(unit("a_wait_seconds_total"), "seconds");
  EXPECT_EQ(unit("a_created_timestamp_seconds"), "timestamp");
  EXPECT_EQ(unit("a_sent_bytes_total"), "bytes");
  EXPECT_EQ(unit("a_gradient_staleness_steps"), "steps");
  EXPECT_EQ(unit("a_requests_total"), "");
}

}  // namespace
}  // namespace pstrain
