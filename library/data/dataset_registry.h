#pragma once

#include <pstrain/dataset.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace pstrain::program {

/// The dataset functions of this program, by name. Filled before `main` by constructors of
/// DatasetFunction. Any thread.
class DatasetRegistry {
 public:
  using Make = std::function<Result<Dataset>(const InputContext& context)>;

  /// That of this process.
  static DatasetRegistry& Global();

  /// The first of a name stays; problem() names both. `where` is a place in the program's sources.
  void Add(const std::string& name, Make make, const std::string& where) PSTRAIN_EXCLUDES(mutex_);
  /// NOT_FOUND: no dataset function of that name.
  Result<Make> Find(const std::string& name) const PSTRAIN_EXCLUDES(mutex_);
  std::vector<std::string> Names() const PSTRAIN_EXCLUDES(mutex_);
  /// ALREADY_EXISTS: one name was registered twice; INVALID_ARGUMENT: one is empty.
  Status problem() const PSTRAIN_EXCLUDES(mutex_);

 private:
  struct Entry {
    Make make;
    std::string where;
  };
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ PSTRAIN_GUARDED_BY(mutex_);
  Status problem_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
