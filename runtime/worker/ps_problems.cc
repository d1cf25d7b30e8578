#include "runtime/worker/ps_problems.h"

#include "base/log.h"
#include "base/seconds.h"
#include "runtime/rpc/control_ids.h"

namespace pstrain {

void PsProblems::Answered(std::uint32_t ps) {
  if (!any_.load(std::memory_order_relaxed)) return;
  const MutexLock lock(mutex_);
  const auto found = silent_.find(ps);
  if (found == silent_.end()) return;
  // Only of a silence that was worth a warning.
  if (found->second.warned > found->second.since) {
    const std::chrono::duration<double> silence = clock_.Now() - found->second.since;
    LogInfo("worker", "a ps answers again", {{"ps", ps}, {"after_seconds", silence.count()}});
  }
  silent_.erase(found);
  any_ = !silent_.empty() || !refused_.empty();
}

void PsProblems::NotAnswered(std::uint32_t ps, const Status& error,
                             std::chrono::nanoseconds waited) {
  const Time now = clock_.Now();
  const MutexLock lock(mutex_);
  const auto [found, first] = silent_.try_emplace(ps);
  any_ = true;
  Silence& silence = found->second;
  if (first) silence.since = silence.warned = now - waited;
  silence.error = error.ToString();
  // A ps that is being replaced is away for a few seconds: that is no news.
  if (now - silence.warned < kWarnEvery) return;
  silence.warned = now;
  LogWarning("worker", "a ps does not answer; batches wait for it",
             {{"ps", ps}, {"for_seconds", InSeconds(now - silence.since)}, {"error", error}});
}

void PsProblems::Owned(ShardId shard) {
  if (!any_.load(std::memory_order_relaxed)) return;
  const MutexLock lock(mutex_);
  refused_.erase(shard);
  any_ = !silent_.empty() || !refused_.empty();
}

void PsProblems::Refused(std::uint32_t ps, ShardInTerm shard) {
  const MutexLock lock(mutex_);
  const auto [found, first] = refused_.try_emplace(shard.shard, shard.term);
  if (!first && found->second == shard.term) return;
  found->second = shard.term;
  any_ = true;
  // Usual while a shard moves, before the membership with its new term has come.
  LogDebug("worker", "a ps does not own a shard that it should own",
           {{"ps", ps}, {"shard", shard.shard}});
}

void PsProblems::Describe(PollWorkerRequest* request) const {
  const Time now = clock_.Now();
  const MutexLock lock(mutex_);
  for (const auto& [ps, silence] : silent_) {
    UnreachablePs* unreachable = request->add_unreachable();
    unreachable->set_ps(ps);
    unreachable->set_milliseconds(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now - silence.since).count()));
    unreachable->set_error(silence.error);
  }
  for (const auto& [shard, term] : refused_) {
    ToWire(ShardInTerm{shard, term}, request->add_disowned());
  }
}

}  // namespace pstrain
