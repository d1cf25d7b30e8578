#include "base/os/cpu_vectors.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "base/log.h"

namespace pstrain {
namespace {

CpuVectors FromEnvironment() {
  const char* const name = std::getenv("PSTRAIN_VECTORS");
  const CpuVectors widest = WidestVectors();
  if (name == nullptr) return widest;
  const auto* const found = std::ranges::find(kAllCpuVectors, std::string_view(name), NameOf);
  if (found == kAllCpuVectors.end()) {
    LogWarning("cpu", "PSTRAIN_VECTORS is none of baseline, avx2 and avx512; the widest are used",
               {{"value", name}, {"used", std::string(NameOf(widest))}});
    return widest;
  }
  if (*found > widest) {
    LogWarning("cpu", "this processor cannot run what PSTRAIN_VECTORS names; its widest are used",
               {{"value", name}, {"used", std::string(NameOf(widest))}});
  }
  return std::min(*found, widest);
}

std::atomic<CpuVectors>& InUse() {
  static std::atomic<CpuVectors> in_use = FromEnvironment();
  return in_use;
}

}  // namespace

std::string_view NameOf(CpuVectors vectors) {
  switch (vectors) {
    case CpuVectors::kBaseline:
      return "baseline";
    case CpuVectors::kAvx2:
      return "avx2";
    case CpuVectors::kAvx512:
      return "avx512";
  }
  return "";
}

CpuVectors WidestVectors() {
#ifdef __x86_64__
  static const CpuVectors widest = [] {
    // They ask the kernel too whether it saves the registers (XGETBV).
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
      return CpuVectors::kBaseline;
    }
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    return wide ? CpuVectors::kAvx512 : CpuVectors::kAvx2;
  }();
  return widest;
#else
  return CpuVectors::kBaseline;
#endif
}

CpuVectors VectorsInUse() { return InUse().load(std::memory_order_relaxed); }

void UseVectors(CpuVectors vectors) {
  InUse().store(std::min(vectors, WidestVectors()), std::memory_order_relaxed);
}

}  // namespace pstrain
