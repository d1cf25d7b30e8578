#pragma once

#include <functional>
#include <utility>

#include "operator/job/observe/job_view.h"
#include "operator/job/observe/uncounted_pods.h"

namespace pstrain::job {

/// Turns what the caches tell into keys of jobs to look at, and into observations. Its functions
/// are what Store::Options::on_change is for; called by the watchers' threads. Owned by whoever
/// owns the caches.
class ChangeRouter {
 public:
  using Enqueue = std::function<void(const kube::ObjectKey& job)>;

  explicit ChangeRouter(Observations& observations, Enqueue enqueue)
      : observations_(observations), enqueue_(std::move(enqueue)) {}

  void JobChanged(const JobStore::Object& before, const JobStore::Object& after);
  /// `jobs` tells whose pods count: those of a job that is gone go with it.
  void PodChanged(const JobStore& jobs, const PodStore::Object& before,
                  const PodStore::Object& after);
  /// A Service or ConfigMap.
  void ChildChanged(const ChildStore::Object& before, const ChildStore::Object& after);

 private:
  Observations& observations_;
  const Enqueue enqueue_;
};

}  // namespace pstrain::job
