#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pstrain {

/// For which vector instructions of x86-64 a hot loop is compiled. What has loops for several
/// chooses at run time, so that one build runs on every machine; on other processors there is the
/// baseline alone. Ordered by width.
enum class CpuVectors : std::uint8_t {
  /// What the compiler assumes of every processor, such as SSE2.
  kBaseline = 0,
  /// AVX2 with FMA.
  kAvx2 = 1,
  /// AVX-512 F, DQ, BW and VL, as x86-64-v4 has them.
  kAvx512 = 2,
};
inline constexpr std::array kAllCpuVectors = {CpuVectors::kBaseline, CpuVectors::kAvx2,
                                              CpuVectors::kAvx512};

/// "baseline", "avx2" or "avx512".
std::string_view NameOf(CpuVectors vectors);

/// The widest that this processor and its kernel can run. Any thread.
CpuVectors WidestVectors();

/// What loops use: the widest, unless PSTRAIN_VECTORS has the name of another or UseVectors chose.
/// What the processor cannot run is never used. Any thread.
CpuVectors VectorsInUse();

/// For tests and benches that try each: loops that begin after this use these. REQUIRES: not wider
/// than WidestVectors(). Any thread.
void UseVectors(CpuVectors vectors);

}  // namespace pstrain
