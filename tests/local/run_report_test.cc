#include "local/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/text/json.h"
#include "local/replicas/agent_reading.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"
#include "tests/local/small_spec.h"

namespace pstrain::local {
namespace {

using plan::Role;

AgentReading Reading(std::map<std::string, double, std::less<>> values) {
  AgentReading reading;
  reading.values = std::move(values);
  return reading;
}

TEST(MakeRunReport, WithSeveralAttempts_SumsTheirLastReadings) {
  RunOutcome outcome;
  outcome.job = "j";
  outcome.state = "Succeeded";
  outcome.seconds = 2;
  outcome.result = *ParseJson(R"({"auc":0.91,"examples_committed":300,"eval_loss":0.5})");
  outcome.readings[{{Role::kWorker, 0}, 0}] = Reading({{"examples", 100}, {"steps", 10}});
  outcome.readings[{{Role::kWorker, 0}, 1}] = Reading({{"examples", 200}, {"steps", 20}});
  outcome.readings[{{Role::kPs, 1}, 0}] = Reading({{"shards", 3}, {"bytes_sent", 5}});
  outcome.readings[{{Role::kPs, 1}, 1}] =
      Reading({{"shards", 4}, {"bytes_sent", 6}, {"duplicates_refused", 2}});
  outcome.readings[{{Role::kChief, 0}, 0}] = Reading({{"checkpoints", 3}});
  KillRecord kill;
  kill.kill.target = {Role::kPs, 1};
  kill.fired = true;
  kill.at_examples = 120;
  kill.first_step_after_s = 0.25;
  outcome.kills = {kill};
  const std::string line = WriteJson(MakeRunReport(outcome, SmallSpec()));
  EXPECT_EQ(line,
            R"({"job":"j","state":"Succeeded","auc":0.91,"accuracy":null,)"
            R"("examples_expected":null,"examples_committed":300,"applied_min":null,)"
            R"("applied_max":null,"records_skipped":null,"records_non_finite":null,)"
            R"("batches_reopened":0,"duplicates_refused":2,"steps":30,)"
            R"("checkpoints":3,"seconds":2.0,"examples_per_second":150.0,)"
            R"("kills":[{"role":"ps","index":1,"at_examples":120,"first_step_after_s":0.25}],)"
            R"("ps":[{"shards":0,"bytes_received":0,"bytes_sent":0},)"
            R"({"shards":4,"bytes_received":0,"bytes_sent":11}],"workers":[{"examples":300}],)"
            R"("eval_loss":0.5,"run_id":""})");
}

Json ResultWith(std::int64_t committed, std::int64_t applied_min, std::int64_t applied_max) {
  Json result = Json::Object();
  result.Set("auc", Json::Null());
  result.Set("examples_expected", Json::Int(8000));
  result.Set("examples_committed", Json::Int(committed));
  result.Set("applied_min", Json::Int(applied_min));
  result.Set("applied_max", Json::Int(applied_max));
  return result;
}

TEST(CheckRunResult, WhenTheCountsAgree_IsOk) {
  EXPECT_TRUE(CheckRunResult(ResultWith(8000, 8000, 8000)).ok());
}

TEST(CheckRunResult, WhenTheCountsDiffer_NamesThem) {
  for (const Json& result : {ResultWith(7999, 8000, 8000), ResultWith(8000, 7000, 8000),
                             ResultWith(8000, 8000, 24720)}) {
    const Status status = CheckRunResult(result);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), testing::HasSubstr("result.json: of 8000 examples"));
  }
}

TEST(CheckRunResult, WhenACountIsMissing_NamesIt) {
  Json result = ResultWith(8000, 8000, 8000);
  result.Set("applied_min", Json::Null());
  EXPECT_THAT(CheckRunResult(result).message(), testing::HasSubstr("applied_min"));
  EXPECT_FALSE(CheckRunResult(Json::Null()).ok());
}

TEST(CheckRunResult, WhenAMetricIsNotFinite_NamesIt) {
  Json result = ResultWith(8000, 8000, 8000);
  Json not_finite = Json::Array();
  not_finite.Append(Json::String("log_loss"));
  result.Set("not_finite", std::move(not_finite));
  EXPECT_THAT(CheckRunResult(result).message(), testing::HasSubstr("log_loss"));
}

}  // namespace
}  // namespace pstrain::local
