#pragma once

#include <stop_token>
#include <string>

#include "base/status.h"
#include "operator/kube/http/credentials.h"
#include "operator/options.h"

namespace pstrain {

/// Where the apiserver is and who we are: --kubeconfig, else $KUBECONFIG, else the service account
/// of this pod. Once, by the main thread, as RunOperator.
Result<kube::ConnectionConfig> FindApiServer(const OperatorOptions& options);

/// Everything between the command line and the exit: connections, caches, leader election, the
/// controller. Blocks until `stop`, then hands the work over cleanly: reconciles end, events are
/// written, the Lease is released. ABORTED when the leadership was lost: exit non-zero and be
/// restarted. REQUIRES: PrepareCpprest was called first in the process.
Status RunOperator(const OperatorOptions& options, const kube::ConnectionConfig& connection,
                   const std::stop_token& stop);

}  // namespace pstrain
