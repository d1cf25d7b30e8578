#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "runtime/requests/ids.h"
#include "runtime/requests/shard_set.h"
#include "runtime/shard/applied_set.h"
#include "runtime/shard/shard_copy.h"

namespace pstrain {

class WorkSource;

/// Time as the chief reads it from its Clock; the protocol never asks for it itself.
using ProtocolTime = std::chrono::nanoseconds;

/// The work of a run that reads an input so many times.
struct InputWork {
  std::uint32_t epochs = 1;
  std::uint32_t batches_per_epoch = 1;
  /// Records of a batch, the same in every epoch. Called often; must be cheap. Empty: 1 each.
  std::function<std::uint32_t(std::uint32_t batch)> records = {};
  /// The batch at a position of an epoch's grant order (a permutation). Empty: in order.
  std::function<std::uint32_t(std::uint32_t epoch, std::uint32_t position)> order = {};
  /// The input block of a batch. Batches of one block that follow each other in the grant order go
  /// to one worker, as long as there are blocks enough, so that a block is read by one. Empty: each
  /// batch is a block.
  std::function<std::uint32_t(std::uint32_t batch)> block = {};
};

/// What a chief starts with. Only the number of ps and the homes of shards change later.
struct ProtocolOptions {
  std::uint64_t chief_term = 1;
  std::uint32_t shards = 1;
  InputWork input;
  /// Work of another kind, instead of `input`; shared with whoever adds to it, who is the thread
  /// that calls CommitProtocol.
  std::shared_ptr<WorkSource> source;
  /// The number of ps at the start, CommitProtocol::SetPsCount changes it.
  std::uint32_t ps_count = 1;
  /// Index of the ps that a shard belongs on; one entry per shard, each < ps_count.
  std::vector<std::uint32_t> shard_to_ps;
  /// Most work ids in flight with one worker; 0: no limit.
  std::uint32_t grant_window = 0;
  /// When a new chief stops waiting for ps to report their shards (counted from `started`).
  ProtocolTime started{};
  std::chrono::milliseconds rejoin_timeout{10'000};
  /// Folder names of the checkpoints in place, newest first. Empty: shards of which no ps
  /// has a copy start from their initial values.
  std::vector<std::string> checkpoints;
  /// Of this many checkpoints in a row, at least one is full; 1: every one.
  std::uint32_t full_every = 1;
  /// The run ends early with what was granted (EarlyEnd), as an earlier chief has decided.
  std::optional<AppliedSet> early_end = {};
  /// As JobFields::epochs.
  std::string epochs_field;
  /// A shard that is lost together with its copy is not restored: the run returns to its mark.
  bool return_when_lost = false;
  /// False: every copy of a shard lives as long as this chief. Then nothing that is committed is
  /// done again, and WorkSource may forget it at once.
  bool copies_may_be_lost = true;
  /// When what is done has more bytes in WorkSource, a checkpoint is wanted, so that it may be
  /// forgotten (LogFull).
  std::size_t most_log_bytes = std::size_t{64} << 20;
};

/// A process of a ps or worker, as it names itself.
struct PeerProcess {
  /// Random, of this process.
  std::uint64_t id = 0;
  /// Of the replica that it is. An attempt replaces those before it, whichever speaks first.
  std::uint32_t attempt = 0;

  friend bool operator==(const PeerProcess&, const PeerProcess&) = default;
};

/// Send ParameterServer.AssignShards and answer with CommitProtocol::ShardsActivated or
/// AssignFailed. May be sent again while unanswered; void when the ps' incarnation is no longer the
/// current one.
struct AssignShardsAction {
  std::uint32_t ps = 0;
  Incarnation incarnation = 0;
  std::vector<ShardAssignment> shards;
  /// Checkpoint to restore from; set when any source is kRestore.
  std::string checkpoint;
};
/// A leaving ps may end: a checkpoint or another ps has what it had. It exits 85.
struct ReleasePsAction {
  std::uint32_t ps = 0;
  Incarnation incarnation = 0;
};
/// The run cannot go on (DATA_LOSS: checkpoints exist, none is readable).
struct FailAction {
  Status status;
};
/// The run goes on from its newest mark, by the next chief; this one ends.
struct ReturnToMarkAction {
  std::string why;
};
using ProtocolAction =
    std::variant<AssignShardsAction, ReleasePsAction, FailAction, ReturnToMarkAction>;

/// What is published to workers and ps. A new number for every change.
struct MembershipView {
  struct Ps {
    std::uint32_t index = 0;
    Incarnation incarnation = 0;
    std::string address;
  };
  struct Shard {
    /// Meaningless unless active.
    std::uint32_t ps = 0;
    ShardTerm term;
    bool active = false;
  };
  std::uint64_t number = 1;
  std::uint64_t chief_term = 0;
  /// The number as peers see it: those of a later chief are higher.
  std::uint64_t published_number() const { return (chief_term << 32) + number; }
  /// By index, only those that are registered now.
  std::vector<Ps> ps;
  /// One per shard.
  std::vector<Shard> shards;

