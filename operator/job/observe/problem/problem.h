#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/job/observe/job_view.h"
#include "operator/job/observe/pod_view.h"
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

/// Most bytes of Kubernetes' own words in a message: a condition has room for 1,024, and the way
/// out comes last.
inline constexpr std::size_t kLongestWords = 600;

/// The first problem of a pod whose training container has not started, by the table of
/// problem_table.h: what the scheduler, the kubelet or the container runtime says of it, or that a
/// minute after it was scheduled, or its last init container ended, nothing runs and nobody says
/// why. Nothing for a pod whose program ran, for one whose init container is at work, and for one
/// that is being deleted.
std::optional<Problem> ProblemOf(const PodView& pod, plan::Time now);

/// The first problem of the pods of a job. Those of earlier attempts count until a later one's
/// program runs.
std::optional<Problem> FirstProblemOf(const std::vector<PodStore::Object>& pods, plan::Time now);

/// What to do about a program that could not be started; empty when it was, or nothing is known.
std::string StartHintOf(const PodView& pod);

/// When ProblemOf may change though the pod does not.
std::optional<plan::Time> NextProblemCheck(const PodView& pod, plan::Time now);

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
