#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "proto/contract/checkpoint.pb.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/requests.h"
#include "runtime/shard/shard_copy.h"
#include "runtime/shard/shard_state.h"

namespace pstrain {

class Catalog;
class OwnerThread;
class Shard;

struct ShardEngineOptions {
  /// Owner threads; shard s belongs to thread s mod threads.
  std::uint32_t threads = 1;
  /// Requests that may wait for one thread; a caller beyond that waits.
  std::uint32_t queue_capacity = 256;
};

/// What the parameters are, of which there may be more later, and how many epochs the job has.
struct ShardEngineConfig {
  std::vector<VariableSpec> variables;
  std::uint32_t shards = 0;
  std::uint32_t batches_per_epoch = 0;
  /// Pushes are for epochs below this.
  std::uint32_t epochs = 0;
};

/// The answer to a pull, except for the values, which lie where PullRoom said.
struct PullResult {
  /// As in PushReply.
  std::uint64_t membership = 0;
  std::uint64_t updates = 0;
  /// One per section of each piece of work, in their order.
  std::vector<PullStatus> statuses;
};

/// Which shards to copy, and what for.
struct CopyOrder {
  std::vector<ShardInTerm> shards;
  /// Epochs below this are closed in the applied sets before the copy.
  std::uint32_t close_epochs_below = 0;
  /// The checkpoint that the copies are for; empty: none, all is copied.
  std::string checkpoint;
  /// A checkpoint in place. Of a shard that was copied for it in the same shard term, only the
  /// rows written since are copied. Empty: all is copied.
  std::string base;
};

/// Counters since the start, except where a present value is said. Relaxed; any thread may read.
struct ShardEngineStats {
  /// Sections of pushes, by what became of them; not_owner also counts sections of pulls.
  std::atomic<std::uint64_t> pushes_applied{0};
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint64_t> not_owner{0};
  /// Time that requests waited for their thread, and that threads worked, in ns, summed.
  std::atomic<std::uint64_t> queue_ns{0};
  std::atomic<std::uint64_t> busy_ns{0};
  std::atomic<std::uint64_t> rows_read{0};
  std::atomic<std::uint64_t> rows_written{0};
  /// Now: requests that wait, rows in all tables, shards here, bytes of values, slots and keys.
  std::atomic<std::int64_t> queue_length{0};
  std::atomic<std::int64_t> rows{0};
  std::atomic<std::int64_t> shard_copies{0};
  std::atomic<std::int64_t> state_bytes{0};
};

/// The parameters of one ps: the shards that the chief has assigned to it, served to workers.
///
/// Guarantees. A push is applied to a shard and its work id remembered in one step, at most once
/// per shard, and only under the shard term that is active here. A copy of a shard is of
/// one moment. Different shards of one request are independent. Nothing is lost or repeated by
/// calling again after an error. Nothing survives the process: that is what checkpoints are for.
/// What a request's GrantContext does not allow is answered kEarly or kOtherChief by each shard
/// that it touches, which stays as it was. So is, kEarly, a section with a variable that was not
/// declared here yet.
///
/// Threads. Each shard is touched by one owner thread only, so values have no locks. Any thread may
/// call; callbacks run on an owner thread, or on the caller's when a request is refused
/// immediately; they must be quick and must not call the engine. A caller waits while the queue of
/// an owner thread is full.
///
///   shard    Assign (newer shard term)    Pull, Push in its own     Pull, Push otherwise
///   absent   kInitial, kRestore, kMove:   -                         not_owner
///            active
///   active   active under the newer one   served                    not_owner
///            (kDrop of its own: absent)
///   frozen   as active                    not_owner                 not_owner
///   (active -> frozen: Freeze)
class ShardEngine {
 public:
  /// Room for the values of a pull: gets the number of bytes of each section, of all pieces of work
  /// one after the other, and returns as many
  /// spans of that size, each at a multiple of kArrayAlignment, which stay valid until the pull is
  /// done. Called once, on the caller's thread, when the request has passed its checks. So the
  /// owner threads write values directly where the transport sends them from, and the engine knows
  /// nothing of messages.
  using PullRoom =
      std::function<std::vector<std::span<std::byte>>(std::span<const std::size_t> bytes)>;
  using PullDone = std::function<void(Result<PullResult> result)>;
  using PushDone = std::function<void(Result<PushReply> reply)>;
  using CopiesDone = std::function<void(Result<std::vector<ShardCopy>> copies)>;
  /// Takes the copy of one shard.
  using SnapshotSink = std::function<void(ShardState state)>;
  using StateDone = std::function<void(Result<ShardState> state)>;
  using StatusDone = std::function<void(Status status)>;

  explicit ShardEngine(const ShardEngineOptions& options, const Clock* clock = nullptr);
  /// Finishes what was accepted, then joins the threads.
  ~ShardEngine();
  ShardEngine(const ShardEngine&) = delete;
  ShardEngine& operator=(const ShardEngine&) = delete;

  /// Once before anything else. Again with the same is OK; so is one with more variables after
  /// those that are there, or with fewer of them, which changes nothing; so is another number of
  /// epochs, which holds from then on. Any other difference is ALREADY_EXISTS. Specs that do not
  /// hold together, or no epochs, are INVALID_ARGUMENT.
  Status Configure(const ShardEngineConfig& config);
  bool configured() const;

