#include "operator/job/build/object_names.h"

#include "operator/job/well_known.h"
#include "proto/contract/tf_config.h"

namespace pstrain::job {
namespace {

/// FNV-1a, 64 bits: names must not change with the library or the machine.
std::uint64_t StableHash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace

std::string PodName(std::string_view job, const plan::ReplicaId& id, std::int32_t attempt) {
  std::string name = ReplicaName(job, plan::RoleName(id.role), id.index);
  if (attempt > 0) name += "-" + std::to_string(attempt);
  return name;
}

std::string HashedName(std::string_view job, std::string_view content) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  constexpr int kLength = 13;
  constexpr unsigned kBitsOfDigit = 5;
  std::uint64_t hash = StableHash(content);
  std::string name(job);
  name += '-';
  for (int i = 0; i < kLength; ++i) {
    name += kDigits[hash & (kDigits.size() - 1)];
    hash >>= kBitsOfDigit;
  }
  return name;
}

std::string WorkerSelector(std::string_view job) {
  std::string selector(kJobNameLabel);
  selector += "=" + std::string(job) + "," + std::string(kReplicaTypeLabel) + "=";
  selector += plan::RoleName(plan::Role::kWorker);
  return selector;
}

}  // namespace pstrain::job
