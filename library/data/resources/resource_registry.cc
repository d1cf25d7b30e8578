#include "library/data/resources/resource_registry.h"

#include <string>
#include <utility>

namespace pstrain {

program::ResourceRegistry& program::ResourceRegistry::Global() {
  static ResourceRegistry registry;
  return registry;
}

void resource_internal::Register(const std::string& name, const std::type_info& type, Make make,
                                 const std::source_location& where) {
  program::ResourceRegistry::Global().Add(
      name, {type, std::move(make)},
      std::string(where.file_name()) + ":" + std::to_string(where.line()));
}

}  // namespace pstrain
