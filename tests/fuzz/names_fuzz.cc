#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/checkpoint/checkpoints.h"
#include "runtime/cluster/address.h"
#include "runtime/rpc/identity/token_verifier.h"

/// Names that others give: of a checkpoint, of an address, of a pod. What is accepted is written
/// back as it was, or reads as itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pstrain;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto id = ParseCheckpointName(text); id && CheckpointName(*id) != text) std::abort();
  if (const auto parts = SplitAddress(text); parts.ok()) {
    const auto again = SplitAddress(JoinAddress(parts->host, parts->port));
    if (!again.ok() || again->host != parts->host || again->port != parts->port) std::abort();
  }
  if (CheckTransportAddress(text).ok()) {
    if (text.empty() || std::ranges::any_of(text, [](char c) { return c <= ' '; })) std::abort();
  }
  constexpr std::string_view kJob = "adult";
  const auto caller = CallerOfPod(kJob, text);
  if (caller.ok() && PodNameOf(kJob, *caller) != text) std::abort();
  return 0;
}
