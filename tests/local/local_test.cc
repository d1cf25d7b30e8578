// The pure parts of cli/local.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "local/chaos.h"
#include "local/replicas/agent_reading.h"
#include "local/replicas/pod_template.h"
#include "local/replicas/ports.h"
#include "local/run_report.h"

namespace pstrain::local {
namespace {

using plan::Role;

JobSpec Spec() {
  JobSpec spec;
  spec.mutable_replica_specs()->mutable_chief()->set_replicas(1);
  spec.mutable_replica_specs()->mutable_ps()->set_replicas(2);
  spec.mutable_replica_specs()->mutable_worker()->set_replicas(1);
  return spec;
}

AgentReading Reading(std::map<std::string, double, std::less<>> values) {
  AgentReading reading;
  reading.values = std::move(values);
  return reading;
}

TEST(ParseChaos, WithEveryForm_ReadsThem) {
  const auto kills = ParseChaos("worker@20,ps:1@40.5:term,chief@60:agent", Spec());
  ASSERT_TRUE(kills.ok()) << kills.status().ToString();
  ASSERT_EQ(kills->size(), 3U);
  EXPECT_EQ((*kills)[0].target, (plan::ReplicaId{Role::kWorker, 0}));
  EXPECT_EQ((*kills)[0].kind, KillKind::kKill);
  EXPECT_EQ((*kills)[1].target, (plan::ReplicaId{Role::kPs, 1}));
  EXPECT_EQ((*kills)[1].percent, 40.5);
  EXPECT_EQ((*kills)[1].kind, KillKind::kTerm);
  EXPECT_EQ((*kills)[2].kind, KillKind::kAgent);
}

TEST(ParseChaos, WithBadTexts_Refuses) {
  for (const char* text : {"worker", "boss@20", "worker@", "worker@100", "worker@-1", "ps:2@1",
                           "ps:x@1", "ps@1:shoot", "evaluator@5", "worker@5,,ps@6"}) {
    EXPECT_FALSE(ParseChaos(text, Spec()).ok()) << text;
  }
}

TEST(MapPath, WithNestedMounts_TakesTheLongest) {
  const PathMap mounts = {{"/data", "/a"}, {"/data/big", "/b"}};
  EXPECT_EQ(MapPath(mounts, "/data/x.csv"), "/a/x.csv");
  EXPECT_EQ(MapPath(mounts, "/data/big/x.csv"), "/b/x.csv");
  EXPECT_EQ(MapPath(mounts, "/data"), "/a");
  EXPECT_EQ(MapPath(mounts, "/database/x.csv"), "/database/x.csv");
}

TEST(ReadPodTemplate, WithAContainer_TakesWhatMeansSomethingHere) {
  ReplicaSpec spec;
  spec.set_template_(R"({"spec":{"containers":[{"image":"i","command":["a"],"args":["b"],
    "env":[{"name":"X","value":"1"},{"name":"Y","valueFrom":{}}],
    "volumeMounts":[{"name":"data","mountPath":"/data/"}]}]}})");
  const auto pod = ReadPodTemplate(spec);
  ASSERT_TRUE(pod.ok());
  EXPECT_THAT(pod->command, testing::ElementsAre("a", "b"));
  EXPECT_THAT(pod->environment, testing::ElementsAre(testing::Pair("X", "1")));
  EXPECT_THAT(pod->mounts, testing::ElementsAre(testing::Pair("/data", "data")));
  EXPECT_THAT(pod->ignored, testing::ElementsAre("env Y (valueFrom)", "image"));
}

TEST(ReadPodTemplate, WithAGracePeriod_TakesIt) {
  ReplicaSpec spec;
  EXPECT_EQ(ReadPodTemplate(spec)->grace, std::nullopt);
  spec.set_template_(R"({"spec":{"terminationGracePeriodSeconds":120,"containers":[{}]}})");
  EXPECT_EQ(ReadPodTemplate(spec)->grace, std::chrono::seconds(120));
}

TEST(ClaimedPorts, WhenAnotherRunHoldsThem_AreOthersUntilItEnds) {
  const auto seed = static_cast<std::uint64_t>(getpid());
  std::set<std::uint16_t> first;
  {
    const auto one = ClaimedPorts::Claim(20, seed);
    const auto other = ClaimedPorts::Claim(20, seed);
    ASSERT_TRUE(one.ok() && other.ok());
    first = {one->ports().begin(), one->ports().end()};
    std::set<std::uint16_t> all(other->ports().begin(), other->ports().end());
    all.insert(first.begin(), first.end());
    EXPECT_EQ(all.size(), 40U);
  }
  const auto again = ClaimedPorts::Claim(20, seed);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(std::ranges::any_of(again->ports(), [&](auto port) { return first.contains(port); }));
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
  const std::string line = WriteJson(MakeRunReport(outcome, Spec()));
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

TEST(ParseAgentReading, WithProgress_ReadsValues) {
  const auto reading = ParseAgentReading(
      R"({"role":"ps","index":0,"attempt":1,"child_pid":7,"state":"running","values":{"x":1.5}})");
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ(reading->child_pid, 7);
  EXPECT_EQ(reading->state, "running");
  EXPECT_EQ(reading->Value("x"), 1.5);
  EXPECT_EQ(reading->Value("y"), 0);
  EXPECT_FALSE(ParseAgentReading("[]").ok());
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
