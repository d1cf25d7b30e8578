#include "operator/job/observe/checkpoint_check.h"

#include <chrono>

#include "base/log.h"
#include "operator/job/observe/checkpoint_volume.h"

namespace pstrain::job {
namespace {

constexpr std::chrono::minutes kRecheckPeriod{5};

}  // namespace

void CheckCheckpointVolume(kube::ApiClient& client, const PSTrainingJob& job, plan::Time now,
                           const std::stop_token& stop, CheckpointCheck& check) {
  const std::int64_t generation = job.metadata().generation();
  const bool due = check.next_check && *check.next_check <= now;
  if (check.generation == generation && !due) return;
  check = {.generation = generation};
  CheckpointVolume volume = FindCheckpointVolume(job);
  if (volume.claim.empty()) {
    check.known = true;
    check.trouble = std::move(volume.trouble);
    return;
  }
  const kube::ObjectKey key{.name_space = job.metadata().namespace_(), .name = volume.claim};
  const auto claim = client.Get(kube::PersistentVolumeClaimResource(), key, stop);
  if (claim.ok()) {
    check.known = true;
    check.trouble = TroubleOfClaim(*claim);
  } else if (claim.status().code() != StatusCode::kNotFound) {
    // A claim that is not there keeps the pods from starting, which is a trouble of its own.
    LogWarning("checkpoint", "the access modes of a claim are not known",
               {{"error", claim.status()}});
  }
  if (!check.known || check.trouble) check.next_check = now + kRecheckPeriod;
}

}  // namespace pstrain::job
