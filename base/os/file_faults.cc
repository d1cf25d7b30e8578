#include "base/os/file_faults.h"

#include <atomic>
#include <utility>

namespace pstrain {
namespace {

std::atomic<const ScopedFileFaults*> current{nullptr};

}  // namespace

ScopedFileFaults::ScopedFileFaults(Fault fault, Listed listed)
    : fault_(std::move(fault)), listed_(std::move(listed)) {
  current = this;
}

ScopedFileFaults::~ScopedFileFaults() { current = nullptr; }

void ScopedFileFaults::HideNames(const std::string& path, std::vector<std::string>& names) const {
  if (listed_) listed_(path, names);
}

int FileFault(std::string_view call, const std::string& path) {
  const ScopedFileFaults* faults = current.load(std::memory_order_acquire);
  return faults == nullptr ? 0 : faults->FaultOf(call, path);
}

void HideListedNames(const std::string& path, std::vector<std::string>& names) {
  const ScopedFileFaults* faults = current.load(std::memory_order_acquire);
  if (faults != nullptr) faults->HideNames(path, names);
}

}  // namespace pstrain
