#pragma once

#include <pstrain/resource.h>

#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "base/status.h"

namespace pstrain::program {

/// Where a worker gets its resources. Any thread.
class ResourceSource {
 public:
  virtual ~ResourceSource() = default;
  /// As Resource::Get, of the function of that name. `workers`: of the strategy.
  virtual Result<std::shared_ptr<void>> Get(const std::string& name, std::uint32_t workers,
                                            const std::type_info& type) = 0;
};

/// The way from the class of the public headers to what is behind it. Any thread.
struct ResourceAccess {
  /// `source` outlives it; with null it can be sent, and has no object.
  static resource_internal::Handle Make(std::string name, std::uint32_t workers,
                                        ResourceSource* source) {
    return {std::move(name), workers, source};
  }
  /// The same with another source.
  static resource_internal::Handle Of(const resource_internal::Handle& handle,
                                      ResourceSource* source) {
    return {handle.name_, handle.workers_, source};
  }
  static const std::string& NameOf(const resource_internal::Handle& handle) { return handle.name_; }
  static std::uint32_t WorkersOf(const resource_internal::Handle& handle) {
    return handle.workers_;
  }
};

}  // namespace pstrain::program
