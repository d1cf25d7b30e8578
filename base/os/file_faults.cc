#include "base/os/file_faults.h"

#include <atomic>
#include <utility>

namespace pstrain {
namespace {

std::atomic<const ScopedFileFaults::Fault*> current{nullptr};

}  // namespace

ScopedFileFaults::ScopedFileFaults(Fault fault) : fault_(std::move(fault)) { current = &fault_; }

ScopedFileFaults::~ScopedFileFaults() { current = nullptr; }

int FileFault(std::string_view call, const std::string& path) {
  const ScopedFileFaults::Fault* fault = current.load(std::memory_order_acquire);
  return fault == nullptr ? 0 : (*fault)(call, path);
}

}  // namespace pstrain