  /// Reads values for some pieces of work, in their order. The owner of `works` also keeps what its
  /// spans refer to. INVALID_ARGUMENT for
  /// a request that does not fit the variables (also: a partition or row of another shard),
  /// FAILED_PRECONDITION before Configure, UNAVAILABLE when the engine ends. Rows that do not exist
  /// yet get their initial values. Values of a section that is not kOk are zeros.
  void Pull(std::shared_ptr<const std::vector<PullRequest>> works, const PullRoom& room,
            PullDone done);

  /// Carries out the updates of some pieces of work, each shard in their order; errors as Pull, and
  /// then nothing was touched. INVALID_ARGUMENT also
  /// for a work id of an epoch that the job never had: no chief could continue what remembers it.
  /// One of an epoch that is gone is another chief's (kOtherChief), in every shard that is active
  /// here.
  void Push(std::shared_ptr<const std::vector<PushRequest>> works, PushDone done);

  /// Carries out assignments; `states` has the state of each shard whose source is kRestore or
  /// kMove. The reply lists the shards of `assignments` that are active now, in their order,
  /// without the dropped ones. Idempotent: an assignment whose term is the shard's already changes
  /// nothing. FAILED_PRECONDITION names the shard when its term is newer than the assignment's or
  /// when there is no copy to keep, INVALID_ARGUMENT when a state is missing or does not fit the
  /// variables; the other assignments are carried out all the same.
  void Assign(std::vector<ShardAssignment> assignments, std::map<ShardId, ShardState> states,
              CopiesDone done);

  /// All shards that are here, by id.
  void Copies(CopiesDone done);

  /// Copies shards one by one while the others are served; `sink` gets each on its owner thread,
  /// several threads at a time. ABORTED names a shard that is not active in the shard term that
  /// `order` gives (its sink is not called).
  void Snapshot(CopyOrder order, SnapshotSink sink, StatusDone done);

  /// Stops serving a shard, which is to move, and copies it. The copy stays until it is dropped or
  /// kept under a newer shard term; frozen again, the same is copied. ABORTED: it is not here in
  /// the one that is named.
  void Freeze(ShardInTerm shard, StateDone done);

  /// OK, or the first Shard::health() that was not, of the shards that were pushed to here. It is
  /// for good: such a shard is neither copied for a checkpoint nor moved (OUT_OF_RANGE).
  Status health() const;

  const ShardEngineStats& stats() const { return stats_; }
  /// Goes into every reply as a hint that the worker's membership may be old.
  void set_membership(std::uint64_t number) {
    membership_.store(number, std::memory_order_relaxed);
  }

 private:
  using ThreadSet = std::vector<bool>;
  struct PullCall;
  struct PushCall;
  struct AssignCall;
  struct SnapshotCall;

  static std::string TermText(ShardTerm term);
  static Status NotConfigured();
  static Status Ending();
  static Status NotInTerm(const ShardInTerm& shard);
  static Status NoSuchShard(ShardId shard, const Catalog& catalog);
  std::shared_ptr<const Catalog> catalog() const;
  /// INVALID_ARGUMENT: the job never had its epoch.
  Result<bool> IsGone(const PushRequest& request) const;
  std::uint32_t ThreadOf(ShardId shard) const;
  ThreadSet AllThreads() const { return ThreadSet(threads_.size(), true); }
  /// Runs work(thread) on each thread of the set, then finish on the last of them (on the caller's
  /// when the set is empty). finish gets UNAVAILABLE when a thread no longer takes work.
  void Dispatch(const ThreadSet& threads, std::function<void(std::uint32_t thread)> work,
                StatusDone finish);
  /// PushReply::updates.
  std::uint64_t Updates() const;
  /// The sections of a call whose shards belong to this owner thread. On it.
  void ReadOn(std::uint32_t thread, PullCall& call);
  void ApplyOn(std::uint32_t thread, PushCall& call);
  void AssignOn(std::uint32_t thread, AssignCall& call);
  void NoteHealth(const Status& health);
  /// Copies one shard for a snapshot. On its owner thread.
  void CopyOne(const ShardInTerm& wanted, SnapshotCall& call);
  /// The active shard in that term, or null. On its owner thread.
  Shard* Find(ShardId shard, ShardTerm term);
  /// Carries out one assignment. On the shard's owner thread.
  Status Carry(const ShardAssignment& assignment, ShardState* state,
               const std::shared_ptr<const Catalog>& catalog);
  /// Puts `shard` (null: nothing) in place of what is there.
  void Place(ShardId id, std::unique_ptr<Shard> shard);

  const RealClock real_clock_;
  const Clock* const clock_;
  ShardEngineStats stats_;
  std::atomic<std::uint64_t> membership_{0};
  std::atomic<std::uint32_t> epochs_{0};
  /// The highest that Configure has named.
  std::atomic<std::uint32_t> most_epochs_{0};
  mutable Mutex mutex_;
  std::shared_ptr<const Catalog> catalog_ PSTRAIN_GUARDED_BY(mutex_);
  Status health_ PSTRAIN_GUARDED_BY(mutex_);
  // By shard, each touched by its owner thread only.
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<ShardTerm> dropped_;  // the highest term that was dropped
  std::vector<std::unique_ptr<OwnerThread>> threads_;
};

}  // namespace pstrain
