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
    world_.server().LingerOnDelete(kube::PodResource());
    world_.PutJob(
        [](Json& job) { At(job, {"spec", "runPolicy"}).Set("backoffLimit", Json::Int(1000)); });
  }

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      Happen();
      Look();
      ExpectOneLivePodPerPlace();
    }
    Calm();
  }

 private:
  std::uint64_t Pick(std::uint64_t below) { return rng_.Uniform(below); }

  void HappenToPod() {
    const std::vector<std::string> pods = world_.PodNames();
    if (pods.empty()) return;
    const std::string name = pods[Pick(pods.size())];
    const Json pod = world_.Pod(name);
    const bool leaves = !kube::TextOrEmpty(pod.Find("metadata"), "deletionTimestamp").empty();
    const bool ended = Ended(pod);
    switch (Pick(4)) {
      case 0:
        if (!ended) world_.RunPod(name);
        break;
      case 1:
        // The chief's success would end the history.
        if (!ended) world_.EndPod(name, leaves ? 85 : 1);
        break;
      case 2:
        world_.RemovePod(name);
        break;
      default:
        if (leaves) {
          world_.RemovePod(name);
        } else {
          world_.EditPod(name, [](Json& object) {
            At(object, {"metadata"}).Set("deletionTimestamp", Json::String("2026-01-02T03:04:05Z"));
          });
        }
    }
  }

  void Happen() {
    switch (Pick(12)) {
      case 0:
        workers_ = static_cast<int>(1 + Pick(4));
        world_.EditJob([this](Json& job) {
          At(job, {"spec", "replicaSpecs", "worker"}).Set("replicas", Json::Int(workers_));
        });
        break;
      case 1:
        suspended_ = !suspended_;
        world_.EditJob([this](Json& job) {
          At(job, {"spec", "runPolicy"}).Set("suspend", Json::Bool(suspended_));
        });
        break;
      case 2:
        world_.RestartOperator();
        world_.SyncAll();
        break;
      case 3:
        world_.RunFor(seconds(1 + Pick(20)));
        break;
      case 4:
        world_.transport().BreakNext(kube::HttpMethod::kPost, Pick(2) == 0, 1);
        break;
      default:
        HappenToPod();
    }
  }

  /// The operator looks, with caches of the present or behind.
  void Look() {
    switch (Pick(4)) {
      case 0:
        world_.SyncJobs();
        break;
      case 1:
        world_.SyncPods();
        break;
      case 2:
        world_.SyncAll();
        break;
      default:
        break;
    }
    static_cast<void>(world_.ReconcileOnce());
  }

  static bool Ended(const Json& pod) {
    const std::string phase = kube::TextOrEmpty(pod.Find("status"), "phase");
    return phase == "Succeeded" || phase == "Failed";
  }

  std::map<std::string, int> LivePods() {
    std::map<std::string, int> live;
    for (const std::string& name : world_.PodNames()) {
      const Json pod = world_.Pod(name);
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
      world_.RunFor(seconds(400));
      for (const std::string& name : world_.PodNames()) {
        const Json pod = world_.Pod(name);
        const bool leaves = !kube::TextOrEmpty(pod.Find("metadata"), "deletionTimestamp").empty();
        if (leaves) {
          world_.RemovePod(name);
        } else if (!Ended(pod)) {
          world_.RunPod(name);
        }
      }
    }
    world_.Settle();
    const std::size_t wanted = suspended_ ? 0 : static_cast<std::size_t>(2 + workers_);
    EXPECT_EQ(LivePods().size(), wanted);
    const int before = world_.Calls();
    world_.RunFor(seconds(120));
    EXPECT_TRUE(world_.ReconcileOnce().ok());
    EXPECT_EQ(world_.Calls(), before);
    world_.RestartOperator();
    world_.Settle();
    EXPECT_EQ(world_.Calls(), before) << "a new operator finds something to write";
  }

  ReconcilerFixture world_;
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
