#include "cli/runs/run_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pstrain {
namespace {

CheckpointEntry Checkpoint(std::uint64_t number, std::int64_t batch_size) {
  CheckpointEntry entry;
  entry.id = {1, number};
  entry.directory = "runs/r/checkpoints/1-" + std::to_string(number);
  entry.bytes = 100 * number;
  entry.manifest.set_examples_committed(static_cast<std::int64_t>(64 * number));
  entry.manifest.mutable_job()->mutable_training()->set_batch_size(
      static_cast<std::int32_t>(batch_size));
  if (number == 2) entry.manifest.set_base("1-1");
  return entry;
}

std::vector<RunEntry> TwoRuns() {
  RunEntry first;
  first.job = "adult";
  first.run_id = "aa";
  first.directory = "runs/aa";
  first.state = "Finished";
  first.result = *ParseJson(R"({"auc":0.123456789,"examples_committed":500,"checkpoint":"1-2"})");
  first.checkpoints = {Checkpoint(1, 32), Checkpoint(2, 32)};
  RunEntry second = first;
  second.run_id = "bb";
  second.last = true;
  second.state = "Unfinished";
  second.result = Json::Null();
  second.checkpoints = {Checkpoint(1, 64)};
  return {first, second};
}

TEST(RunTables, List_HasALineForEachRun) {
  EXPECT_EQ(RunList(TwoRuns()),
            "JOB    RUN  STATE       EXAMPLES  AUC       EVAL_LOSS  CHECKPOINTS  BYTES\n"
            "adult   aa  Finished    500       0.123457  -          2            300\n"
            "adult  *bb  Unfinished  64        -         -          1            100\n");
  EXPECT_EQ(RunList({}), "JOB  RUN  STATE  EXAMPLES  AUC  EVAL_LOSS  CHECKPOINTS  BYTES\n");
}

TEST(RunTables, Details_HaveTheResultAndTheCheckpoints) {
  RunEntry run = TwoRuns().front();
  run.result.Set("log_loss", Json::Null());
  run.result.Set("not_finite", *ParseJson(R"(["log_loss"])"));
  run.result.Set("history", *ParseJson(R"([{"auc":0.5},{"auc":0.6}])"));
  run.checkpoints.push_back(Checkpoint(3, 32));
  run.checkpoints.back().problem = "shard-0 is missing";
  EXPECT_EQ(RunDetails(run),
            "job                 adult\n"
            "run                 aa\n"
            "folder              runs/aa\n"
            "state               Finished\n"
            "auc                 0.123457\n"
            "examples_committed  500\n"
            "checkpoint          1-2\n"
            "log_loss            -\n"
            "not_finite          [\"log_loss\"]\n"
            "history             2 evaluations, see --json\n"
            "\n"
            "CHECKPOINT  EXAMPLES  BYTES  KIND\n"
            "1-1         64        100    full\n"
            "1-2         128       200    builds on 1-1\n"
            "1-3         -         -      damaged: shard-0 is missing\n");
  run.state = "Damaged";
  run.problem = "result.json is damaged";
  run.result = Json::Null();
  run.checkpoints.clear();
  EXPECT_EQ(RunDetails(run),
            "job      adult\n"
            "run      aa\n"
            "folder   runs/aa\n"
            "state    Damaged\n"
            "problem  result.json is damaged\n"
            "\n"
            "no checkpoint\n");
  EXPECT_EQ(*RunJson(run).Find("problem")->AsString(), "result.json is damaged");
}

TEST(RunTables, Comparison_HasTheNumbersAndTheFieldsThatDiffer) {
  std::vector<RunEntry> runs = TwoRuns();
  Training& training = *runs[1].checkpoints.front().manifest.mutable_job()->mutable_training();
  training.add_features()->set_name("a_name_that_is_longer_than_a_column_of_it");
  EXPECT_EQ(RunComparison(runs),
            "                           aa        bb\n"
            "state                      Finished  Unfinished\n"
            "auc                        0.123457  -\n"
            "examples_committed         500       -\n"
            "spec.training.batchSize    32        64\n"
            "spec.training.features[0]  -         "
            "{\"name\":\"a_name_that_is_longer_than_a...\n");
  EXPECT_EQ(WriteJson(*ComparisonJson(runs).Find("differs")),
            R"(["spec.training.batchSize","spec.training.features[0]"])");
  // Of one that has none the others' fields are compared all the same.
  runs.insert(runs.begin(), runs.front());
  runs[0].run_id = "cc";
  runs[0].checkpoints.clear();
  EXPECT_THAT(RunComparison(runs), testing::EndsWith("\ncc has no checkpoint that says what its "
                                                     "job was\n"));
  EXPECT_EQ(ComparisonJson(runs).Find("differs")->size(), 2U);
}

TEST(RunTables, Json_HasAllOfARun) {
  EXPECT_EQ(WriteJson(RunJson(TwoRuns()[1])),
            R"({"job":"adult","run_id":"bb","directory":"runs/aa","state":"Unfinished",)"
            R"("last":true,"result":null,"checkpoints":[{"checkpoint":"1-1",)"
            R"("directory":"runs/r/checkpoints/1-1","examples_committed":64,"bytes":100,)"
            R"("base":null,"final":false,"created_unix_ms":0}]})");
}

}  // namespace
}  // namespace pstrain
