#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace pstrain {

/// The variables of the mark that a program has returned to, until it declares them again. Those
/// that it never declares are kept with what they have, and are to be listed once. Any thread.
class MarkVariables {
 public:
  void Brings(std::vector<std::string> names) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    undeclared_ = std::move(names);
  }
  void Declared(const std::string& name) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::erase(undeclared_, name);
  }
  /// For a person, those that were not declared by now; empty: there are none, or this was asked
  /// before.
  std::string List() PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::string list;
    std::size_t named = 0;
    for (const std::string& name : undeclared_) {
      if (named > 0 && list.size() + name.size() > kMostLength) break;
      list += (named++ == 0 ? "" : ", ") + name;
    }
    if (named < undeclared_.size())
      list += " and " + std::to_string(undeclared_.size() - named) + " more";
    undeclared_.clear();
    return list;
  }

 private:
  /// Of the list, about.
  static constexpr std::size_t kMostLength = 500;

  Mutex mutex_;
  std::vector<std::string> undeclared_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
