#include "operator/job/operator_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "operator/job/metric_definitions.h"
#include "operator/job/well_known.h"
#include "operator/plan/timestamp.h"
#include "tests/operator/job/metric_values.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;

class OperatorMetricsTest : public ::testing::Test {
 protected:
  /// Of the series of the job whose name and further labels are given; -1 when it is not there.
  double Of(const std::string& name, const std::string& labels = "") {
    return Value(name + "{namespace=ml,job_name=byo" + (labels.empty() ? "" : "," + labels) + "}");
  }
  double Value(const std::string& series) {
    const auto values = testing::ValuesOf(fixture_.Metrics());
    const auto found = values.find(series);
    return found == values.end() ? -1 : found->second;
  }
  int SeriesOfJob() {
    const auto values = testing::ValuesOf(fixture_.Metrics());
    return static_cast<int>(std::ranges::count_if(values, [](const auto& entry) {
      return entry.first.find("job_name=byo") != std::string::npos;
    }));
  }
  double Restarts(const std::string& role, const std::string& cause) {
    return Of("pstrain_job_restarts_total", "replica_type=" + role + ",cause=" + cause);
  }
  void Suspend(bool suspend) {
    fixture_.EditJob([suspend](Json& job) {
      At(job, {"spec", "runPolicy"}).Set("suspend", Json::Bool(suspend));
    });
    fixture_.Settle();
  }

  ReconcilerFixture fixture_;
};

TEST_F(OperatorMetricsTest, WithoutAJob_HasEveryFamilyAndZeros) {
  std::vector<std::string> names;
  for (const MetricFamily& family : fixture_.Metrics()) names.push_back(family.name);
  for (const MetricDefinition& one : metrics::kOfOneJob) {
    EXPECT_EQ(std::ranges::count(names, one.name), 1) << one.name;
  }
  for (const MetricDefinition& one : metrics::kOfAllJobs) {
    // The process knows its build, not this class.
    EXPECT_EQ(std::ranges::count(names, one.name), one.name == metrics::kBuildInfo.name ? 0 : 1);
  }
  EXPECT_EQ(Value("pstrain_job_replacement_ready_seconds{replica_type=ps}"), 0);
  EXPECT_EQ(Value("pstrain_job_start_seconds{stage=first_step}"), 0);
}

TEST_F(OperatorMetricsTest, AJob_SaysWhatItIsAndWhen) {
  fixture_.PutJob([](Json& job) {
    At(job, {"metadata", "annotations"}).Set(kAlertsAnnotation, Json::String("off"));
    At(job, {"metadata", "labels"}).Set(kQueueLabel, Json::String("teams"));
    At(job, {"spec", "runPolicy"}).Set("backoffLimit", Json::Int(4));
  });
  fixture_.Settle();
  EXPECT_EQ(Of("pstrain_job_info", "program=own,queue=teams,alerts=off"), 1);
  const auto created = plan::ParseTimestamp("2026-01-02T03:04:05Z")->time_since_epoch();
  EXPECT_EQ(Of("pstrain_job_created_timestamp_seconds"),
            std::chrono::duration<double>(created).count());
  EXPECT_GE(Of("pstrain_job_started_timestamp_seconds"), 3600);
  EXPECT_EQ(Of("pstrain_job_finished_timestamp_seconds"), -1);
  EXPECT_EQ(Of("pstrain_job_backoff_limit"), 4);
  EXPECT_EQ(Of("pstrain_job_backoff_remaining"), 4);
  EXPECT_EQ(Of("pstrain_job_status_condition", "condition=Accepted"), 1);
  EXPECT_EQ(Of("pstrain_job_status_condition", "condition=Blocked"), 0);
  EXPECT_EQ(Value("pstrain_jobs_finished_total{namespace=ml,result=failed,reason=Failed}"), 0);
  fixture_.RunAllPods();
  fixture_.Settle();
  fixture_.EndPod("byo-chief-0", 0);
  fixture_.Settle();
  EXPECT_GT(Of("pstrain_job_finished_timestamp_seconds"), 0);
  EXPECT_EQ(Value("pstrain_jobs_finished_total{namespace=ml,result=succeeded,reason=Succeeded}"),
            1);
}

TEST_F(OperatorMetricsTest, Restarts_AreCountedByWhatEndedTheAttempt) {
  fixture_.StartJob();
  EXPECT_EQ(Restarts("worker", "crashed"), 0) << "there before the first";
  fixture_.EndPod("byo-worker-0", 3);
  fixture_.RemovePod("byo-ps-0");
  fixture_.SetPodStatus("byo-worker-1", R"({"phase": "Failed", "conditions": [
      {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]})");
  fixture_.Settle();
  EXPECT_EQ(Restarts("worker", "crashed"), 1);
  EXPECT_EQ(Restarts("worker", "preempted"), 1);
  EXPECT_EQ(Restarts("ps", "deleted"), 1);
  EXPECT_EQ(Restarts("chief", "deleted"), 0);
  EXPECT_EQ(Restarts("evaluator", "crashed"), -1) << "the job has none";
  EXPECT_EQ(Of("pstrain_job_backoff_remaining"), Of("pstrain_job_backoff_limit") - 1);
}

TEST_F(OperatorMetricsTest, AReplacement_IsMeasuredUntilItIsReady) {
  fixture_.StartJob();
  fixture_.RemovePod("byo-ps-0");
  fixture_.Settle();
  EXPECT_EQ(Value("pstrain_job_replacement_create_seconds{replica_type=ps}"), 1);
  EXPECT_EQ(Value("pstrain_job_replacement_ready_seconds{replica_type=ps}"), 0);
  fixture_.RunPod("byo-ps-0-1");
  fixture_.Settle();
  EXPECT_EQ(Value("pstrain_job_replacement_ready_seconds{replica_type=ps}"), 1);
}

// A suspension is no loss: it would be the slowest replacement of all.
TEST_F(OperatorMetricsTest, AResumedJob_HasReplacedNothing) {
  fixture_.StartJob();
  Suspend(true);
  fixture_.RunFor(seconds(100));
  EXPECT_EQ(fixture_.StatusOfJob().phase(), JobStatus::Suspended);
  Suspend(false);
  fixture_.RunAllPods();
  fixture_.Settle();
  for (const char* role : {"chief", "ps", "worker"}) {
    for (const char* what : {"create", "ready"}) {
      EXPECT_EQ(Value(std::string("pstrain_job_replacement_") + what +
                      "_seconds{replica_type=" + role + "}"),
                0)
          << what << " " << role;
    }
  }
  EXPECT_EQ(Value("pstrain_job_start_seconds{stage=replicas_running}"), 2) << "each start";
}

TEST_F(OperatorMetricsTest, AJobThatIsGone_LeavesNoSeries) {
  fixture_.StartJob();
  fixture_.EndPod("byo-worker-0", 3);
  fixture_.Settle();
  EXPECT_GT(SeriesOfJob(), 40);
  EXPECT_LE(SeriesOfJob(), 90);
  fixture_.RemoveJob();
  fixture_.Settle();
  EXPECT_EQ(SeriesOfJob(), 0);
  fixture_.PutJob();
  fixture_.Settle();
  EXPECT_EQ(Restarts("worker", "crashed"), 0) << "another job";
}

}  // namespace
}  // namespace pstrain::job
