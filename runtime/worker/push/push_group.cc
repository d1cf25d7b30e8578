#include "runtime/worker/push/push_group.h"

#include <utility>

namespace pstrain {
namespace {

/// What the work puts into messages, about.
std::size_t BytesOf(const WorkToPush& work) {
  if (work.pushed.non_finite != 0) return 0;
  std::size_t bytes = 0;
  for (const auto& dense : work.updates.dense) bytes += dense.values.bytes().size();
  for (const auto& rows : work.updates.rows) bytes += rows.values.bytes().size();
  return bytes;
}

}  // namespace

Result<PushOutcome> PushGroup::Push(const WorkToPush& work, const Membership& membership) {
  Waiting mine{.work = work, .membership = membership, .bytes = BytesOf(work)};
  if (mine.bytes > limits_.bytes) return PushAlone(work, membership);
  {
    const MutexLock lock(mutex_);
    waiting_.push_back(&mine);
  }
  for (Group group = NextGroup(mine); !group.empty(); group = NextGroup(mine)) PushFor(group);
  PSTRAIN_RETURN_IF_ERROR(mine.outcome.status());
  if (mine.outcome->empty()) return PushAlone(work, membership);
  return std::move(mine.outcome->front());
}

std::size_t PushGroup::in_flight() const {
  const MutexLock lock(mutex_);
  return pushing_ + waiting_.size();
}

Result<PushOutcome> PushGroup::PushAlone(const WorkToPush& work, const Membership& membership) {
  return ps_.Push(work.pushed, work.plan, work.updates, membership, work.shards);
}

PushGroup::Group PushGroup::NextGroup(const Waiting& mine) {
  const MutexLock lock(mutex_);
  while (pushing_ > 0 && !mine.done) changed_.Wait(mutex_);
  if (mine.done) return {};
  Group group = TakeFirst();
  pushing_ = group.size();
  return group;
}

PushGroup::Group PushGroup::TakeFirst() {
  const Membership* const membership = &waiting_.front()->membership;
  Group group;
  std::deque<Waiting*> others;
  std::size_t bytes = 0;
  for (Waiting* const waiting : waiting_) {
    const bool joins = &waiting->membership == membership && group.size() < limits_.works &&
                       bytes + waiting->bytes <= limits_.bytes;
    if (joins) {
      bytes += waiting->bytes;
      group.push_back(waiting);
    } else {
      others.push_back(waiting);
    }
  }
  waiting_ = std::move(others);
  return group;
}

// What one work is to blame for fails them all, and does not say whose it is: each is pushed again,
// alone. A shard that has taken it answers that it is a duplicate.
void PushGroup::PushFor(const Group& group) {
  std::vector<WorkToPush> works;
  works.reserve(group.size());
  for (const Waiting* const waiting : group) works.push_back(waiting->work);
  Result<std::vector<PushOutcome>> outcomes = ps_.Push(works, group.front()->membership);
  const bool again = group.size() > 1 && outcomes.status().code() == StatusCode::kInvalidArgument;
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (outcomes.ok()) {
      group[i]->outcome->push_back(std::move((*outcomes)[i]));
    } else if (!again) {
      group[i]->outcome = outcomes.status();
    }
    group[i]->done = true;
  }
  pushing_ = 0;
  changed_.NotifyAll();
}

}  // namespace pstrain
