#include "runtime/features/fingerprint.h"

#include <farmhash.h>

namespace pstrain {
namespace {

constexpr std::uint64_t kMultiplier = 0xc6a4a7935bd1e995ULL;  // of MurmurHash 2

constexpr std::uint64_t FoldHigh(std::uint64_t value) { return value ^ (value >> 47); }

}  // namespace

std::uint64_t Fingerprint(std::string_view text) {
  return util::Fingerprint64(text.data(), text.size());
}

std::uint64_t CombineFingerprints(std::uint64_t chain, std::uint64_t next) {
  const std::uint64_t mixed =
      (chain ^ kMultiplier ^ (FoldHigh(next * kMultiplier) * kMultiplier)) * kMultiplier;
  return FoldHigh(FoldHigh(mixed) * kMultiplier);
}

}  // namespace pstrain
