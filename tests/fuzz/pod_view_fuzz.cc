#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "operator/job/observe/pod_termination.h"
#include "operator/job/observe/pod_view.h"
#include "operator/job/observe/problem/problem.h"
#include "operator/job/observe/training_status.h"
#include "operator/kube/json_fields.h"

/// A pod, as whoever may write pods can make it, is refused or seen without harm, and so is what it
/// left as its termination message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pstrain::plan::Time;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = pstrain::kube::ParseServerJson(text);
  if (!json.ok()) return 0;
  const auto pod = pstrain::job::DecodePod(*json);
  if (!pod.ok()) return 0;
  if (pod->name.empty() || pod->uid.empty() || pod->replica.index < 0 || pod->attempt < 0) {
    std::abort();
  }
  const pstrain::plan::Replica replica = pstrain::job::ToReplica(*pod);
  if (replica.id != pod->replica || replica.attempt != pod->attempt) std::abort();
  const Time now{std::chrono::seconds(1'700'000'000)};
  const auto problem = pstrain::job::ProblemOf(*pod, now);
  if (problem && (problem->reason.empty() || problem->message.empty())) std::abort();
  const auto next_check = pstrain::job::NextProblemCheck(*pod, now);
  if (next_check && *next_check <= now) std::abort();
  const auto reading =
      pstrain::job::ReadingFromTermination(pod->container.message, now, pod->attempt);
  if (reading) pstrain::job::MakeTrainingStatus(*reading, nullptr, {});
  return 0;
}
