#include "operator/reconcile/checkpoint_look.h"

#include <chrono>

#include "base/log.h"
#include "operator/reconcile/checkpoint_volume.h"

namespace pstrain::reconcile {
namespace {

constexpr std::chrono::minutes kLookAgain{5};

}  // namespace

void LookAtCheckpointVolume(kube::ApiClient& client, const JobInHand& hand) {
  CheckpointLook& look = hand.state.checkpoint;
  const std::int64_t generation = hand.job.metadata().generation();
  const bool due = look.again && *look.again <= hand.now;
  if (look.generation == generation && !due) return;
  look = {.generation = generation};
  CheckpointVolume volume = FindCheckpointVolume(hand.job);
  if (volume.claim.empty()) {
    look.known = true;
    look.trouble = std::move(volume.trouble);
    return;
  }
  const kube::ObjectKey key{.name_space = hand.job.metadata().namespace_(), .name = volume.claim};
  const auto claim = client.Get(kube::PersistentVolumeClaimResource(), key, hand.stop);
  if (claim.ok()) {
    look.known = true;
    look.trouble = TroubleOfClaim(*claim);
  } else if (claim.status().code() != StatusCode::kNotFound) {
    // A claim that is not there keeps the pods from starting, which is a trouble of its own.
    LogWarning("checkpoint", "the access modes of a claim are not known",
               {{"error", claim.status()}});
  }
  if (!look.known || look.trouble) look.again = hand.now + kLookAgain;
}

}  // namespace pstrain::reconcile
