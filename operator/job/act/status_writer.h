#pragma once

#include <stop_token>

#include "base/status.h"
#include "operator/job/job_state.h"
#include "operator/kube/api_client.h"

namespace pstrain::job {

/// Stores a job's status through /status: a merge patch of what differs from `state.stored`, on
/// condition that nobody has changed the job since (its resourceVersion), so that of two operators
/// that both believe to lead one fails. Nothing is sent when nothing differs. On ABORTED the state
/// has been read again: plan again. OK with `state.deleting` set: the job is being deleted or gone,
/// and nothing more may be done for it. Waits for the apiserver; called by the thread that
/// reconciles the job, as RefreshState is.
Status WriteStatus(kube::ApiClient& client, const kube::ObjectKey& key, const JobStatus& status,
                   JobState& state, const std::stop_token& stop);

/// Reads what the server has into `state`: the status and its version, or that the job is being
/// deleted or gone.
Status RefreshState(kube::ApiClient& client, const kube::ObjectKey& key, JobState& state,
                    const std::stop_token& stop);

/// The status as the API has it.
Json EncodeStatus(const JobStatus& status);

}  // namespace pstrain::job
