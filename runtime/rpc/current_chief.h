#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"
#include "runtime/cluster/chief_finder.h"

namespace pstrain {

/// Which chief a peer talks to: keeps the one that was found until a call does not reach it, and
/// never goes back to a chief of a lower term than one found before. `Connection`: what calls are
/// made through. Any thread.
template <typename Connection>
class CurrentChief {
 public:
  using Connect = std::function<std::shared_ptr<Connection>(const std::string& address)>;

  /// `chief_address`: host:port of the chief, from TF_CONFIG. The others as for ChiefFinder.
  CurrentChief(std::string chief_address, ChiefFinder::Probe probe, ChiefFinder::Resolve resolve,
               Connect connect)
      : chief_address_(std::move(chief_address)),
        finder_(std::move(probe), std::move(resolve)),
        connect_(std::move(connect)) {}

  /// The errors of ChiefFinder::Find; UNAVAILABLE for a chief that was replaced.
  Result<std::shared_ptr<Connection>> Get() PSTRAIN_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (chief_) return chief_;
    }
    PSTRAIN_ASSIGN_OR_RETURN(const ChiefFinder::Found found, finder_.Find(chief_address_));
    const MutexLock lock(mutex_);
    if (found.term < highest_term_) {
      return UnavailableError("the chief at " + found.address + " has term " +
                              std::to_string(found.term) + ", it was replaced by term " +
                              std::to_string(highest_term_));
    }
    highest_term_ = found.term;
    chief_ = connect_(found.address);
    return chief_;
  }

  /// A call has not reached it.
  void Forget(const std::shared_ptr<Connection>& chief) PSTRAIN_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (chief_ == chief) chief_.reset();
  }

 private:
  const std::string chief_address_;
  const ChiefFinder finder_;
  const Connect connect_;
  Mutex mutex_;
  std::shared_ptr<Connection> chief_ PSTRAIN_GUARDED_BY(mutex_);
  std::uint64_t highest_term_ PSTRAIN_GUARDED_BY(mutex_) = 0;
};

}  // namespace pstrain
