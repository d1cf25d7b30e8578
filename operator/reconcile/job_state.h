#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/kube/resource.h"
#include "operator/plan/snapshot.h"
#include "operator/reconcile/job_view.h"
#include "operator/reconcile/observations.h"
#include "operator/reconcile/pod_view.h"
#include "operator/reconcile/trouble.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::reconcile {

/// How long the operator believes in an object that it has made and the watch does not show.
inline constexpr std::chrono::seconds kUnseenLimit{30};

/// A pod of the job that exists as far as we know.
struct KnownPod {
  std::shared_ptr<const PodView> view;
  /// Since when the cache should show it and does not: it was created just now, or it is gone and
  /// the news of that is on its way.
  std::optional<plan::Time> unseen_since;
};

/// What is known of the volume under training.checkpoint.directory.
struct CheckpointLook {
  /// metadata.generation of the job that was looked at; -1: none.
  std::int64_t generation = -1;
  bool known = false;
  std::optional<Trouble> trouble = {};
  /// When to look again though the job does not change.
  std::optional<plan::Time> again = {};
};

/// What the operator knows of a job beyond its caches: its own writes that the watch has not shown
/// yet. Lost with the process, and nothing depends on it: names are deterministic and counts are in
/// the status. Touched by the reconcile of its job only.
struct JobState {
  std::string uid;
  /// The status that the server has; `stored_known` once it was read.
  JobStatus stored;
  bool stored_known = false;
  /// The resourceVersion that our next write of the status builds on.
  std::string version;
  /// When we last changed the status.
  std::optional<plan::Time> written_at;
  /// Versions before `version`: a cache that shows one of them is behind.
  std::set<std::string> replaced;
  /// The server says that the job is being deleted or gone; the cache may be behind.
  bool deleting = false;
  /// By uid.
  std::map<std::string, KnownPod> pods;
  /// uids of pods that we have deleted and the cache still has without a deletionTimestamp.
  std::set<std::string> stopped;
  /// Kind/name of Services and ConfigMaps that we created and the cache has not shown, and when.
  std::map<std::string, plan::Time> made;

  /// The last create that was refused, and when to try again.
  std::optional<Trouble> refused;
  int refusals = 0;
  plan::Time create_after{};
  /// metadata.generation of the specification that was refused; another is tried at once.
  std::int64_t refused_generation = 0;
  /// An object of a name that we need belongs to another.
  std::optional<std::string> name_conflict;
  /// That object, while the cache shows it: the name is free once it does not.
  struct Taken {
    std::string kind;
    kube::ObjectKey key;
  };
  std::optional<Taken> taken;
  CheckpointLook checkpoint;
  /// The trouble that an event was last written for.
  std::string announced;
};

/// The replicas of the job for the Plan: the cache's pods, corrected by what we have done since,
/// and `gone`, those that are gone but not counted. Brings `state.pods` and `state.stopped` up to
/// date. REQUIRES: `gone` was asked for after `cached`, so that no pod is missing from both for
/// good.
std::vector<plan::Replica> CollectReplicas(const std::vector<PodStore::Object>& cached,
                                           const std::vector<GonePod>& gone, plan::Time now,
                                           JobState& state);

}  // namespace pstrain::reconcile
