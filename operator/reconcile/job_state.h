#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/plan/snapshot.h"
#include "operator/reconcile/job_view.h"
#include "operator/reconcile/observations.h"
#include "operator/reconcile/training_status.h"
#include "operator/reconcile/trouble.h"
#include "proto/psjob.pb.h"

namespace pstrain::reconcile {

/// What the operator knows of a job beyond its caches: its own writes that the watch has not shown
/// yet. Lost with the process, and nothing depends on it: names are deterministic and counts are in
/// the status. Touched by the reconcile of its job only.
struct JobState {
  std::string uid;
  /// The status that the server has.
  JobStatus stored;
  /// The resourceVersion that our next write of the status builds on.
  std::string version;
  /// `version` is of our own write and the cache is behind it.
  bool ahead_of_cache = false;
  /// Pods that we created and the cache has not shown, by uid.
  std::map<std::string, PodView> created;
  /// uids of pods that we have deleted and the cache still has without a deletionTimestamp.
  std::set<std::string> stopped;
  /// Kind/name of Services and ConfigMaps that we created and the cache has not shown.
  std::set<std::string> made;

  /// The last create that was refused, and when to try again.
  std::optional<Trouble> refused;
  int refusals = 0;
  plan::Time create_after{};
  /// An object of a name that we need belongs to another.
  std::optional<std::string> name_conflict;
  /// The trouble that an event was last written for.
  std::string announced;
};

/// The replicas of the job for the Plan: the cache's pods, corrected by what we have done since,
/// and those that are gone but not counted. Drops from `state` what the cache has caught up with.
std::vector<plan::Replica> CollectReplicas(const std::vector<PodStore::Object>& cached,
                                           const Observations& observations, JobState& state);

}  // namespace pstrain::reconcile
