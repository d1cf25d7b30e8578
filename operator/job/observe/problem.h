#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/job/observe/pod_view.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// Why replicas do not come up though the Plan wants them: for the condition Blocked and the event
/// of the same reason.
struct Trouble {
  std::string reason;   // CamelCase, Kubernetes' own where there is one
  std::string message;  // which pod, what, and what to do about it
  friend bool operator==(const Trouble&, const Trouble&) = default;
};

/// The first trouble of a pod that has not started: unschedulable, image, missing ConfigMap or
/// Secret, a container that cannot be made, or nothing at all for a minute. Nothing for a pod that
/// runs, has ended or is on its way out.
std::optional<Trouble> TroubleOf(const PodView& pod, plan::Time now);

/// When TroubleOf may change though the pod does not.
std::optional<plan::Time> NextLook(const PodView& pod, plan::Time now);

/// The trouble that a refused create stands for: quota, Pod Security, an invalid template, missing
/// permission of the operator, or the server's own words.
Trouble TroubleOfCreate(const std::string& object, const std::string& server_message,
                        bool forbidden, bool invalid);

/// Writes a condition that is True while there is a trouble, and False with reason `without` once
/// there is none and there was one.
void SetTrouble(std::string_view type, std::string_view without,
                const std::optional<Trouble>& trouble, std::int64_t generation, plan::Time now,
                JobStatus& status);

/// The condition Blocked, so written. The same failure to pull an image in other words is no
/// change.
void SetBlocked(const std::optional<Trouble>& trouble, std::int64_t generation, plan::Time now,
                JobStatus& status);

}  // namespace pstrain::job
