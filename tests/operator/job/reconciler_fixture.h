#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/manual_clock.h"
#include "base/metrics/collector.h"
#include "base/status.h"
#include "base/text/json.h"
#include "operator/kube/resource.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"
#include "tests/operator/kube/api_fixture.h"

namespace pstrain::job {

/// Gives a job a spec.training for the built-in runtime.
void Train(Json& job);

/// A reconciler over real stores and a fake apiserver, in one thread and by a clock that the test
/// moves. The watches are polled, so that a test says what a cache has not seen yet. One thread;
/// only the events are written by another.
class ReconcilerFixture {
 public:
  using Change = std::function<void(Json&)>;

  ReconcilerFixture();
  ~ReconcilerFixture();

  testing::FakeApiserver& server() { return api_.server(); }
  testing::InProcessTransport& transport() { return api_.transport(); }
  const std::string& uid() const { return uid_; }

  /// The job "byo" in namespace "ml": a chief, a ps and two workers that run their own program,
  /// replaced immediately. `change` alters the object first. Its uid becomes uid().
  void PutJob(const Change& change = {});
  /// The same job with all its pods running.
  void StartJob(const Change& change = {});
  /// Alters the job as a person would; the generation rises.
  void EditJob(const Change& change);
  void RemoveJob();
  /// A new process: no memory, caches filled again.
  void RestartOperator();
  /// Of the next process: makes NetworkPolicies with these peers, or none.
  void SetPolicyPeers(std::optional<Json> peers) { policy_peers_ = std::move(peers); }

  /// Of the next process: no replica without tokens.
  void RequirePeerIdentity() { require_peer_identity_ = true; }
  /// What the apiserver publishes of its tokens; there is nothing before.
  void PublishKeys(const std::string& key_id);

  std::vector<std::string> PodNames() const;
  Json Pod(const std::string& name) const;
  void EditPod(const std::string& name, const Change& change);
  /// Replaces the status, given as JSON text.
  void SetPodStatus(const std::string& name, const std::string& status);
  void RunPod(const std::string& name);
  void RunAllPods();
  /// It ended just now, and had run for `lived`.
  void EndPod(const std::string& name, int exit_code,
              std::chrono::seconds lived = std::chrono::minutes(1));
  void RemovePod(const std::string& name);
  /// As an apiserver writes it, so long after the present.
  std::string TimeAfter(std::chrono::milliseconds duration) const;
  /// What the chief's agent answered just now: the members of the object "values".
  void PollChief(int attempt, const std::string& values);

  void SyncJobs();
  void SyncPods();
  /// What the watch of pods has to tell is lost, as when it was down and the next list shows none
  /// of it.
  void SkipPodNews();
  void SyncAll();

  /// Reconciles the job once, with the caches as they are.
  Status ReconcileOnce();
  /// Caches and reconciles until nothing happens any more; a test failure when that has no end.
  void Settle();
  /// The same while time passes, with every requeue that a reconcile asked for.
  void RunFor(std::chrono::seconds duration);

  plan::Time now() const { return plan::Time(std::chrono::milliseconds(clock_.UnixMillis())); }

  JobStatus StatusOfJob() const;
  /// "True" or "False", or "" when there is no such condition.
  std::string ConditionOf(const std::string& type) const;
  std::string MessageOf(const std::string& type) const;

  /// Requests but those of watches and events, which a thread of its own writes: all of one moment.
  int Calls() {
    const std::vector<std::string> requests = server().requests();
    return static_cast<int>(std::ranges::count_if(requests, [](const std::string& request) {
      return request.find("watch") == std::string::npos &&
             request.find("/events") == std::string::npos;
    }));
  }
  int CallsOf(std::string_view what) { return server().CountRequests(what); }
  /// The operator's metrics about jobs.
  std::vector<MetricFamily> Metrics() const;
  /// The reasons of all events; writes what is pending, and nothing is recorded after it.
  std::vector<std::string> FinishEvents();

 private:
  struct Operator;

  const kube::ObjectKey key_{"ml", "byo"};
  kube::ApiFixture api_;
  ManualClock clock_{std::chrono::hours(1)};
  std::string uid_;
  std::optional<Json> policy_peers_;
  bool require_peer_identity_ = false;
  std::unique_ptr<Operator> operator_;
};

/// The member along the names, made an object where it is absent.
Json& At(Json& object, const std::vector<std::string_view>& names);

}  // namespace pstrain::job
