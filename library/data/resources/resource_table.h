#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <typeinfo>

#include "base/mutex.h"
#include "base/status.h"
#include "library/data/resources/resource_registry.h"
#include "library/data/resources/resource_source.h"

namespace pstrain::program {

/// The resources of one worker: each is made when a call asks for it, and stays until the worker
/// ends. Any thread: calls that ask for one wait while another makes it, calls that ask for another
/// one do not.
class ResourceTable final : public ResourceSource {
 public:
  /// `functions` outlives it.
  ResourceTable(const ResourceRegistry& functions, std::int64_t worker_index)
      : functions_(functions), worker_index_(worker_index) {}

  /// NOT_FOUND: no function of that name; INVALID_ARGUMENT: it makes another type. What making it
  /// has met begins with its name; the next call tries again.
  Result<std::shared_ptr<void>> Get(const std::string& name, std::uint32_t workers,
                                    const std::type_info& type) override PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Slot {
    Mutex mutex;
    std::shared_ptr<void> object PSTRAIN_GUARDED_BY(mutex);
  };

  const ResourceRegistry& functions_;
  const std::int64_t worker_index_;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
