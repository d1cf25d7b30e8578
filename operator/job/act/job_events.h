#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/controller/event_recorder.h"
#include "operator/plan/plan.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// The events that the operator writes about a job, as values: kube::EventRecorder sends them.
/// Pure; any thread.

/// The event that a replica has been created: ReplicaStarted, or ReplicaRestarted for a later
/// attempt.
kube::Event EventOfStart(const PSTrainingJob& job, const plan::StartReplica& start);

/// The event that an attempt has crashed (ReplicaFailed) or was disrupted (ReplicaDisrupted):
/// which, on which node and why. One for each end.
kube::Event EventOfEnd(const PSTrainingJob& job, const plan::CountedEnd& counted);

/// The event that the running chief was told another number of ps: PsScaled.
kube::Event EventOfPsCount(const PSTrainingJob& job);

/// The events of a change of status: Succeeded, Failed, Suspended and Resumed, each once.
std::vector<kube::Event> EventsOfStatus(const PSTrainingJob& job, const JobStatus& before,
                                        const JobStatus& after);

/// The warnings that replicas do not see one checkpoint directory, that checkpoints cannot be
/// written, and that replicas do not check who calls them: each once for each reason; and that no
/// pod can be made of a template, once for each thing that is wrong: after a new start of the
/// operator too.
std::vector<kube::Event> EventsOfProblems(const PSTrainingJob& job, const JobStatus& before,
                                          const JobStatus& after);

/// A warning about the job: `reason` is CamelCase, `note` says what to do.
kube::Event Warning(const PSTrainingJob& job, std::string reason, std::string note);

}  // namespace pstrain::job
