#pragma once

namespace pstrain {

/// Lets the C library's allocator keep what is freed for the next step instead of giving it back to
/// the kernel: a training step allocates the same megabytes again and again, and every page that
/// comes back from it costs a fault and is cleared. For main, before other threads run.
void KeepFreedMemory();

}  // namespace pstrain
