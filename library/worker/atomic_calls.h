#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "library/worker/closure_pushes.h"
#include "runtime/requests/ids.h"
#include "runtime/worker/grant_session.h"

namespace pstrain {

/// Calls of atomic functions that have returned, until the chief has decided of which attempt all
/// shards get the changes: a thread waits for that, while the next ones run. Many share one poll.
/// Owner: ClosureLoop. Add: any thread.
class AtomicCalls {
 public:
  /// What became of one, as GrantSession::Decided. Of the thread, which waits meanwhile.
  using Decided =
      std::function<void(ClosurePushes::Closure call, std::optional<std::string> instead)>;
  /// Nothing more is decided: the session has ended, or all was given back.
  using Stopped = std::function<void()>;

  /// `session` outlives it.
  AtomicCalls(GrantSession& session, Decided decided, Stopped stopped);
  /// Waits until those that were added are decided, unless it has stopped; joins.
  ~AtomicCalls();
  AtomicCalls(const AtomicCalls&) = delete;
  AtomicCalls& operator=(const AtomicCalls&) = delete;

  /// `prepared`: the bytes of what the call has come to.
  void Add(ClosurePushes::Closure call, std::string prepared) PSTRAIN_EXCLUDES(mutex_);
  /// Those that wait for the chief.
  std::size_t waiting() const PSTRAIN_EXCLUDES(mutex_);

 private:
  /// A work id may stand for another call under another chief.
  using Key = std::pair<WorkId, std::uint64_t>;

  void Run();
  /// False: the end.
  bool AwaitOne() PSTRAIN_EXCLUDES(mutex_);
  ClosurePushes::Closure Take(const Key& key) PSTRAIN_EXCLUDES(mutex_);

  GrantSession& session_;
  const Decided decided_;
  const Stopped stopped_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<Key, ClosurePushes::Closure> waiting_ PSTRAIN_GUARDED_BY(mutex_);
  bool closing_ PSTRAIN_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace pstrain
