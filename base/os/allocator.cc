#include "base/os/allocator.h"

#include <malloc.h>

namespace pstrain {
namespace {

/// The largest that glibc admits for M_MMAP_THRESHOLD (mallopt(3)).
constexpr int kMappedFromBytes = 32 << 20;
/// Free memory at the end of a heap beyond which it is given back.
constexpr int kTrimmedFromBytes = 128 << 20;

}  // namespace

void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, kMappedFromBytes);
  mallopt(M_TRIM_THRESHOLD, kTrimmedFromBytes);
}

}  // namespace pstrain
