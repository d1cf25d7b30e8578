#include "library/coordinator/calls/prepared_outcomes.h"

namespace pstrain {

const std::string* PreparedOutcomes::Find(Id id) const {
  const auto found = outcomes_.find(id);
  return found == outcomes_.end() ? nullptr : &found->second;
}

bool PreparedOutcomes::Keep(Id id, const std::string& outcome, std::size_t most,
                            const Committed& committed) {
  ShrinkTo(most > outcome.size() ? most - outcome.size() : 0, committed);
  if (!outcomes_.empty() && bytes_ + outcome.size() > most) return false;
  outcomes_.emplace(id, outcome);
  bytes_ += outcome.size();
  return true;
}

void PreparedOutcomes::ShrinkTo(std::size_t most, const Committed& committed) {
  for (auto each = outcomes_.begin(); each != outcomes_.end() && bytes_ > most;) {
    if (!committed(each->first)) {
      ++each;
      continue;
    }
    bytes_ -= each->second.size();
    each = outcomes_.erase(each);
  }
}

}  // namespace pstrain
