#pragma once

#include <pstrain/dataset.h>

#include <functional>

#include "base/status.h"
#include "library/data/named_makers.h"

namespace pstrain::program {

/// The dataset functions of this program, by name. Filled before `main` by constructors of
/// DatasetFunction. Any thread.
class DatasetRegistry : public NamedMakers<std::function<Result<Dataset>(const InputContext&)>> {
 public:
  using Make = std::function<Result<Dataset>(const InputContext& context)>;

  DatasetRegistry() : NamedMakers("dataset function") {}
  /// That of this process.
  static DatasetRegistry& Global();
};

}  // namespace pstrain::program
