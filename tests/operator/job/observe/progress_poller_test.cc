#include "operator/job/observe/progress_poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/manual_clock.h"
#include "base/mutex.h"

namespace pstrain::job {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ProgressPollerTest : public ::testing::Test {
 protected:
  /// A job "j<n>" with uid "u<n>"; with spec.training unless told otherwise.
  void PutJob(int n, bool trains = true) {
    const std::string number = std::to_string(n);
    std::string spec = R"("replicaSpecs": {"ps": {}, "worker": {}})";
    if (trains) {
      spec += R"(, "training": {"model": {"wideAndDeep": {}},
          "features": [{"name": "age", "numeric": {}}],
          "input": {"csv": {"files": ["/d"], "header": true, "labelColumn": "y"}},
          "optimizer": {"sgd": {}}, "batchSize": 8, "checkpoint": {"directory": "/c"}})";
    }
    jobs_.OnApplied(*ParseJson(
        R"({"apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob", "metadata": {"name": "j)" +
        number + R"(", "namespace": "ml", "uid": "u)" + number +
        R"(", "resourceVersion": "1"}, "spec": {)" + spec + "}}"));
  }
  void PutPod(int n, const std::string& role, const std::string& status) {
    const std::string number = std::to_string(n);
    pods_.OnApplied(*ParseJson(R"({"metadata": {"name": "j)" + number + "-" + role +
                               R"(-0", "namespace": "ml",
            "uid": "p)" + number +
                               role + R"(", "resourceVersion": "1", "labels": {
            "pstrain.dev/job-name": "j)" +
                               number + R"(", "pstrain.dev/replica-type": ")" + role +
                               R"(", "pstrain.dev/replica-index": "0", "pstrain.dev/attempt": "0"},
            "ownerReferences": [{"kind": "PSTrainingJob", "apiVersion": "pstrain.dev/v1alpha1",
            "name": "j)" + number +
                               R"(", "uid": "u)" + number + R"(", "controller": true}]},
            "status": )" + status +
                               "}"));
  }
  static std::string Running(const std::string& ip) {
    return R"({"phase": "Running", "podIP": ")" + ip + "\"}";
  }

  /// What the agent of a chief of job "j<n>" says.
  struct Agent {
    int job = 1;
    std::string role = "chief";
    int index = 0;
    int attempt = 0;
  };
  static std::string Answer(const Agent& agent, const std::string& values) {
    const std::string job = std::to_string(agent.job);
    return R"({"job": "j)" + job + R"(", "run_id": "u)" + job + R"(", "role": ")" + agent.role +
           R"(", "index": )" + std::to_string(agent.index) + R"(, "attempt": )" +
           std::to_string(agent.attempt) + R"(, "values": {)" + values + "}}";
  }

  std::vector<std::string> Poll() {
    asked_.clear();
    poller_.PollOnce({});
    return asked_;
  }
  /// The keys that were queued since the last call.
  std::vector<std::string> TakeQueued() {
    std::vector<std::string> keys;
    while (Depth() > 0) {
      const auto key = queue_.Get({});
      queue_.Done(*key);
      keys.push_back(key->ToString());
    }
    return keys;
  }
  double Depth() {
    for (const MetricFamily& family : queue_.Collect()) {
      if (family.name == "workqueue_depth") return family.samples.front().value;
    }
    ADD_FAILURE() << "no workqueue_depth";
    return 0;
  }

  ManualClock clock_;
  JobStore jobs_{{.decode = DecodeJob, .annotation_prefixes = {}, .on_change = {}}};
  PodStore pods_{{.decode = DecodePod, .annotation_prefixes = {}, .on_change = {}}};
  ProgressStore store_;
  kube::WorkQueue queue_{"test", {}};
  Mutex mutex_;
  std::vector<std::string> asked_;              // guarded by mutex_
  std::map<std::string, std::string> answers_;  // by address
  ProgressPoller poller_{
      jobs_,
      pods_,
      clock_,
      store_,
      queue_,
      [this](const std::string& pod_ip, const std::stop_token&) -> Result<std::string> {
        const MutexLock lock(mutex_);
        asked_.push_back(pod_ip);
        const auto answer = answers_.find(pod_ip);
        if (answer == answers_.end()) return UnavailableError("away");
        return answer->second;
      },
      {}};
};

TEST_F(ProgressPollerTest, AsksRunningChiefsOfTrainingJobsByTheirAddress) {
  for (const int n : {1, 2, 3, 4}) PutJob(n);
  PutJob(5, /*trains=*/false);
  PutPod(1, "chief", Running("10.0.0.1"));
  PutPod(1, "worker", Running("10.0.0.9"));
  PutPod(2, "chief", Running("fd00::2"));
  PutPod(3, "chief", R"({"phase": "Pending", "podIP": "10.0.0.3"})");
  PutPod(4, "chief", R"({"phase": "Running"})");
  PutPod(5, "chief", Running("10.0.0.5"));
  EXPECT_THAT(Poll(), UnorderedElementsAre("10.0.0.1", "fd00::2"));
}

