#pragma once

#include <functional>
#include <utility>

#include "operator/job/observe/job_view.h"
#include "operator/job/observe/uncounted_pods.h"

namespace pstrain::job {

/// Turns changes of the caches into keys of jobs to reconcile, and pods that are gone into
/// uncounted pods. Its functions are the callbacks of Store::Options::on_change, called by the
/// watchers' threads. Owned by whoever owns the caches.
class ChangeRouter {
 public:
  using Enqueue = std::function<void(const kube::ObjectKey& job)>;

  explicit ChangeRouter(UncountedPods& uncounted_pods, Enqueue enqueue)
      : uncounted_pods_(uncounted_pods), enqueue_(std::move(enqueue)) {}

  void JobChanged(const JobStore::Object& before, const JobStore::Object& after);
  /// `jobs` tells whose pods count: those of a job that is gone go with it.
  void PodChanged(const JobStore& jobs, const PodStore::Object& before,
                  const PodStore::Object& after);
  /// A Service or ConfigMap.
  void OwnedObjectChanged(const OwnedObjectStore::Object& before,
                          const OwnedObjectStore::Object& after);

 private:
  UncountedPods& uncounted_pods_;
  const Enqueue enqueue_;
};

}  // namespace pstrain::job
