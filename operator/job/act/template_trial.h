#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "operator/job/build/pod.h"
#include "operator/job/observe/problem/problem.h"
#include "operator/job/observe/problem/refused_create.h"
#include "operator/job/reconcile_context.h"
#include "operator/kube/api_client.h"
#include "operator/plan/plan.h"

namespace pstrain::job {

/// Asks the apiserver whether it takes a pod of a role's template before anything of the job is
/// made: a create with dryRun and strict validation, once for each template that it has not been
/// asked about in that namespace. A template is the user's, and the CRD knows little of what is in
/// it: the first real create would find out too, with half of the job made. Any thread.
class TemplateTrial {
 public:
  /// The client is not owned.
  explicit TemplateTrial(kube::ApiClient& client) : client_(client) {}

  struct Refusal {
    plan::StartReplica start;
    /// The template cannot be made a pod of, or what the apiserver says of that.
    std::optional<Problem> problem;
    std::optional<kube::ApiError> error;
  };
  /// One for each role whose first pod among the starts is refused. All templates are tried, unless
  /// a refusal is no fault of its template.
  std::vector<Refusal> Try(const ReconcileContext& context,
                           const std::vector<plan::StartReplica>& starts, const JobConfig& config,
                           const PodBuilderOptions& options) PSTRAIN_EXCLUDES(mutex_);

 private:
  /// One template that is not known yet, and the starts that have it.
  struct Question {
    std::string key;
    Json pod;
    std::vector<plan::StartReplica> starts;
    std::optional<kube::ApiError> error;
  };
  /// False when to ask about others is no use.
  bool Ask(const ReconcileContext& context, Question& question) PSTRAIN_EXCLUDES(mutex_);
  bool IsKnown(const std::string& key) PSTRAIN_EXCLUDES(mutex_);
  void Remember(const std::string& key) PSTRAIN_EXCLUDES(mutex_);

  kube::ApiClient& client_;
  Mutex mutex_;
  /// Namespace and template that were taken.
  std::set<std::string> taken_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::job
