#pragma once

#include <pstrain/resource.h>

#include <typeindex>

#include "library/data/named_makers.h"

namespace pstrain::program {

struct ResourceMaker {
  /// Of what it makes.
  std::type_index type;
  resource_internal::Make make;
};

/// The resource functions of this program, by name. Filled before `main` by constructors of
/// ResourceFunction. Any thread.
class ResourceRegistry : public NamedMakers<ResourceMaker> {
 public:
  ResourceRegistry() : NamedMakers("resource function") {}
  /// That of this process.
  static ResourceRegistry& Global();
};

}  // namespace pstrain::program
