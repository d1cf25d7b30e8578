#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "operator/job/build/object_names.h"
#include "operator/job/well_known.h"
#include "operator/kube/json_fields.h"
#include "tests/operator/job/reconciler_fixture.h"

namespace pstrain::job {
namespace {

using std::chrono::seconds;

/// Random histories of one job: what may happen to it happens in any order, with caches that lag.
class RandomHistory {
 public:
  explicit RandomHistory(std::uint64_t seed) : rng_(seed) {
    fixture_.server().LingerOnDelete(kube::PodResource());
    fixture_.PutJob(
        [](Json& job) { At(job, {"spec", "runPolicy"}).Set("backoffLimit", Json::Int(1000)); });
  }

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      Happen();
      Check();
      ExpectOneLivePodPerPlace();
    }
    Calm();
  }

 private:
  std::uint64_t Pick(std::uint64_t below) { return rng_.Uniform(below); }

  void HappenToPod() {
    const std::vector<std::string> pods = fixture_.PodNames();
    if (pods.empty()) return;
    const std::string name = pods[Pick(pods.size())];
    const Json pod = fixture_.Pod(name);
    const bool leaves = !kube::TextOrEmpty(pod.Find("metadata"), "deletionTimestamp").empty();
    const bool ended = Ended(pod);
    switch (Pick(4)) {
      case 0:
        if (!ended) fixture_.RunPod(name);
        break;
      case 1:
        // The chief's success would end the history.
        if (!ended) fixture_.EndPod(name, leaves ? 85 : 1);
        break;
      case 2:
        fixture_.RemovePod(name);
        break;
      default:
        if (leaves) {
          fixture_.RemovePod(name);
        } else {
          fixture_.EditPod(name, [](Json& object) {
            At(object, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
          });
        }
    }
  }

  void Happen() {
    switch (Pick(12)) {
      case 0:
        workers_ = static_cast<int>(1 + Pick(4));
        fixture_.EditJob([this](Json& job) {
          At(job, {"spec", "replicaSpecs", "worker"}).Set("replicas", Json::Int(workers_));
        });
        break;
      case 1:
        suspended_ = !suspended_;
        fixture_.EditJob([this](Json& job) {
          At(job, {"spec", "runPolicy"}).Set("suspend", Json::Bool(suspended_));
        });
        break;
      case 2:
        fixture_.RestartOperator();
        fixture_.SyncAll();
        break;
      case 3:
        fixture_.RunFor(seconds(1 + Pick(20)));
        break;
      case 4:
        fixture_.transport().BreakNext(kube::HttpMethod::kPost, Pick(2) == 0, 1);
        break;
      default:
        HappenToPod();
    }
  }

  /// The operator looks, with caches of the present or behind.
  void Check() {
    switch (Pick(4)) {
      case 0:
        fixture_.SyncJobs();
        break;
      case 1:
        fixture_.SyncPods();
        break;
      case 2:
        fixture_.SyncAll();
        break;
      default:
        break;
    }
    static_cast<void>(fixture_.ReconcileOnce());
  }

  static bool Ended(const Json& pod) {
    const std::string phase = kube::TextOrEmpty(pod.Find("status"), "phase");
    return phase == "Succeeded" || phase == "Failed";
  }

  std::map<std::string, int> LivePods() {
    std::map<std::string, int> live;
    for (const std::string& name : fixture_.PodNames()) {
      const Json pod = fixture_.Pod(name);
      const Json& metadata = *pod.Find("metadata");
      if (Ended(pod) || !kube::TextOrEmpty(metadata, "deletionTimestamp").empty()) continue;
      const Json* labels = metadata.Find("labels");
      ++live[kube::TextOrEmpty(labels, kReplicaTypeLabel) + "-" +
             kube::TextOrEmpty(labels, kReplicaIndexLabel)];
    }
    return live;
  }

  void ExpectOneLivePodPerPlace() {
    for (const auto& [place, count] : LivePods()) EXPECT_EQ(count, 1) << place;
  }

  /// Nothing happens any more: the job gets what it asks for, and then nobody writes.
  void Calm() {
    for (int i = 0; i < 8; ++i) {
      fixture_.RunFor(seconds(400));
      for (const std::string& name : fixture_.PodNames()) {
        const Json pod = fixture_.Pod(name);
        const bool leaves = !kube::TextOrEmpty(pod.Find("metadata"), "deletionTimestamp").empty();
        if (leaves) {
          fixture_.RemovePod(name);
        } else if (!Ended(pod)) {
          fixture_.RunPod(name);
        }
      }
    }
    fixture_.Settle();
    const std::size_t wanted = suspended_ ? 0 : static_cast<std::size_t>(2 + workers_);
    EXPECT_EQ(LivePods().size(), wanted);
    const int before = fixture_.Calls();
    fixture_.RunFor(seconds(120));
    EXPECT_TRUE(fixture_.ReconcileOnce().ok());
    EXPECT_EQ(fixture_.Calls(), before);
    fixture_.RestartOperator();
    fixture_.Settle();
    EXPECT_EQ(fixture_.Calls(), before) << "a new operator finds something to write";
  }

  ReconcilerFixture fixture_;
  Rng rng_;
  int workers_ = 2;
  bool suspended_ = false;
};

TEST(JobReconcilerProperty, OfAnyHistory_OneLivePodPerPlaceAndAFixedPointWithoutCalls) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomHistory(seed).Run(60);
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace pstrain::job
