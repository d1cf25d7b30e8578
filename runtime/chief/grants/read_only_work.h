#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"

namespace pstrain {

class CommitProtocol;

/// Work that changes nothing: no shard hears of it, so it has no work id of a WorkSource. What is
/// granted is an attempt: each has a number of its own (IsReadOnlyAttempt), which comes once, so
/// that whatever is said of an attempt that counts no more is about nothing
/// (docs/design/read-only-functions.md). A program has it (ChiefJob::Work). The chief's lock is
/// held in each call: one thread at a time.
class ReadOnlyWork {
 public:
  virtual ~ReadOnlyWork() = default;

  /// At most so many for the worker, whole but for the chief's term. None of work that waits for
  /// work ids that are not committed.
  virtual std::vector<Grant> Grants(std::uint32_t worker, std::size_t want,
                                    CommitProtocol& protocol) = 0;
  /// What an attempt has come to. Where it was given back because a shard was early: what it waits
  /// for, the work ids below that.
  virtual std::optional<WorkId> Reported(WorkId attempt, const Report& report,
                                         const CommitProtocol& protocol) = 0;
  /// The attempt was lost on its way, or given back.
  virtual void Returned(WorkId attempt) = 0;
  /// The worker is there from now on, or is lost with all that it has.
  virtual void SetRegistered(std::uint32_t worker, bool registered) = 0;
  /// How much any worker may have, about; and whether there is some for that one alone.
  virtual std::uint64_t Open(CommitProtocol& protocol) const = 0;
  virtual bool OpenFor(std::uint32_t worker, CommitProtocol& protocol) const = 0;
  /// All has ended.
  virtual bool Done() const = 0;
};

}  // namespace pstrain
