#pragma once

#include <pstrain/function.h>

#include <map>
#include <source_location>
#include <string>

#include "base/mutex.h"
#include "base/status.h"

namespace pstrain::program {

/// The functions of this program, by name. Filled before `main` by constructors of Function, and
/// with the library's own. Any thread.
class FunctionRegistry {
 public:
  struct Entry {
    std::string signature;
    function_internal::Invoke invoke;
    std::string where;
    FunctionOptions options = {};
  };

  /// Has a variable assigned: of its name and a tensor.
  static constexpr const char* kAssign = "pstrain.Assign";

  FunctionRegistry();
  /// That of this process.
  static FunctionRegistry& Global();

  /// The first of a name stays; problem() names both.
  void Add(const std::string& name, Entry entry) PSTRAIN_EXCLUDES(mutex_);
  /// NOT_FOUND: no function of that name; INVALID_ARGUMENT: its signature is another one, so
  /// whoever calls it is of another build.
  Result<Entry> Find(const std::string& name, const std::string& signature) const
      PSTRAIN_EXCLUDES(mutex_);
  /// By name, with their options.
  std::map<std::string, std::string> Signatures() const PSTRAIN_EXCLUDES(mutex_);
  /// ALREADY_EXISTS: one name was registered twice; INVALID_ARGUMENT: one is empty or reserved, or
  /// the options of one are wrong.
  Status problem() const PSTRAIN_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ PSTRAIN_GUARDED_BY(mutex_);
  Status problem_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
