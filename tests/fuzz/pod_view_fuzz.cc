#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "operator/kube/json_fields.h"
#include "operator/reconcile/pod_ending.h"
#include "operator/reconcile/pod_view.h"
#include "operator/reconcile/training_status.h"
#include "operator/reconcile/trouble.h"

/// A pod, as whoever may write pods can make it, is refused or seen without harm, and so is what it
/// left as its termination message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pstrain::plan::Time;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = pstrain::kube::ParseServerJson(text);
  if (!json.ok()) return 0;
  const auto pod = pstrain::reconcile::DecodePod(*json);
  if (!pod.ok()) return 0;
  if (pod->name.empty() || pod->uid.empty() || pod->place.index < 0 || pod->attempt < 0) {
    std::abort();
  }
  const pstrain::plan::Replica replica = pstrain::reconcile::ToReplica(*pod);
  if (replica.id != pod->place || replica.attempt != pod->attempt) std::abort();
  const Time now{std::chrono::seconds(1'700'000'000)};
  const auto trouble = pstrain::reconcile::TroubleOf(*pod, now);
  if (trouble && (trouble->reason.empty() || trouble->message.empty())) std::abort();
  const auto look = pstrain::reconcile::NextLook(*pod, now);
  if (look && *look <= now) std::abort();
  const auto reading =
      pstrain::reconcile::ReadingFromTermination(pod->container.message, now, pod->attempt);
  if (reading) pstrain::reconcile::MakeTrainingStatus(*reading, nullptr, {});
  return 0;
}
