#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/worker/ps_client.h"

namespace pstrain {

/// How far the push of one piece of work has come: it may take several attempts, each to the shards
/// that the one before has not reached. Owner: the push stage; one thread.
class PushProgress {
 public:
  /// What it is that a shard has what work changes that is to be left out.
  enum class Gradients : std::uint8_t {
    /// It ends the push: has_gradient().
    kEnd,
    /// That shard keeps it, and has the work.
    kKept,
  };
  /// `wanted`: the shards that lack the work; empty: all.
  explicit PushProgress(std::vector<ShardId> wanted, Gradients gradients = Gradients::kEnd)
      : gradients_(gradients), wanted_(std::move(wanted)) {}

  /// What the next attempt is for; empty before the first: all.
  const std::vector<ShardId>& wanted() const { return wanted_; }
  /// Takes the outcome of an attempt.
  void Add(const PushOutcome& outcome);
  bool done() const { return done_; }
  /// A shard has answered kEarly or kOtherChief: the work id is to be given back now, together with
  /// have(), instead of pushed again. Never done() then.
  bool refused() const { return refused_; }
  /// Shards that have answered kEarly, with the shard term under which they did.
  const std::vector<ShardInTerm>& early() const { return early_; }
  /// The work was to be left out, and a shard has what it changes.
  bool has_gradient() const { return has_gradient_; }
  /// Shards that keep what it changes.
  std::size_t kept() const { return kept_; }
  /// Shards that have the work, with the shard term under which they said so.
  const std::vector<ShardInTerm>& have() const { return have_; }
  /// As StalenessOf; nothing when no shard has applied the gradient: an attempt that failed says
  /// nothing of how old it was, and neither does a duplicate.
  std::optional<std::uint64_t> Staleness(const UpdateCounts& pull) const;

 private:
  const Gradients gradients_;
  std::vector<ShardId> wanted_;
  std::vector<ShardInTerm> have_;
  std::vector<ShardInTerm> early_;
  /// Of the attempts in which a shard has applied it, the first answer of each ps.
  UpdateCounts updates_;
  bool applied_ = false;
  bool has_gradient_ = false;
  std::size_t kept_ = 0;
  bool refused_ = false;
  bool done_ = false;
};

}  // namespace pstrain
