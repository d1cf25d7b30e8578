#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/job/observe/job_view.h"
#include "operator/job/observe/pod_view.h"
#include "operator/kube/api_error.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// Why replicas do not come up though the Plan wants them: for the condition Blocked and the event
/// of the same reason. A value; the functions here are pure, but for the status that they are given
/// to write: any thread.
struct Problem {
  std::string reason;   // CamelCase, Kubernetes' own where there is one
  std::string message;  // which pod, what, and what to do about it
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The first problem of a pod whose training container has not started: unschedulable or gated,
/// image, missing ConfigMap or Secret, a container that cannot be made, or nothing at all for a
/// minute; and of a pod that has failed without it, an init container that failed or a program that
/// could not be started. Nothing for a pod whose program ran, and for one that is being deleted.
std::optional<Problem> ProblemOf(const PodView& pod, plan::Time now);

/// The first problem of the pods of a job. Those of earlier attempts count until a later one's
/// program runs.
std::optional<Problem> FirstProblemOf(const std::vector<PodStore::Object>& pods, plan::Time now);

/// What to do about a program that could not be started; empty when it was, or nothing is known.
std::string_view StartHintOf(const PodView& pod);

/// When ProblemOf may change though the pod does not.
std::optional<plan::Time> NextProblemCheck(const PodView& pod, plan::Time now);

/// The problem that a refused create stands for: quota, Pod Security, missing permission of the
/// operator, or the server's own words.
Problem ProblemOfRefusedCreate(const std::string& object, const kube::ApiError& error);

/// The reason of a template that the apiserver, or the operator, can make no pod of: it is the
/// specification that is wrong, so that it belongs to the condition Accepted.
inline constexpr char kInvalidTemplate[] = "InvalidTemplate";
inline constexpr char kAccepted[] = "Accepted";

/// The same for the create of a pod, which is made of a role's template: an invalid one is named by
/// its field of the specification.
Problem ProblemOfRefusedPod(plan::Role role, const std::string& pod, const kube::ApiError& error);

/// Writes a condition that is True while there is a problem, and False with reason `without` once
/// there is none and there was one.
void SetProblemCondition(std::string_view type, std::string_view without,
                         const std::optional<Problem>& problem, std::int64_t generation,
                         plan::Time now, JobStatus& status);

/// The condition Blocked, so written. The same failure to pull an image in other words is no
/// change.
void SetBlockedCondition(const std::optional<Problem>& problem, std::int64_t generation,
                         plan::Time now, JobStatus& status);

}  // namespace pstrain::job
