#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "base/text/json.h"
#include "operator/plan/snapshot.h"
#include "proto/job/psjob.pb.h"

namespace pstrain::job {

/// How a running chief learns of another number of ps (docs/design/ps-count.md): the annotation
/// kPsReplicasAnnotation of its pod, which it reads through a downwardAPI volume. Pure functions;
/// any thread.

/// Where the downwardAPI volume kPsCountVolume of the chief's pod is, and the file in it.
inline constexpr std::string_view kPsCountDirectory = "/etc/pstrain-ps-count";
inline constexpr std::string_view kPsCountFile = "/etc/pstrain-ps-count/ps-replicas";

/// The replica can be told while it runs: it is the chief of the built-in runtime.
bool LearnsPsCount(const JobSpec& spec, plan::Role role);

/// The value of the annotation: the number of ps that the job wants.
std::string PsCountText(const JobSpec& spec);

/// {annotation: value}.
Json PsCountAnnotation(const JobSpec& spec);

/// The volume that shows the annotation as kPsCountFile.
Json PsCountVolume();

}  // namespace pstrain::job