  /// The shard has an owner, in that very term.
  bool IsActive(const ShardInTerm& copy) const {
    return copy.shard < shards.size() && shards[copy.shard].active &&
           shards[copy.shard].term == copy.term;
  }
};

/// A checkpoint shard of a checkpoint as the ps has written it.
struct WrittenCheckpointShard {
  ShardId shard = 0;
  ShardTerm term;
  bool incremental = false;
  std::uint64_t bytes = 0;
  /// What is in it, as the shard says; only of a final checkpoint.
  std::optional<AppliedSet> applied = std::nullopt;
  /// Records of the work ids in it.
  std::int64_t examples = 0;
  /// As ShardCopy::left_out.
  std::vector<WorkId> left_out = {};
};

/// INVALID_ARGUMENT when the job has fewer epochs than the run has begun; `committed` says what it
/// has done, `field` how the job calls the number, which may be raised at any time. Empty: the job
/// says no number, its work comes in chunks.
Status CheckEpochs(const std::string& field, std::uint32_t epochs, std::uint32_t begun,
                   const std::string& committed);

/// What became of a report.
struct ReportResult {
  enum class Outcome : std::uint8_t {
    /// Every shard has the work id now: it counts from this report on.
    kCommitted,
    /// It was committed before.
    kDuplicate,
    /// Some shard lacks it; it will be granted again, naming those shards.
    kOpen,
    /// Not a work id of this run, or a membership that this chief has not published.
    kUnknown,
  };
  Outcome outcome = Outcome::kUnknown;
  /// Reported under a term that is not the shard's current active one: push again.
  std::vector<ShardId> stale;
  /// They were early, and by the reports they lack nothing: they are asked what they have.
  std::vector<ShardId> asked;
};

/// What has to be done for a work id. Kind 0 is the batch of the input that the work id names,
/// without payload; other kinds are a program's, and their payload is passed on untouched.
struct WorkContent {
  std::uint32_t kind = 0;
  std::string payload;
  /// How long one attempt may run (Grant.deadline_ms); zero: no end.
  std::chrono::milliseconds deadline = std::chrono::milliseconds(0);
  friend bool operator==(const WorkContent&, const WorkContent&) = default;
};

/// What a worker is granted: a work id, who still lacks it, and what it waits for.
struct GrantedWorkId {
  WorkId work_id;
  /// Shards that lack the work id, ascending; empty: all of them.
  std::vector<ShardId> shards;
  WorkContent content = {};
  /// A shard that lacks a work id below this answers early, to a pull and to a push: it neither
  /// serves nor takes this one before.
  WorkId after = {};
};

/// Which ps has to write which shards for one checkpoint (rule 5).
struct CheckpointPlan {
  struct Ps {
    std::uint32_t index = 0;
    Incarnation incarnation = 0;
    std::vector<ShardInTerm> shards;
  };
  /// Only ps that own a shard.
  std::vector<Ps> ps;
  /// WriteCheckpointShardsRequest.close_epochs_below.
  std::uint32_t close_epochs_below = 0;
  /// The checkpoint in place that the checkpoint shards may build on
  /// (WriteCheckpointShardsRequest.base); empty: none.
  std::string base;
  /// Every batch of every epoch is committed, by the workers' reports: the checkpoint will be the
  /// final one if the shards' own applied sets say so too.
  bool final = false;
  /// Each shard has to prove, as for a final one, that it has every work id that there is.
  bool whole = false;
};

/// How far the run has come. Examples are records, counted once per epoch.
struct CommitProgress {
  std::int64_t examples_expected = 0;
  std::int64_t examples_committed = 0;
  std::int64_t examples_in_flight = 0;
  std::uint64_t work_ids_expected = 0;
  std::uint64_t work_ids_committed = 0;
  std::uint64_t work_ids_in_flight = 0;
  /// Work ids that were committed and taken back because a shard was restored without them.
  std::uint64_t work_ids_reopened = 0;
  /// What is kept of a program's work (WorkSource::Forget).
  std::size_t log_bytes = 0;
};

}  // namespace pstrain
