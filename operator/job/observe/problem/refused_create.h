#pragma once

#include <string>

#include "operator/job/observe/problem/problem.h"
#include "operator/kube/api_error.h"
#include "operator/plan/snapshot.h"

namespace pstrain::job {

/// Problems of what the apiserver refuses to create. Pure; any thread.

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

}  // namespace pstrain::job
