#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/job/observe/job_view.h"
#include "operator/job/observe/pod_view.h"
#include "operator/job/observe/uncounted_pods.h"
#include "operator/plan/snapshot.h"

namespace pstrain::job {

/// How long the operator assumes that an object exists which it has created and the watch has not
/// shown.
inline constexpr std::chrono::seconds kUnseenLimit{30};

/// A pod of the job that exists as far as we know.
struct KnownPod {
  std::shared_ptr<const PodView> view;
  /// Since when the cache should show it and does not: it was created just now, or it is gone and
  /// the watch has not shown that yet.
  std::optional<plan::Time> unseen_since;
};

/// The pods of one job as far as we know: what the cache has shown and what we have done since. One
/// thread at a time.
struct KnownPods {
  std::map<std::string, KnownPod> by_uid;
  /// uids of pods that we have deleted and the cache still has without a deletionTimestamp.
  std::set<std::string> stopped;
  /// uids of pods that we have deleted by force: gone, whatever the cache still shows.
  std::set<std::string> forced;
};

/// The replicas of the job for the Plan: the cache's pods, corrected by what we have done since,
/// and `gone`, those that are gone but not counted. Brings `pods` up to date.
/// REQUIRES: `gone` was asked for after `cached`, so that no pod is missing from both for good.
std::vector<plan::Replica> CollectReplicas(const std::vector<PodStore::Object>& cached,
                                           const std::vector<UncountedPod>& gone, plan::Time now,
                                           KnownPods& pods);

}  // namespace pstrain::job
