#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace pstrain::program {

/// What makes things, by name: functions of a program that it registers before `main`. `Maker` is a
/// value. Any thread.
template <typename Maker>
class NamedMakers {
 public:
  /// `kind`: what errors call one, "dataset function".
  explicit NamedMakers(std::string kind) : kind_(std::move(kind)) {}

  /// The first of a name stays; problem() names both. `where` is a place in the program's sources.
  void Add(const std::string& name, Maker maker, const std::string& where)
      PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto [known, added] = entries_.try_emplace(name, Entry{std::move(maker), where});
    if (!problem_.ok()) return;
    if (name.empty()) {
      problem_ = InvalidArgumentError("a " + kind_ + " has to have a name, and at " + where +
                                      " one has none");
    } else if (!added) {
      problem_ =
          AlreadyExistsError(kind_ + " " + name + " is registered at " + known->second.where +
                             " and at " + where + "; give one another name");
    }
  }

  /// NOT_FOUND: there is none of that name.
  Result<Maker> Find(const std::string& name) const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second.maker;
    return NotFoundError("this program has no " + kind_ + " " + name +
                         "; start coordinator and workers from one build");
  }

  std::vector<std::string> Names() const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    std::vector<std::string> names;
    names.reserve(entries_.size());
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

  /// ALREADY_EXISTS: one name was registered twice; INVALID_ARGUMENT: one is empty.
  Status problem() const PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return problem_;
  }

 private:
  struct Entry {
    Maker maker;
    std::string where;
  };
  const std::string kind_;
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ PSTRAIN_GUARDED_BY(mutex_);
  Status problem_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain::program
