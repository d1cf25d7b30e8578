// The part of ShardEngine that copies shards: for checkpoints, for moves, and to say what is here.
#include <optional>
#include <string>
#include <utility>

#include "runtime/shard/catalog.h"
#include "runtime/shard/owner_thread.h"
#include "runtime/shard/shard.h"
#include "runtime/shard/shard_engine.h"

namespace pstrain {

Status ShardEngine::NotInTerm(const ShardInTerm& shard) {
  return AbortedError("shard " + std::to_string(shard.shard) + " is not active in shard term " +
                      TermText(shard.term));
}

void ShardEngine::Copies(CopiesDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(std::vector<ShardCopy>());
  auto copies = std::make_shared<std::vector<std::optional<ShardCopy>>>(catalog->shards());
  const auto work = [this, copies](std::uint32_t thread) {
    const auto step = static_cast<std::uint32_t>(threads_.size());
    for (ShardId shard = thread; shard < copies->size(); shard += step) {
      if (shards_[shard] != nullptr) (*copies)[shard] = shards_[shard]->Describe();
    }
  };
  Dispatch(AllThreads(), work, [copies, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    std::vector<ShardCopy> found;
    for (auto& copy : *copies) {
      if (copy) found.push_back(std::move(*copy));
    }
    done(std::move(found));
  });
}

// The source's part of a move. Freezing and copying are one step of the owner thread: a push
// between the two would be answered as applied and be in no copy that anybody continues with. That
// the answer may be lost is why a frozen shard can be frozen again, with the same result.
void ShardEngine::Freeze(ShardInTerm wanted, StateDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  if (wanted.shard >= catalog->shards()) return done(NotInTerm(wanted));
  auto shared = std::make_shared<StateDone>(std::move(done));
  const auto freeze = [this, wanted, shared] {
    Shard* shard = shards_[wanted.shard].get();
    if (shard == nullptr || shard->term() != wanted.term) return (*shared)(NotInTerm(wanted));
    if (!shard->health().ok()) return (*shared)(shard->health());
    shard->Extend(this->catalog());
    shard->Freeze();
    (*shared)(shard->Copy());
  };
  if (!threads_[ThreadOf(wanted.shard)]->Post(freeze)) (*shared)(Ending());
}

/// A snapshot under way: its order, and how many shards have not answered.
struct ShardEngine::SnapshotCall {
  SnapshotCall(CopyOrder what, SnapshotSink to, StatusDone finish)
      : order(std::move(what)),
        sink(std::move(to)),
        done(std::move(finish)),
        remaining(order.shards.size() + 1) {}

  /// A shard is copied or cannot be; the last one finishes the call with the first error.
  void Arrive(Status outcome) {
    {
      MutexLock lock(mutex);
      if (status.ok()) status = std::move(outcome);
    }
    if (remaining.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    Status first;
    {
      MutexLock lock(mutex);
      first = status;
    }
    done(std::move(first));
  }

  const CopyOrder order;
  const SnapshotSink sink;
  const StatusDone done;
  /// One more than there are shards, for the call that posts them.
  std::atomic<std::size_t> remaining;
  Mutex mutex;
  Status status PSTRAIN_GUARDED_BY(mutex);
};

// Epochs are closed before the copy, so that the applied set in the file stays as small as the one
// in memory. That is safe because the chief names only epochs that are whole on every shard in a
// checkpoint in place: no restore can take a work id of them back.
void ShardEngine::CopyOne(const ShardInTerm& wanted, SnapshotCall& call) {
  Shard* shard = Find(wanted.shard, wanted.term);
  if (shard == nullptr) return call.Arrive(NotInTerm(wanted));
  if (!shard->health().ok()) return call.Arrive(shard->health());
  const CopyOrder& order = call.order;
  // A checkpoint holds all that its generation declares.
  shard->Extend(this->catalog());
  shard->CloseEpochsBelow(order.close_epochs_below);
  call.sink(order.checkpoint.empty() ? shard->Copy()
                                     : shard->CopyForCheckpoint(order.checkpoint, order.base));
  call.Arrive(OkStatus());
}

// Rule 5 of the commit protocol. Each shard is copied in one step of its owner thread, so values
// and applied set belong together; the shards are copied at different moments, and need not be of
// one, because each says for itself which work ids it has.
void ShardEngine::Snapshot(CopyOrder order, SnapshotSink sink, StatusDone done) {
  const auto catalog = this->catalog();
  if (catalog == nullptr) return done(NotConfigured());
  for (const ShardInTerm& shard : order.shards) {
    if (shard.shard >= catalog->shards()) return done(NoSuchShard(shard.shard, *catalog));
  }
  auto call = std::make_shared<SnapshotCall>(std::move(order), std::move(sink), std::move(done));
  // A task for each shard, so that pushes pass between two copies.
  for (const ShardInTerm& wanted : call->order.shards) {
    const bool posted =
        threads_[ThreadOf(wanted.shard)]->Post([this, call, &wanted] { CopyOne(wanted, *call); });
    if (!posted) call->Arrive(Ending());
  }
  call->Arrive(OkStatus());
}

}  // namespace pstrain
