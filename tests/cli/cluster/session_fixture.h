#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "base/manual_clock.h"
#include "base/mutex.h"
#include "cli/cluster/job_reader.h"
#include "cli/cluster/problem.h"
#include "cli/cluster/session.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::cluster {

/// Moves a clock instead of waiting. Any thread.
class AdvancingPause final : public kube::Pause {
 public:
  explicit AdvancingPause(ManualClock& clock) : clock_(clock) {}
  bool For(std::chrono::nanoseconds duration, const std::stop_token& stop) override {
    clock_.Advance(duration);
    if (meanwhile) meanwhile();
    return !stop.stop_requested();
  }

  std::function<void()> meanwhile;  // what happens during each pause

 private:
  ManualClock& clock_;
};

inline Json Parsed(const std::string& text) { return ParseJson(text).value(); }

/// A session in front of a FakeApiserver, at 2026-01-01T01:00:00Z, with jobs "a", which runs with
/// worker-1 restarted, and "fresh", which no operator has seen.
class SessionFixture : public ::testing::Test {
 protected:
  SessionFixture() {
    PutJob("Running");
    api_.server().Put(JobResource(), Parsed(R"({"metadata":{"name":"fresh","namespace":"ns"}})"));
    PutPod("a-worker-1-x", "worker", "1", "2");
    PutPod("a-chief-0-x", "chief", "0", "0");
  }

  void PutJob(const std::string& phase) {
    api_.server().Put(JobResource(), Parsed(R"({"metadata":{"name":"a","namespace":"ns",
      "creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{"runPolicy":{"suspend":false}},
      "status":{"phase":")" + phase +
                                            R"(","conditions":[{"type":"Running","status":"True",
        "reason":"JobRunning","message":"all run","lastTransitionTime":"2026-01-01T00:50:00Z"}],
      "replicaStatuses":{"worker":{"summary":"1/2"},"chief":{"summary":"1/1"}},
      "restarts":{"failures":3,"disruptions":4,"replicas":{"worker-1":{"attempt":2,"failures":1,
        "disruptions":1,"lastEnd":{"reason":"OOMKilled","exitCode":137,"message":"too big",
        "node":"n7","time":"2026-01-01T00:59:00Z"}},"ps-0":{"attempt":5}}},
      "training":{"step":42,"examplesPerSecond":1234.5,"loss":0.25,"examplesExpected":200,
        "examplesCommitted":50}}})"));
  }

  /// `more` goes into its metadata: `,"deletionTimestamp":"..."`; `status` is the pod's.
  void PutPod(const std::string& name, const std::string& role, const std::string& index,
              const std::string& attempt, const std::string& status = R"({"phase":"Running"})",
              const std::string& more = "") {
    api_.server().Put(
        kube::PodResource(),
        Parsed(R"({"metadata":{"namespace":"ns","name":")" + name +
               R"(","annotations":{"pstrain.dev/training-container":"main"},)" +
               R"("labels":{"pstrain.dev/job-name":"a","pstrain.dev/replica-type":")" + role +
               R"(","pstrain.dev/replica-index":")" + index + R"(","pstrain.dev/attempt":")" +
               attempt + R"("})" + more + R"(},"spec":{"nodeName":"node-of-)" + role +
               R"(","containers":[{"name":"sidecar"},{"name":"main"}]},"status":)" + status + "}"));
  }

  void Fail(const std::string& what, int status, const std::string& words) {
    api_.server().FailNext(what, {status, R"({"kind":"Status","message":")" + words + R"("})", {}},
                           9);
  }

  /// What the agent of a pod serves.
  void PutAgentPage(const std::string& pod, const std::string& path, const std::string& text) {
    api_.server().PutPage("/api/v1/namespaces/ns/pods/" + pod + ":9464/proxy" + path, text);
  }

  Session& session() { return session_; }
  std::string Told() const {
    std::string all;
    for (const std::string& line : told_) all += line + "\n";
    return all;
  }

  static Answer AnswerOf(const Outcome& outcome) {
    const auto* problem = std::get_if<Problem>(&outcome);
    EXPECT_EQ(problem, nullptr) << problem->sentence;
    return problem == nullptr ? std::get<Answer>(outcome) : Answer{};
  }

  static Problem ProblemOf(const Outcome& outcome) {
    const auto* problem = std::get_if<Problem>(&outcome);
    EXPECT_NE(problem, nullptr) << std::get<Answer>(outcome).text;
    return problem == nullptr ? Problem{} : *problem;
  }

  static constexpr std::int64_t kStartMillis = 1'767'229'200'000;  // 2026-01-01T01:00:00Z
  kube::ApiFixture api_;
  ManualClock clock_{std::chrono::nanoseconds(0), kStartMillis};
  AdvancingPause pause_{clock_};
  std::string out_;
  std::vector<std::string> told_;
  Session session_{.client = api_.client(),
                   .pause = pause_,
                   .clock = clock_,
                   .name_space = "ns",
                   .out =
                       [this](std::string_view text) {
                         out_ += text;
                         return true;
                       },
                   .tell = [this](const std::string& line) { told_.push_back(line); }};
};

}  // namespace pstrain::cluster
