#pragma once

#include <string>
#include <variant>

#include "operator/kube/api_error.h"

namespace pstrain::cluster {

/// Exit codes of the commands that ask a cluster, beside 0 and kExitUsage; docs/kubectl-plugin.md
/// lists them. `wait` gives kExitFailure for a job that has Failed. Constants: any thread.
inline constexpr int kExitRefused = 4;       // the server has said no, for its own reason
inline constexpr int kExitNoKubeconfig = 5;  // none, or one that cannot be used
inline constexpr int kExitNotReached = 6;    // no answer, or one that may pass
inline constexpr int kExitForbidden = 7;     // 401 or 403
inline constexpr int kExitNotThere = 8;      // no such job, replica or pod
inline constexpr int kExitNotInstalled = 9;  // the cluster does not know PSTrainingJobs
inline constexpr int kExitNoOperator = 10;   // the job has no status yet
inline constexpr int kExitTimedOut = 11;     // wait --timeout
inline constexpr int kExitNoAgent = 12;      // an agent did not answer

/// Why a command could not answer: one sentence that ends with the way out.
struct Problem {
  int exit_code = 0;
  std::string sentence;
};

/// What a command prints on stdout, and with which code it ends. A value.
struct Answer {
  std::string text = {};
  int exit_code = 0;
};
using Outcome = std::variant<Answer, Problem>;

/// What an error of the apiserver means to who typed the command. `verb` and `resource` as in RBAC
/// ("get", "pods"). For the kinds that every cluster has, and for jobs where the caller has made
/// sure that a 404 is not a missing one. Pure; any thread.
Problem Explain(const kube::ApiError& error, const std::string& verb, const std::string& resource,
                const std::string& name_space);

}  // namespace pstrain::cluster
