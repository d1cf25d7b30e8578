#include "library/data/dataset_registry.h"

#include <utility>

namespace pstrain::program {

DatasetRegistry& DatasetRegistry::Global() {
  static DatasetRegistry registry;
  return registry;
}

void DatasetRegistry::Add(const std::string& name, Make make, const std::string& where) {
  const MutexLock lock(mutex_);
  const auto [known, added] = entries_.try_emplace(name, Entry{std::move(make), where});
  if (!problem_.ok()) return;
  if (name.empty()) {
    problem_ = InvalidArgumentError("a dataset function has to have a name, and at " + where +
                                    " one has none");
  } else if (!added) {
    problem_ =
        AlreadyExistsError("dataset function " + name + " is registered at " + known->second.where +
                           " and at " + where + "; give one another name");
  }
}

Result<DatasetRegistry::Make> DatasetRegistry::Find(const std::string& name) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(name);
  if (found != entries_.end()) return found->second.make;
  return NotFoundError("this program has no dataset function " + name +
                       "; start coordinator and workers from one build");
}

std::vector<std::string> DatasetRegistry::Names() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

Status DatasetRegistry::problem() const {
  const MutexLock lock(mutex_);
  return problem_;
}

}  // namespace pstrain::program
