#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/control.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/rpc/transport.h"
#include "runtime/stats/stats_writer.h"
#include "runtime/worker/parameter_layout.h"
#include "runtime/worker/ps_problems.h"
#include "runtime/worker/push/message_packer.h"
#include "runtime/worker/step_data.h"

namespace pstrain {

/// What became of a push in one shard.
enum class ShardOutcome : std::uint8_t {
  kApplied,
  /// The shard had the work id already.
  kDuplicate,
  /// As PushStatus::kHasGradient.
  kHasGradient,
  /// The shard has no active owner, or the ps that was asked does not own it in that term: push it
  /// again under a newer membership.
  kNotOwner,
  /// No answer: the shard may have the work id or not; push it again.
  kUnreachable,
  /// As PushStatus: pushed again it would be answered so again, until the shard has what it lacks.
  kEarly,
  kOtherChief,
};

/// What became of a push at one shard.
struct ShardPush {
  ShardId shard = 0;
  /// The term under which it was pushed.
  ShardTerm term;
  ShardOutcome outcome = ShardOutcome::kUnreachable;
};

/// PullReply::updates of each ps that answered.
using UpdateCounts = std::map<std::uint32_t, std::uint64_t>;

/// What a pull has come to.
enum class PullAnswer : std::uint8_t {
  kValues,
  /// As PullStatus, of some shard. There are no values: what the pull is for cannot be done now.
  kEarly,
  kOtherChief,
};

/// The values of a pull, or who does not give them.
struct PullOutcome {
  StepValues values;
  UpdateCounts updates;
  PullAnswer answer = PullAnswer::kValues;
  /// Who has answered so, where there are no values.
  ShardInTerm shard = {};
};

/// What became of a push at every shard.
struct PushOutcome {
  /// One per shard that was to be pushed, ascending.
  std::vector<ShardPush> shards;
  UpdateCounts updates;

  /// Shards that must be pushed again: those without an owner or an answer.
  std::vector<ShardId> Missing() const;
};

/// How stale a gradient was: the pushes that a ps has applied between this pull and this push of
/// one worker, without this push itself; of all ps the most. About, because a ps says the average
/// of its shards. A ps that has restarted in between counts from 0 again, and is passed over.
std::uint64_t StalenessOf(const UpdateCounts& pull, const UpdateCounts& push);

/// What a push says of its work, which is a batch or a closure.
struct PushedWork {
  WorkId work_id;
  /// Of the work id's range, skipped ones included, and how many of them were skipped.
  std::uint32_t records = 0;
  std::uint32_t skipped = 0;
  /// As PushRequest::non_finite: if not 0, the work is left out, and what it would have changed is
  /// not sent.
  std::uint32_t non_finite = 0;
  GrantContext grant = {};
};

/// A piece of work of one call of Pull, and of Push. What they refer to outlives the call.
struct WorkToPull {
  const RoutedPlan& plan;
  GrantContext grant = {};
};
struct WorkToPush {
  const PushedWork& pushed;
  const RoutedPlan& plan;
  const StepUpdates& updates;
  /// Only these (ascending); empty: all.
  std::span<const ShardId> shards = {};
};

struct PsClientOptions {
  /// From sending a request to a ps to its reply.
  std::chrono::milliseconds deadline{10'000};
  /// Take the time from sending a request to its reply; may be null.
  Histogram* pull_duration = nullptr;
  Histogram* push_duration = nullptr;
  /// Is told of each answer, and of each that does not come; may be null, else outlives the client.
  PsProblems* problems = nullptr;
  /// For tests. When set, ps get their pushes one after the other, in order of index, each when the
  /// one before has answered; this is called in between.
  std::function<void()> between_pushes;
};

/// Counters since the start. Relaxed; any thread may read.
struct PsClientStats {
  std::atomic<std::uint64_t> bytes_sent{0};
  std::atomic<std::uint64_t> bytes_received{0};
  std::atomic<std::uint64_t> rows_pulled{0};
  std::atomic<std::uint64_t> rows_pushed{0};
  /// Requests to a ps that got no usable answer.
  std::atomic<std::uint64_t> failed_requests{0};
};

/// A worker's way to the parameters: fused messages, one per ps and step unless they get large, to
/// all ps concurrently. It does not repeat anything: the caller does, with a newer membership. A
/// repeated push is harmless, because a shard applies each work id once. Any thread; calls block.
class PsClient {
 public:
  /// Sections are put into one message to a ps up to this size. What is larger goes out in several,
  /// so that one is on the way while the next is written and the one before is applied.
  static constexpr std::size_t kMessageBytes = std::size_t{2} << 20;

