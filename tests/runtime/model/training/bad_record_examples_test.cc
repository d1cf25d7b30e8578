#include "runtime/model/training/bad_record_examples.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/os/files.h"
#include "proto/contract/run_files.h"

namespace pstrain {
namespace {

TEST(BadRecordExamples, KeepsTheFirstThreeThatDiffer) {
  const TempDir dir;
  const std::unique_ptr<StatsWriter> stats = StatsWriter::InMemory();
  const JobSettings job{.spec = {}, .checkpoint_directory = dir.path()};
  const RoleContext context{
      .job = job, .run_id = "run", .index = 2, .stats = *stats, .fail_points = FailPoints::None()};
  BadRecordExamples examples(context);
  for (const char* what : {"a.csv:1: x", "a.csv:1: x", "a.csv:2: x", "a.csv:3: x", "a.csv:4: x"}) {
    examples.Add(what);
  }
  const std::string file = (context.run_directory() / kRunBadRecordsFolder / "worker-2").string();
  const Result<std::string> kept = ReadFile(file);
  ASSERT_TRUE(kept.ok()) << kept.status().ToString();
  EXPECT_EQ(*kept, "[\"a.csv:1: x\",\"a.csv:2: x\",\"a.csv:3: x\"]\n");
}

}  // namespace
}  // namespace pstrain
