#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/job/observe/checkpoint_check.h"
#include "operator/job/observe/node_check.h"
#include "operator/job/observe/problem/problem.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/job/observe/replicas.h"
#include "operator/job/start_times.h"
#include "operator/kube/resource.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// What the operator knows of a job beyond its caches: its own writes that the watch has not shown
/// yet. Lost with the process, and nothing depends on it: names are deterministic and counts are in
/// the status. One thread at a time: the reconcile of its job touches it, and nothing else does.
struct JobState {
  std::string uid;
  /// The status that the server has; `stored_known` once it was read.
  JobStatus stored;
  bool stored_known = false;
  /// The resourceVersion that our next write of the status builds on.
  std::string version;
  /// When we last changed the status, and its progress.
  std::optional<plan::Time> written_at;
  std::optional<plan::Time> progress_written_at;
  /// When it is this job's turn to write counts and progress (act/status_pace.h).
  std::optional<plan::Time> write_place;
  /// Versions before `version`: a cache that shows one of them is behind.
  std::set<std::string> superseded_versions;
  /// The server says that the job is being deleted or gone; the cache may be behind.
  bool deleting = false;
  KnownPods pods;
  /// Kind/name of Services and ConfigMaps that we created and the cache has not shown, and when.
  std::map<std::string, plan::Time> created;

  /// The last create that was refused, and when to try again.
  std::optional<Problem> refused;
  /// That the specification itself is refused: an invalid template.
  bool RefusesSpec() const { return refused && refused->reason == kInvalidTemplate; }
  /// metadata.generation of the specification that nothing was refused of.
  std::int64_t accepted_generation = 0;
  int refusals = 0;
  plan::Time create_after{};
  /// metadata.generation of the specification that was refused; another is tried immediately.
  std::int64_t refused_generation = 0;
  /// An object that has a name that we need, and does not belong to the job.
  struct ConflictingObject {
    std::string kind;
    kube::ObjectKey key;
    /// The cache has shown it: the name is free once it does not.
    bool seen = false;
  };
  std::vector<ConflictingObject> conflicting_objects;
  CheckpointCheck checkpoint;
  /// Nodes whose pods should have gone.
  NodeChecks nodes;
  /// What we told a chief's pod (ps_count_writer.h) while the cache still shows the version before
  /// it, by the pod's uid.
  struct ToldPsCount {
    std::string count;
    std::string version_before;
  };
  std::map<std::string, ToldPsCount> told_ps_counts;
  /// How long its present start takes.
  StartTimes start_times;
  /// The problem that an event was last written for.
  std::string reported_problem;
};

}  // namespace pstrain::job