TEST_F(ProgressPollerTest, NewsQueueTheJobOnceAndOtherAnswersDoNot) {
  PutJob(1);
  PutPod(1, "chief", Running("fd00::1"));
  answers_["fd00::1"] = Answer({}, R"("steps": 3)");
  clock_.Advance(std::chrono::seconds(5));
  EXPECT_THAT(Poll(), ElementsAre("fd00::1"));
  EXPECT_THAT(TakeQueued(), ElementsAre("ml/j1"));
  EXPECT_EQ(store_.Status("u1", {})->step(), 3);
  clock_.Advance(std::chrono::seconds(5));
  Poll();
  EXPECT_THAT(TakeQueued(), IsEmpty()) << "the same values again";
  for (const char* answer : {"", "[]", "{", R"({"values": []})"}) {
    answers_["fd00::1"] = answer;
    clock_.Advance(std::chrono::seconds(5));
    Poll();
    EXPECT_THAT(TakeQueued(), IsEmpty()) << answer;
  }
  EXPECT_EQ(store_.Status("u1", {})->step(), 3);
}

TEST_F(ProgressPollerTest, AnAgentThatIsAway_IsInTheLogOnceForEachTime) {
  PutJob(1);
  PutPod(1, "chief", Running("fd00::1"));
  const std::string away = "the chief's agent does not answer";
  const std::string back = "the chief's agent answers again";
  const auto log_of = [this](int polls) {
    testing::internal::CaptureStderr();
    for (int i = 0; i < polls; ++i) Poll();
    return testing::internal::GetCapturedStderr();
  };
  const std::string first = log_of(5);
  EXPECT_THAT(first, HasSubstr("WARN"));
  EXPECT_THAT(first, HasSubstr(away));
  EXPECT_THAT(first, HasSubstr("job=ml/j1"));
  EXPECT_EQ(first.find(away), first.rfind(away)) << first;
  answers_["fd00::1"] = Answer({}, R"("steps": 3)");
  const std::string again = log_of(5);
  EXPECT_THAT(again, HasSubstr(back));
  EXPECT_EQ(again.find(back), again.rfind(back)) << again;
  EXPECT_THAT(log_of(5), IsEmpty());
  answers_.clear();
  EXPECT_THAT(log_of(1), HasSubstr(away));
  // The pod is gone; another one that is away is another matter.
  PutPod(1, "chief", R"({"phase": "Succeeded", "podIP": "fd00::1"})");
  EXPECT_THAT(log_of(2), IsEmpty());
  PutPod(1, "chief", Running("fd00::2"));
  EXPECT_THAT(log_of(1), HasSubstr(away));
}

// A pod's address may be another pod's by the time it is asked.
TEST_F(ProgressPollerTest, TheAnswerOfAnother_IsNotRecordedAndIsInTheLogOnce) {
  PutJob(1);
  PutPod(1, "chief", Running("fd00::1"));
  const std::string proof =
      R"("examples_expected": 8, "examples_committed": 8, "applied_min": 8, "applied_max": 8)";
  const std::string nobody = R"({"values": {)" + proof + "}}";
  for (const std::string& answer :
       {Answer({.role = "worker"}, proof), Answer({.index = 1}, proof),
        Answer({.attempt = 1}, proof), Answer({.job = 2}, proof), nobody}) {
    answers_["fd00::1"] = answer;
    testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i) {
      clock_.Advance(std::chrono::seconds(5));
      Poll();
    }
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_THAT(TakeQueued(), IsEmpty()) << answer;
    EXPECT_FALSE(store_.Heard("u1")) << answer;
    EXPECT_FALSE(store_.ProvenCounts("u1", 0).has_value()) << answer;
    const std::string line = "another answers at the address of the chief's agent";
    EXPECT_THAT(log, HasSubstr(line)) << answer;
    EXPECT_THAT(log, HasSubstr("job=ml/j1"));
    EXPECT_EQ(log.find(line), log.rfind(line)) << log;
    answers_["fd00::1"] = Answer({}, "");
    testing::internal::CaptureStderr();
    Poll();
    testing::internal::GetCapturedStderr();
    TakeQueued();
    store_.Forget("u1");
  }
}

TEST_F(ProgressPollerTest, AChiefThatDoesNotAnswer_DoesNotHoldUpTheOthers) {
  for (const int n : {1, 2, 3}) {
    PutJob(n);
    PutPod(n, "chief", Running("10.0.0." + std::to_string(n)));
  }
  answers_["10.0.0.3"] = Answer({.job = 3}, R"("steps": 1)");
  EXPECT_EQ(Poll().size(), 3U);
  EXPECT_THAT(TakeQueued(), ElementsAre("ml/j3"));
}

}  // namespace
}  // namespace pstrain::job