  /// `transports` outlives the client. INVALID_ARGUMENT as ParameterLayout::Create.
  static Result<std::unique_ptr<PsClient>> Create(const std::vector<VariableSpec>& variables,
                                                  std::uint32_t shards, Transport& transports,
                                                  PsClientOptions options = {});

  /// There are more variables; plans that were routed before stay good. INVALID_ARGUMENT as
  /// ParameterLayout::Create. REQUIRES: they begin with those that are known.
  Status Extend(const std::vector<VariableSpec>& variables) {
    PSTRAIN_ASSIGN_OR_RETURN(ParameterLayout layout, ParameterLayout::Create(variables, shards_));
    const MutexLock lock(mutex_);
    layout_ = std::make_shared<const ParameterLayout>(std::move(layout));
    return OkStatus();
  }

  /// Where what a step reads lies, for its pull and its push. INVALID_ARGUMENT: rows of a variable
  /// that is not a table, or the other way round.
  Result<RoutedPlan> Route(const StepAccess& access) const { return layout()->Route(access); }

  /// INVALID_ARGUMENT: what a step changes does not fit the variables or the rows that it reads.
  Status CheckUpdates(const RoutedPlan& plan, const StepUpdates& updates) const {
    return layout()->CheckUpdates(plan, updates);
  }

  /// The dense variables, whole, and the rows of the plan. UNAVAILABLE: a ps did not answer;
  /// ABORTED: a shard has no active owner or another one than `membership` says. Both: try again
  /// with a newer membership. INVALID_ARGUMENT: a ps refused the request. Who says under which
  /// `grant` it pulls looks at the answer first.
  Result<PullOutcome> Pull(const RoutedPlan& plan, const Membership& membership,
                           const GrantContext& grant = {});

  /// Pushes what a step changes; every shard gets a section, also an empty one. `shards`: only
  /// these (ascending); empty: all. The outcome of one ps does not touch another's.
  /// INVALID_ARGUMENT: the updates do not fit, or a ps refused the request.
  Result<PushOutcome> Push(const PushedWork& pushed, const RoutedPlan& plan,
                           const StepUpdates& updates, const Membership& membership,
                           std::span<const ShardId> shards = {});

  /// The same for several pieces of small work, which share messages: one outcome each, in their
  /// order. A ps that does not answer, or does not own a shard, fails a pull of all of them.
  Result<std::vector<PullOutcome>> Pull(std::span<const WorkToPull> works,
                                        const Membership& membership);
  Result<std::vector<PushOutcome>> Push(std::span<const WorkToPush> works,
                                        const Membership& membership);

  const PsClientStats& stats() const { return stats_; }

 private:
  class Exchange;

  /// The connection to one life of a ps.
  struct Peer {
    std::uint64_t incarnation = 0;
    std::string address;
    std::shared_ptr<Connection> connection;
  };

  PsClient(ParameterLayout layout, Transport& transports, PsClientOptions options);

  Status TakePullReply(const Bytes& bytes, const OutgoingMessage<PullRequest>& message,
                       const ParameterLayout& layout, std::span<const WorkToPull> works,
                       std::vector<PullOutcome>& outcomes);
  /// Makes the sections of the work, which is the `w`-th of its call.
  Status PackPush(const WorkToPush& work, std::size_t w, const Membership& membership,
                  const ParameterLayout& layout, const GatheredUpdates& gathered,
                  MessagePacker<PushRequest>& packer, PushOutcome& outcome);

  /// Tells PsClientOptions::problems how a request to the ps has ended.
  void NoteAnswer(std::uint32_t ps, const Status& status);
  void NoteOwner(std::uint32_t ps, ShardInTerm shard, bool owned);

  /// Null when the membership has no such ps.
  std::shared_ptr<Connection> ConnectionTo(std::uint32_t ps, const Membership& membership);

  std::shared_ptr<const ParameterLayout> layout() const {
    const MutexLock lock(mutex_);
    return layout_;
  }

  const std::uint32_t shards_;
  Transport& transports_;
  const PsClientOptions options_;
  PsClientStats stats_;
  mutable Mutex mutex_;
  std::shared_ptr<const ParameterLayout> layout_ PSTRAIN_GUARDED_BY(mutex_);
  std::map<std::uint32_t, Peer> peers_ PSTRAIN_GUARDED_BY(mutex_);
};

}  // namespace pstrain
