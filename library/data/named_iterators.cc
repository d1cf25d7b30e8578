#include "library/data/named_iterators.h"

#include <utility>

namespace pstrain::program {

void NamedIterators::Restore(const std::vector<IteratorPosition>& positions) {
  const MutexLock lock(mutex_);
  for (const IteratorPosition& position : positions) restored_[position.name()] = position;
}

Result<Iterator> NamedIterators::Get(const std::string& name, const std::string& dataset,
                                     std::int64_t elements_per_call, const Make& make) {
  const MutexLock lock(mutex_);
  if (const auto made = made_.find(name); made != made_.end()) {
    const Named& named = made->second;
    if (named.dataset == dataset && named.elements_per_call == elements_per_call) {
      return IteratorAccess::Make(named.state);
    }
    return AlreadyExistsError("iterator " + name + " is of dataset " + named.dataset +
                              " and gives a call " + std::to_string(named.elements_per_call) +
                              " elements; give this one another name");
  }
  const auto restored = restored_.find(name);
  PSTRAIN_ASSIGN_OR_RETURN(std::shared_ptr<IteratorState> state,
                           make(restored == restored_.end() ? nullptr : &restored->second));
  made_[name] = {dataset, elements_per_call, state};
  return IteratorAccess::Make(std::move(state));
}

std::vector<IteratorPosition> NamedIterators::Positions() const {
  const MutexLock lock(mutex_);
  std::map<std::string, IteratorPosition> all = restored_;
  for (const auto& [name, named] : made_) {
    IteratorPosition& position = all[name];
    position = named.state->Position();
    position.set_name(name);
  }
  std::vector<IteratorPosition> positions;
  positions.reserve(all.size());
  for (auto& [name, position] : all) positions.push_back(std::move(position));
  return positions;
}

}  // namespace pstrain::program
